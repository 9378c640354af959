/** Promotions in memory. */
import type { Page } from "../../types.js";
import type { PromoteDone, PromoteWrite, Promotion, PromotionsRequest } from "../promotions.js";
import type { Attempt } from "./attempt.js";
import type { State } from "./state.js";

export function promote(_write: PromoteWrite, _state: State, _attempt: Attempt): PromoteDone {
  throw new Error("not built");
}

export function promotions(_request: PromotionsRequest, _state: State): Page<Promotion> {
  throw new Error("not built");
}
