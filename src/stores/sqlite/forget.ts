/**
 * Forgetting inside a write transaction, a slice at a time, so that adds get their turn while a large user goes.
 *
 * A small forget takes its words out of the index at once. A large one leaves marks and merges the index afterwards,
 * which costs less than an item-by-item removal from about a hundred items on; `head.purge` remembers that it is due.
 *
 * An item takes with it the facts that rest on it alone, in the same transaction (cascade.ts). Facts that have no item, and
 * those that rest on a session as a whole, have slices of their own, after the items.
 *
 * The newest items go first: what they have borrowed from older ones is gone when those go, and nobody has to be made
 * pending who is forgotten next.
 */
import type { SpaceRef } from "../../types.js";
import { Gone } from "../gone.js";
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../store.js";
import type { Blocks } from "./blocks.js";
import type { How } from "./cascade.js";
import type { Database, Row, Statement } from "./driver.js";
import type { SpaceRow } from "./filter.js";
import type { Items } from "./items.js";
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
  readonly #factsOfSpace: Statement;
  readonly #factsOfSession: Statement;
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
    this.#bySession = database.prepare(
      `SELECT id, space FROM item WHERE session = ? ORDER BY seq DESC LIMIT ${SLICE_ITEMS}`,
    );
    this.#bySpace = database.prepare(
      `SELECT id, space FROM item WHERE space = ? ORDER BY key DESC LIMIT ${SLICE_ITEMS}`,
    );
    this.#factsOfSpace = database.prepare(`SELECT id, space FROM fact WHERE space = ? LIMIT ${SLICE_ITEMS}`);
    this.#factsOfSession = database.prepare(`SELECT fact FROM fact_source WHERE session = ? LIMIT ${SLICE_ITEMS}`);
    this.#byId = database.prepare(
      `SELECT ?1 AS id, ?2 AS space WHERE EXISTS (SELECT 1 FROM item WHERE id = ?1 AND space = ?2)
         OR EXISTS (SELECT 1 FROM fact WHERE id = ?1 AND space = ?2)`,
    );
    this.#expired = database.prepare(
      `SELECT * FROM (SELECT id, space FROM item WHERE expires_at <= ?1 LIMIT ${SLICE_ITEMS})
       UNION SELECT * FROM (SELECT id, space FROM fact WHERE expires_at <= ?1 LIMIT ${SLICE_ITEMS})`,
    );
    this.#oldest = database.prepare(
      `SELECT id, space FROM item
         WHERE key IN (SELECT key FROM item WHERE space = ?1 ORDER BY key LIMIT ${SLICE_ITEMS}) AND recorded_at <= ?2
       UNION SELECT * FROM
         (SELECT id, space FROM fact WHERE space = ?1 AND state <> 0 AND kept_from <= ?2 LIMIT ${SLICE_ITEMS})`,
    );
    this.#retaining = database.prepare("SELECT key, retention_ms FROM space WHERE retention_ms IS NOT NULL");
  }

  forget({ target }: ForgetWrite, transaction: Transaction): ForgetDone {
    if ("expired" in target) return this.#forgetThings(this.#expiredThings(transaction.now), transaction);
    const space = this.#registry.findSpace(target.space);
    if (!space) return NOTHING_FORGOTTEN;
    if ("ids" in target) {
      const things = [...new Set(target.ids)].flatMap(
        (id): Row | readonly Row[] => this.#byId.get(id, space.key) ?? [],
      );
      return this.#forgetThings(things, transaction);
    }
    if ("session" in target) {
      const session = this.#registry.findSession(space.key, target.session);
      return session ? this.#forgetSession(space.key, session.key, target, transaction) : NOTHING_FORGOTTEN;
    }
    if ("block" in target) {
      const isForgotten = this.#carried.blocks.forget(space.key, target.block, transaction);
      return { ...NOTHING_FORGOTTEN, blocks: isForgotten ? 1 : 0 };
    }
    return this.#forgetSpace(space, target, transaction);
  }

  #forgetThings(things: readonly Row[], transaction: Transaction): ForgetDone {
    const gone = new Gone();
    return doneOf(gone, this.#removeSlice(things, false, transaction, gone));
  }

  #forgetSession(
    space: number,
    session: number,
    { session: name, entry }: { readonly session: string; readonly entry: boolean },
    transaction: Transaction,
  ): ForgetDone {
    this.#forgetRetries(space, session);
    const gone = new Gone();
    const things = this.#bySession.all(session);
    const remaining =
      this.#removeSlice(things, false, transaction, gone) || this.#leaveSession(session, transaction, gone);
    const done = doneOf(gone, remaining);
    if (remaining) return done;
    this.#carried.ledgers.forgetSession(session);
    if (!entry) return done;
    this.#dropSession(space, session, name, transaction);
    return { ...done, sessions: 1 };
  }

  #forgetSpace(
    { key, items }: SpaceRow,
    { space: ref, entry }: { readonly space: SpaceRef; readonly entry: boolean },
    transaction: Transaction,
  ): ForgetDone {
    this.#forgetRetries(key);
    const gone = new Gone();
    const remaining =
      this.#removeSlice(this.#bySpace.all(key), items > LARGE, transaction, gone) ||
      this.#removeSlice(this.#factsOfSpace.all(key), items > LARGE, transaction, gone);
    // No fact is left in the end, whatever one slice says.
    const done = { ...doneOf(gone, remaining), factsLeft: [] };
    if (remaining) return done;
    return entry ? { ...done, ...this.#dropSpace(key, ref, transaction) } : done;
  }

  #expiredThings(now: number): Row[] {
    const rows = this.#expired.all(now);
    for (const space of this.#retaining.all()) {
      rows.push(...this.#oldest.all(Number(space["key"]), now - Number(space["retention_ms"])));
    }
    return [...new Map(rows.map((row) => [`${row["space"]} ${row["id"]}`, row])).values()];
  }

  /** Items and facts by id and space. True if there is more to do. */
  #removeSlice(things: readonly Row[], large: boolean, transaction: Transaction, gone: Gone): boolean {
    const how = large || things.length > LARGE ? "mark" : "remove";
    return forgetSome(things, how, ({ id, space }) =>
      this.#items.cascade.forget(String(id), Number(space), transaction, how, gone),
    );
  }

  /** Facts that rest on the session as a whole do so no more. True if there is more to do. */
  #leaveSession(session: number, transaction: Transaction, gone: Gone): boolean {
    const facts = this.#factsOfSession.all(session);
    const how = facts.length > LARGE ? "mark" : "remove";
    return forgetSome(facts, how, ({ fact }) =>
      this.#items.cascade.loseSession(Number(fact), session, transaction, how, gone),
    );
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

  #dropSpace(space: number, ref: SpaceRef, transaction: Transaction): Partial<ForgetDone> {
    const blocks = this.#carried.blocks.forgetSpace(space, transaction);
    this.#carried.promotions.forgetSpace(space);
    this.#carried.ledgers.forgetSpace(space);
    this.#database.prepare("DELETE FROM receipt WHERE space = ?").run(space);
    this.#leases.endOfSpace(space);
    const { changes } = this.#database.prepare("DELETE FROM session WHERE space = ?").run(space);
    if ("agent" in ref) this.#registry.touchWhereNamed(space, transaction);
    this.#database.prepare("DELETE FROM presence WHERE space = ?1 OR agent = ?1").run(space);
    this.#database.prepare("DELETE FROM space WHERE key = ?").run(space);
    this.#residue.remember(ref as unknown as Row);
    transaction.renamed();
    transaction.forgot(1);
    return { blocks, sessions: Number(changes), entries: 1 };
  }
}

/** Forgets as many as a slice may; words that leave the index at once take their time. True if there are more. */
function forgetSome(things: readonly Row[], how: How, forgetOne: (thing: Row) => void): boolean {
  const until = performance.now() + SLICE_MS;
  let forgotten = 0;
  for (const thing of how === "mark" ? things : things.slice(0, SLICE_AT_ONCE)) {
    if (forgotten > 0 && performance.now() > until) break;
    forgetOne(thing);
    forgotten++;
  }
  return forgotten < things.length || things.length >= SLICE_ITEMS;
}

function doneOf({ items, facts, factsLeft, copiesLeft }: Gone, remaining: boolean): ForgetDone {
  return { ...NOTHING_FORGOTTEN, items, facts, factsLeft, copiesLeft, remaining };
}
