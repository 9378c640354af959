/**
 * The injection ledgers of sessions inside a write transaction.
 *
 * No search returns a ledger, so a write does not change the version of its space. A write that changes nothing is
 * skipped.
 */
import { LEDGER_MAX, type LedgerChange, type LedgerDone, type LedgerWrite, ledgerState } from "../../ledger.js";
import type { Database, Statement } from "../file/driver.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";

export class Ledgers {
  readonly #registry: Registry;
  readonly #residue: Residue;
  readonly #standing: Statement;
  readonly #entry: Statement;
  readonly #empty: Statement;
  readonly #count: Statement;
  readonly #drop: Statement;
  readonly #put: Statement;
  readonly #last: Statement;
  readonly #trim: Statement;
  readonly #zero: Statement;
  readonly #refs: Statement;
  readonly #sessions: Statement;

  constructor(database: Database, registry: Registry, residue: Residue) {
    this.#registry = registry;
    this.#residue = residue;
    this.#standing = database.prepare("SELECT ref, version FROM ledger WHERE session = ? ORDER BY place");
    this.#entry = database.prepare("SELECT ref, version, tokens FROM ledger WHERE session = ? AND ref = ?");
    this.#empty = database.prepare("DELETE FROM ledger WHERE session = ?");
    this.#count = database.prepare("UPDATE session SET saved = saved + ?, resets = resets + ? WHERE key = ?");
    this.#drop = database.prepare("DELETE FROM ledger WHERE session = ? AND ref = ?");
    this.#last = database.prepare("SELECT max(place) AS place FROM ledger WHERE session = ?");
    // An existing entry keeps its place.
    this.#put = database.prepare(
      `INSERT INTO ledger (session, ref, version, tokens, place) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET version = excluded.version, tokens = excluded.tokens
         WHERE version <> excluded.version OR tokens <> excluded.tokens`,
    );
    this.#trim = database.prepare(
      `DELETE FROM ledger WHERE session = ?1 AND place <=
         (SELECT place FROM ledger WHERE session = ?1 ORDER BY place DESC LIMIT 1 OFFSET ${LEDGER_MAX})`,
    );
    this.#zero = database.prepare("UPDATE session SET saved = 0, resets = 0 WHERE key = ?");
    this.#refs = database.prepare("SELECT ref FROM ledger WHERE session = ?");
    this.#sessions = database.prepare("SELECT key FROM session WHERE space = ?");
  }

  write(write: LedgerWrite, transaction: Transaction): LedgerDone {
    if (write.expected !== undefined && this.#stateOf(write) !== write.expected) return { op: "ledger", isStale: true };
    const session = this.#sessionOf(write, transaction);
    const before = this.#before(write, session);
    let changes = 0;
    if (write.reset) this.#empty.run(session);
    if (write.reset || write.saved !== 0) {
      changes += Number(this.#count.run(write.saved, write.reset ? 1 : 0, session).changes);
    }
    for (const ref of write.drop) changes += Number(this.#drop.run(session, ref).changes);
    changes += this.#putAll(write, session);
    if (changes > 0) transaction.kept();
    return { op: "ledger", before };
  }

  #before({ drop, put }: LedgerWrite, session: number): readonly LedgerChange[] {
    const refs = [...new Set([...drop, ...put.map(({ ref }) => ref)])];
    return refs.map((ref) => {
      const entry = this.#entry.get(session, ref);
      return entry ? { ref, version: Number(entry["version"]), tokens: Number(entry["tokens"]) } : { ref };
    });
  }

  #stateOf({ space: ref, session }: LedgerWrite): string {
    const space = this.#registry.findSpace(ref);
    const found = space && this.#registry.findSession(space.key, session);
    const rows = found ? this.#standing.all(found.key) : [];
    return ledgerState(rows.map((row) => ({ ref: String(row["ref"]), version: Number(row["version"]) })));
  }

  #sessionOf({ space: ref, session }: LedgerWrite, transaction: Transaction): number {
    const space = this.#registry.ensureSpace(ref, transaction);
    const found = this.#registry.findSession(space, session);
    return (found ?? this.#registry.createSession(space, session, null, transaction)).key;
  }

  /** Returns how many entries are new or changed. */
  #putAll({ put }: LedgerWrite, session: number): number {
    if (put.length === 0) return 0;
    let place = Number(this.#last.get(session)?.["place"] ?? 0);
    let changes = 0;
    for (const { ref, version, tokens } of put) {
      changes += Number(this.#put.run(session, ref, version, tokens, ++place).changes);
    }
    if (changes > 0) this.#trim.run(session);
    return changes;
  }

  /** Removes the ledger of a forgotten session, including its sums, because the session's entry may stay. */
  forgetSession(session: number): void {
    for (const entry of this.#refs.all(session)) this.#residue.remember(entry);
    this.#empty.run(session);
    this.#zero.run(session);
  }

  /** Removes the ledgers of all sessions of a forgotten space. Requires that the sessions still exist. */
  forgetSpace(space: number): void {
    for (const { key } of this.#sessions.all(space)) this.forgetSession(Number(key));
  }
}
