/**
 * Forgets data inside a write transaction, in slices, so that adds can run while a large user is being forgotten.
 *
 * A small forget removes its words from the index immediately. A large one, or one of an item with many words, leaves
 * marks and merges the index afterwards. From about a hundred items on this costs less than removing word by word.
 * `head.purge` records that the merge is due.
 *
 * Forgetting an item also forgets the facts whose only source it is, in the same transaction (cascade.ts). Facts
 * without an item, and facts whose source is a whole session, are forgotten in slices of their own, after the items.
 *
 * The newest items are forgotten first. What they borrowed from older ones is gone by the time those follow, so no item
 * is made pending that is about to be forgotten.
 */
import type { SpaceRef } from "../../types.js";
import { Gone } from "../gone.js";
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../store.js";
import type { Leases } from "./embedding/leases.js";
import type { Database, Row, Statement } from "./file/driver.js";
import type { Items } from "./items/items.js";
import type { Actors } from "./records/actors.js";
import type { Blocks } from "./records/blocks.js";
import type { Keys } from "./records/keys.js";
import type { Ledgers } from "./records/ledgers.js";
import type { Points } from "./records/points.js";
import type { Promotions } from "./records/promotions.js";
import type { SpaceRow } from "./rows/codec.js";
import type { Receipts } from "./rows/receipts.js";
import type { Registry } from "./rows/registry.js";
import type { Residue } from "./rows/residue.js";
import type { Transaction } from "./rows/transaction.js";

const SLICE_MS = 5;
export const SLICE_ITEMS = 256;
/** A slice ends once this many tokens are to be removed from the index immediately: those of about eight messages. */
const SLICE_TOKENS = 250;
/** For more items than this, words are removed by marks and a merge. */
const LARGE = 64;

/** The components that hold other data to be forgotten with a session or space. */
export interface Records {
  readonly blocks: Blocks;
  readonly points: Points;
  readonly ledgers: Ledgers;
  readonly promotions: Promotions;
  readonly receipts: Receipts;
  readonly keys: Keys;
  readonly actors: Actors;
}

