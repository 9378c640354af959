/** The injection ledgers of sessions in memory. */
import type { SpaceRef } from "../../types.js";
import type { Ledger, LedgerDone, LedgerWrite } from "../ledger.js";
import type { Attempt } from "./attempt.js";
import type { State } from "./state.js";

export function writeLedger(_write: LedgerWrite, _state: State, _attempt: Attempt): LedgerDone {
  throw new Error("not built");
}

export function ledger(_space: SpaceRef, _session: string, _state: State): Ledger {
  throw new Error("not built");
}
