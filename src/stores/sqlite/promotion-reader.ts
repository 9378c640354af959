/** Reads the log of promotions. */
import type { Page } from "../../types.js";
import type { Promotion, PromotionsRequest } from "../promotions.js";
import type { Registry } from "./registry.js";
import type { Statements } from "./statements.js";

export class PromotionReader {
  constructor(_statements: Statements, _registry: Registry) {}

  promotions(_request: PromotionsRequest): Page<Promotion> {
    throw new Error("not built");
  }
}
