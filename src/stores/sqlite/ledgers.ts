/** The injection ledgers of sessions inside a write transaction. */
import type { LedgerDone, LedgerWrite } from "../ledger.js";
import type { Database } from "./driver.js";
import type { Registry } from "./registry.js";
import type { Transaction } from "./transaction.js";

export class Ledgers {
  constructor(_database: Database, _registry: Registry) {}

  write(_write: LedgerWrite, _transaction: Transaction): LedgerDone {
    throw new Error("not built");
  }

  /** Removes the ledger of a session that is forgotten. */
  forgetSession(_session: number): void {
    throw new Error("not built");
  }

  /** Removes the ledgers of all sessions of a space that is forgotten. Requires that the sessions are still there. */
  forgetSpace(_space: number): void {
    throw new Error("not built");
  }
}