export class Forgetter {
  readonly #records: Records;
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
    records: Records,
  ) {
    this.#records = records;
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
    if ("expired" in target) return this.#forgetExpired(transaction);
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
    if ("points" in target) {
      const { collection, ids } = target.points;
      const gone = new Gone();
      return doneOf(
        gone,
        this.#forgetPoints(this.#records.points.named(space.key, collection, ids), transaction, gone),
      );
    }
    if ("block" in target) {
      const isForgotten = this.#records.blocks.forget(space.key, target.block, transaction);
      return { ...NOTHING_FORGOTTEN, blocks: isForgotten ? 1 : 0 };
    }
    return this.#forgetSpace(space, target, transaction);
  }

  #forgetThings(things: readonly Row[], transaction: Transaction): ForgetDone {
    const gone = new Gone();
    return doneOf(gone, this.#removeSlice(things, false, transaction, gone));
  }

  #forgetExpired(transaction: Transaction): ForgetDone {
    const { now } = transaction;
    const gone = new Gone();
    const remaining =
      this.#removeSlice(this.#expiredThings(now), false, transaction, gone) ||
      this.#forgetPoints(this.#records.points.expired(now), transaction, gone);
    return doneOf(gone, remaining);
  }

  #forgetSession(
    space: number,
    session: number,
    { entry }: { readonly entry: boolean },
    transaction: Transaction,
  ): ForgetDone {
    this.#records.receipts.forgetHashes(space, session);
    const gone = new Gone();
    const things = this.#bySession.all(session);
    const remaining =
      this.#removeSlice(things, false, transaction, gone) ||
      this.#leaveSession(session, transaction, gone) ||
      this.#forgetPoints(this.#records.points.ofSession(session), transaction, gone);
    const done = doneOf(gone, remaining);
    if (remaining) return done;
    this.#records.ledgers.forgetSession(session);
    if (!entry) return done;
    this.#dropSession(space, session, transaction);
    return { ...done, sessions: 1 };
  }

  #forgetSpace(
    { key, items }: SpaceRow,
    { space: ref, entry }: { readonly space: SpaceRef; readonly entry: boolean },
    transaction: Transaction,
  ): ForgetDone {
    this.#records.receipts.forgetHashes(key);
    const gone = new Gone();
    const remaining =
      this.#removeSlice(this.#bySpace.all(key), items > LARGE, transaction, gone) ||
      this.#removeSlice(this.#factsOfSpace.all(key), items > LARGE, transaction, gone) ||
      this.#forgetPoints(this.#records.points.ofSpace(key), transaction, gone);
    // No fact remains in the end, whatever one slice reports.
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

  /** Forgets items and facts by id and space. Returns true if there is more to do. */
  #removeSlice(things: readonly Row[], large: boolean, transaction: Transaction, gone: Gone): boolean {
    const how = large || things.length > LARGE ? "mark" : "remove";
    return this.#forgetSome(things, ({ id, space }) =>
      this.#items.cascade.forget(String(id), Number(space), transaction, how, gone),
    );
  }

  /** Removes the session from the sources of facts. Returns true if there is more to do. */
  #leaveSession(session: number, transaction: Transaction, gone: Gone): boolean {
    const facts = this.#factsOfSession.all(session);
    const how = facts.length > LARGE ? "mark" : "remove";
    return this.#forgetSome(facts, ({ fact }) =>
      this.#items.cascade.loseSession(Number(fact), session, transaction, how, gone),
    );
  }

  /** Returns true if there is more to do. */
  #forgetPoints(points: readonly Row[], transaction: Transaction, gone: Gone): boolean {
    return this.#forgetSome(points, ({ key }) => this.#records.points.forget(Number(key), transaction, gone));
  }

  /** Forgets as many as fit into a slice, at least one. Returns true if there are more. */
  #forgetSome(things: readonly Row[], forgetOne: (thing: Row) => void): boolean {
    const until = performance.now() + SLICE_MS;
    let forgotten = 0;
    for (const thing of things) {
      forgetOne(thing);
      forgotten++;
      if (performance.now() > until || this.#items.wordsLeavingAtOnce >= SLICE_TOKENS) break;
    }
    return forgotten < things.length || things.length >= SLICE_ITEMS;
  }

  #dropSession(space: number, session: number, transaction: Transaction): void {
    this.#delete("receipt", "name, notes", "space = ? AND session = ?", space, session);
    this.#delete("session", "name", "key = ?", session);
    this.#leases.end(session, transaction);
    transaction.touch(space);
    transaction.forgot(1);
  }

  #dropSpace(space: number, ref: SpaceRef, transaction: Transaction): Partial<ForgetDone> {
    const blocks = this.#records.blocks.forgetSpace(space, transaction);
    this.#records.promotions.forgetSpace(space);
    this.#records.ledgers.forgetSpace(space);
    this.#records.keys.forgetSpace(space);
    this.#records.actors.forget(ref);
    this.#delete("receipt", "name, notes", "space = ?", space);
    this.#leases.endOfSpace(space);
    const sessions = this.#delete("session", "name", "space = ?", space);
    if ("agent" in ref) this.#registry.touchWhereNamed(space, transaction);
    this.#database.prepare("DELETE FROM presence WHERE space = ?1 OR agent = ?1").run(space);
    this.#delete("space", "name, description", "key = ?", space);
    transaction.kept();
    transaction.forgot(1);
    return { blocks, sessions, entries: 1 };
  }

  /** Returns the number of deleted rows. A purge later searches the file's bytes for their texts. */
  #delete(table: string, texts: string, where: string, ...keys: readonly number[]): number {
    const rows = this.#database.prepare(`DELETE FROM ${table} WHERE ${where} RETURNING ${texts}`).all(...keys);
    for (const row of rows) this.#residue.remember(row);
    return rows.length;
  }
}

function doneOf({ items, facts, points, factsLeft, copiesLeft, keysLeft }: Gone, remaining: boolean): ForgetDone {
  return { ...NOTHING_FORGOTTEN, items, facts, points, factsLeft, copiesLeft, keysLeft, remaining };
}
