/**
 * Keeps mirrors as new as the file: one feed for all of them, by commit number, whichever process made the change.
 *
 * Vectors that were written since come from the table of vectors, of mirrored spaces alone; items that were removed come
 * from the tombstones, and items that were edited are looked up. Items whose vectors are gone because what they had
 * borrowed was edited leave no such trace. A mirror may keep their old vectors until they are embedded again, or until
 * something of their space is removed; meanwhile they wait, and whatever a mirror says of such an item counts only if the
 * file has vectors of it.
 */
import type { Database, Row, Statement } from "./driver.js";
import type { Mirrors } from "./mirrors.js";
import { PLACE, SPACE_OF_PLACE, type VectorTable } from "./vector-table.js";

/** A mirror that has missed the vectors of more items than this is loaded anew: items one by one are slow to read. */
const MISSED_MAX = 2_048;
/** When more items than this were written, edited ones are not looked for among them; then no mirror is sure of its items. */
const WRITTEN_MAX = 8_192;
/** To leave out more items than this would take too long. */
const UNSURE_MAX = 256;

export class MirrorFeed {
  readonly #database: Database;
  readonly #mirrors: Mirrors;
  readonly #head: Statement;
  readonly #waiting: Statement;
  readonly #unsure: Statement;
  readonly #written: Statement;
  readonly #changed: Statement;
  #table: number | undefined;
  /** The commit up to which the mirrors know the file. */
  #cursor = 0;

  constructor(database: Database, mirrors: Mirrors) {
    this.#database = database;
    this.#mirrors = mirrors;
    this.#head = database.prepare("SELECT commit_no, tombstone_floor FROM head");
    this.#unsure = database.prepare(
      `SELECT * FROM (SELECT key FROM item INDEXED BY item_tail
         WHERE space = ? AND indexed <> version AND parked = 0 LIMIT ${UNSURE_MAX + 1})
       UNION ALL SELECT * FROM (SELECT item FROM parked LIMIT ${UNSURE_MAX + 1})`,
    );
    this.#written = database.prepare(
      `SELECT count(*) AS items FROM (SELECT 1 FROM item WHERE commit_no > ? LIMIT ${WRITTEN_MAX + 1})`,
    );
    this.#changed = database.prepare(
      "SELECT key, space FROM item WHERE commit_no > ? AND +space IN (SELECT value FROM json_each(?))",
    );
    this.#waiting = database.prepare(
      `SELECT key FROM item INDEXED BY item_tail WHERE space = ?1 AND indexed <> version AND parked = 0
       UNION ALL SELECT key FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.space = ?1 AND item.parked = 1`,
    );
  }

  /** Requires a snapshot; what is read on it later fits to the mirrors. */
  catchUp(table: VectorTable): void {
    const head = this.#head.get() as Row;
    if (table.key !== this.#table) this.#mirrors.clear();
    this.#mirrors.use(table.space.dimensions);
    if (this.#cursor < Number(head["tombstone_floor"])) this.#mirrors.clear();
    if (this.#mirrors.spaces.length > 0 && this.#cursor < Number(head["commit_no"])) {
      this.#removeGone(table);
      this.#removeBare(table);
      this.#putNew(table);
    }
    this.#table = table.key;
    this.#cursor = Number(head["commit_no"]);
  }

  #removeGone(table: VectorTable): void {
    const removed = this.#database
      .prepare("SELECT item, space FROM tombstone WHERE commit_no > ? AND space IN (SELECT value FROM json_each(?))")
      .all(this.#cursor, JSON.stringify(this.#mirrors.spaces));
    for (const row of removed) this.#mirrors.remove(Number(row["space"]), Number(row["item"]));
    for (const space of new Set(removed.map((row) => Number(row["space"])))) this.removeWaiting(space, table);
  }

  /** Removes what was edited and has no vectors any more: it waits, or there is nothing left to embed. */
  #removeBare({ name }: VectorTable): void {
    if (Number(this.#written.get(this.#cursor)?.["items"]) > WRITTEN_MAX) {
      this.#mirrors.distrust();
      return;
    }
    const has = this.#database.prepare(`SELECT 1 FROM ${name} WHERE place = ${PLACE}`);
    for (const row of this.#changed.all(this.#cursor, JSON.stringify(this.#mirrors.spaces))) {
      const [space, key] = [Number(row["space"]), Number(row["key"])];
      if (this.#mirrors.has(space, key) && !has.get(space, key)) this.#mirrors.remove(space, key);
    }
  }

  /**
   * Items of a space that wait to be embedded, and all that are set aside, in whatever space: what a mirror knows of them
   * may be old. Undefined if they are many.
   */
  unsure(space: number): readonly number[] | undefined {
    const rows = this.#unsure.all(space);
    return rows.length > UNSURE_MAX ? undefined : rows.map((row) => Number(row["key"]));
  }

  /** Removes what is not embedded any more. After a switch items may wait that have vectors already. Requires a snapshot. */
  removeWaiting(space: number, { name }: VectorTable): void {
    const has = this.#database.prepare(`SELECT 1 FROM ${name} WHERE place = ${PLACE}`);
    for (const row of this.#waiting.all(space)) {
      const key = Number(row["key"]);
      if (!has.get(space, key)) this.#mirrors.remove(space, key);
    }
  }

  #putNew({ name, codes: codesOf }: VectorTable): void {
    const since = `FROM ${name} WHERE commit_no > ? AND ${SPACE_OF_PLACE} IN (SELECT value FROM json_each(?))`;
    const missed = this.#database
      .prepare(`SELECT ${SPACE_OF_PLACE} AS space, count(*) AS items ${since} GROUP BY 1`)
      .all(this.#cursor, JSON.stringify(this.#mirrors.spaces));
    for (const row of missed) if (Number(row["items"]) > MISSED_MAX) this.#mirrors.drop(Number(row["space"]));
    if (missed.length === 0) return;
    const written = this.#database
      .prepare(`SELECT ${SPACE_OF_PLACE} AS space, item ${since}`)
      .all(this.#cursor, JSON.stringify(this.#mirrors.spaces));
    const one = this.#database.prepare(`SELECT codes FROM ${codesOf} WHERE place = ${PLACE}`);
    for (const row of written) {
      const [space, key] = [Number(row["space"]), Number(row["item"])];
      if (!this.#mirrors.wants(space, key)) continue;
      const codes = one.get(space, key)?.["codes"] as Uint8Array | undefined;
      if (codes) this.#mirrors.put(space, { key, codes });
    }
  }
}
