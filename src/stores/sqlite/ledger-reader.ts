/** Reads the injection ledgers of sessions. */
import type { SpaceRef } from "../../types.js";
import type { Ledger } from "../ledger.js";
import type { Registry } from "./registry.js";
import type { Statements } from "./statements.js";

export class LedgerReader {
  constructor(_statements: Statements, _registry: Registry) {}

  ledger(_space: SpaceRef, _session: string): Ledger {
    throw new Error("not built");
  }
}
