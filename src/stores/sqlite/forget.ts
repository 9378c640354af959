/**
 * Forgetting inside a write transaction, a slice at a time, so that adds get their turn while a large user goes.
 *
 * A small forget takes its words out of the index at once. A large one leaves marks and merges the index afterwards,
 * which costs less than an item-by-item removal from about a hundred items on; `head.purge` remembers that it is due.
 *
 * The newest items go first: what they have borrowed from older ones is gone when those go, and nobody has to be made
 * pending who is forgotten next.
 */
import type { SpaceRef } from "../../types.js";
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../store.js";
import type { Blocks } from "./blocks.js";
import type { Database, Row, Statement } from "./driver.js";
import type { Facts } from "./facts.js";
import { ITEM_ROW, type ItemRow, type Items } from "./items.js";
import type { Leases } from "./leases.js";
import type { Ledgers } from "./ledgers.js";
import type { Promotions } from "./promotions.js";
import type { Registry } from "./registry.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";

const SLICE_MS = 5;
const SLICE_ITEMS = 256;
/** So many items, when their words leave the index at once. */
const SLICE_AT_ONCE = 8;
/** From this many items on, words are removed by marks and a merge. */
const LARGE = 64;

/** What agents edit and carry, and what goes with what is forgotten. */
export interface Carried {
  readonly blocks: Blocks;
  readonly facts: Facts;
  readonly ledgers: Ledgers;
  readonly promotions: Promotions;
}

export class Forgetter {
  readonly #carried: Carried;
  readonly #items: Items;
  readonly #leases: Leases;
  readonly #registry: Registry;
  readonly #residue: Residue;
  readonly #byId: Statement;
  readonly #bySession: Statement;
  readonly #bySpace: Statement;
  readonly #expired: Statement;
  readonly #oldest: Statement;
  readonly #retaining: Statement;
  readonly #database: Database;

  constructor(
    database: Database,
    registry: Registry,
    items: Items,
    leases: Leases,
    residue: Residue,
    carried: Carried,
  ) {
    this.#carried = carried;
    this.#database = database;
    this.#registry = registry;
    this.#items = items;
    this.#leases = leases;
    this.#residue = residue;
    this.#byId = database.prepare(`${ITEM_ROW} WHERE id = ? AND space = ?`);
    this.#bySession = database.prepare(`${ITEM_ROW} WHERE session = ? ORDER BY seq DESC LIMIT ${SLICE_ITEMS}`);
    this.#bySpace = database.prepare(`${ITEM_ROW} WHERE space = ? ORDER BY key DESC LIMIT ${SLICE_ITEMS}`);
    this.#expired = database.prepare(`${ITEM_ROW} WHERE expires_at <= ? LIMIT ${SLICE_ITEMS}`);
    this.#oldest = database.prepare(
      `${ITEM_ROW} WHERE key IN (SELECT key FROM item WHERE space = ? ORDER BY key LIMIT ${SLICE_ITEMS}) AND recorded_at <= ?`,
    );
    this.#retaining = database.prepare("SELECT key, retention_ms FROM space WHERE retention_ms IS NOT NULL");
  }

  forget({ target }: ForgetWrite, transaction: Transaction): ForgetDone {
    if ("expired" in target) return this.#removeSlice(this.#expiredRows(transaction.now), false, transaction);
    const space = this.#registry.findSpace(target.space);
    if (!space) return NOTHING_FORGOTTEN;
    if ("ids" in target) {
      const rows = [...new Set(target.ids)].flatMap((id): Row | readonly Row[] => this.#byId.get(id, space.key) ?? []);
      return this.#removeSlice(rows, rows.length > LARGE, transaction);
    }
    if ("session" in target) {
      const session = this.#registry.findSession(space.key, target.session);
      if (!session) return NOTHING_FORGOTTEN;
      this.#forgetRetries(space.key, session.key);
      const rows = this.#bySession.all(session.key);
      const slice = this.#removeSlice(rows, rows.length > LARGE, transaction);
      if (slice.remaining || !target.entry) return slice;
      this.#dropSession(space.key, session.key, target.session, transaction);
      return { ...slice, sessions: 1 };
    }
    if ("block" in target) {
      const isForgotten = this.#carried.blocks.forget(space.key, target.block, transaction);
      return { ...NOTHING_FORGOTTEN, blocks: isForgotten ? 1 : 0 };
    }
    this.#forgetRetries(space.key);
    const rows = this.#bySpace.all(space.key);
    const slice = this.#removeSlice(rows, space.items > LARGE, transaction);
    if (slice.remaining || !target.entry) return slice;
    return { ...slice, ...this.#dropSpace(space.key, target.space, transaction) };
  }

  #expiredRows(now: number): Row[] {
    const rows = this.#expired.all(now);
    for (const space of this.#retaining.all()) {
      rows.push(...this.#oldest.all(Number(space["key"]), now - Number(space["retention_ms"])));
    }
    return [...new Map(rows.map((row) => [row["key"], row])).values()];
  }

  #removeSlice(rows: readonly Row[], large: boolean, transaction: Transaction): ForgetDone {
    if (rows.length === 0) return NOTHING_FORGOTTEN;
    const marks = large || rows.length > LARGE;
    const slice = marks ? rows : rows.slice(0, SLICE_AT_ONCE);
    const until = performance.now() + SLICE_MS;
    let removed = 0;
    for (const row of slice) {
      if (removed > 0 && performance.now() > until) break;
      this.#items.remove(row as ItemRow, transaction, marks ? "mark" : "remove");
      removed++;
    }
    transaction.forgot(marks ? 2 : 1);
    return {
      ...NOTHING_FORGOTTEN,
      items: removed,
      remaining: removed < rows.length || rows.length >= SLICE_ITEMS,
    };
  }

  /** A retry of an add that is forgotten as a whole gives its first answer, whatever its payload. */
  #forgetRetries(space: number, session?: number): void {
    const update = "UPDATE receipt SET hash = '' WHERE hash <> '' AND space = ?";
    if (session === undefined) this.#database.prepare(update).run(space);
    else this.#database.prepare(`${update} AND session = ?`).run(space, session);
  }

  #dropSession(space: number, session: number, name: string, transaction: Transaction): void {
    this.#database.prepare("DELETE FROM receipt WHERE space = ? AND session = ?").run(space, session);
    this.#database.prepare("DELETE FROM session WHERE key = ?").run(session);
    this.#leases.end(session, transaction);
    this.#residue.remember({ name });
    transaction.touch(space);
    transaction.forgot(1);
  }

  #dropSpace(space: number, ref: SpaceRef, transaction: Transaction): { sessions: number; entries: number } {
    this.#database.prepare("DELETE FROM receipt WHERE space = ?").run(space);
    this.#leases.endOfSpace(space);
    const { changes } = this.#database.prepare("DELETE FROM session WHERE space = ?").run(space);
    if ("agent" in ref) this.#registry.touchWhereNamed(space, transaction);
    this.#database.prepare("DELETE FROM presence WHERE space = ?1 OR agent = ?1").run(space);
    this.#database.prepare("DELETE FROM space WHERE key = ?").run(space);
    this.#residue.remember(ref as unknown as Row);
    transaction.renamed();
    transaction.forgot(1);
    return { sessions: Number(changes), entries: 1 };
  }
}
