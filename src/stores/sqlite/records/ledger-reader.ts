/** Reads the injection ledgers of sessions. */
import type { SpaceRef } from "../../../types.js";
import type { Ledger } from "../../ledger.js";
import type { Statements } from "../file/connection.js";
import type { Registry } from "../rows/registry.js";

/** One statement, so that entries and sums are consistent. A session without entries yields one row of nulls. */
export const LEDGER_SELECT = `
  SELECT session.saved, session.resets, ledger.ref, ledger.version, ledger.tokens
  FROM session LEFT JOIN ledger ON ledger.session = session.key
  WHERE session.space = ? AND session.name = ? ORDER BY ledger.place`;

export class LedgerReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  ledger(ref: SpaceRef, session: string): Ledger {
    const space = this.#registry.findSpace(ref);
    const rows = space ? this.#statements.get(LEDGER_SELECT).all(space.key, session) : [];
    const entries = rows.flatMap(({ ref, version, tokens }) =>
      typeof ref === "string" ? { ref, version: Number(version), tokens: Number(tokens) } : [],
    );
    return { entries, saved: Number(rows[0]?.["saved"] ?? 0), resets: Number(rows[0]?.["resets"] ?? 0) };
  }
}
