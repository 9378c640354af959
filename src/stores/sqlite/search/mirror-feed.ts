/**
 * Keeps mirrors up to date with the file: one feed for all mirrors, by commit number, whichever process made the
 * change.
 *
 * New vectors of mirrored spaces come from the vector table; edited and removed items come from the change table. An
 * item that lost its vectors because text it borrowed was edited leaves no entry in either table. A mirror may keep its
 * old vectors until it is embedded again, or until an item of its space is removed. Until then the item is pending, so
 * a mirror's score is used only for items that are not pending (vector-search.ts).
 *
 * Invariant: for an item that is not pending, a mirror that has caught up holds exactly the vectors in the file.
 */

import { PLACE, SPACE_OF_PLACE, type VectorTable } from "../embedding/vector-table.js";
import type { Database, Row, Statement } from "../file/driver.js";
import type { Mirrors } from "./mirrors.js";

/**
 * A mirror that has missed the vectors of more items than this is reloaded, because reading items one by one is slow.
 */
const MISSED_MAX = 2_048;

export class MirrorFeed {
  readonly #database: Database;
  readonly #mirrors: Mirrors;
  readonly #head: Statement;
  readonly #waiting: Statement;
  readonly #changed: Statement;
  #table: number | undefined;
  /** The last commit that the mirrors reflect. */
  #cursor = 0;

  constructor(database: Database, mirrors: Mirrors) {
    this.#database = database;
    this.#mirrors = mirrors;
    this.#head = database.prepare("SELECT commit_no, change_floor FROM head");
    this.#changed = database.prepare(
      `SELECT item, space, removed FROM change WHERE commit_no > ? AND +space IN (SELECT value FROM json_each(?))`,
    );
    this.#waiting = database.prepare(
      `SELECT key FROM item INDEXED BY item_tail WHERE space = ?1 AND indexed <> version AND parked = 0
       UNION ALL SELECT key FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.space = ?1 AND item.parked = 1`,
    );
  }

  /** Brings the mirrors up to this snapshot. Requires a snapshot; later reads on it are consistent with the mirrors. */
  catchUp(table: VectorTable): void {
    const head = this.#head.get() as Row;
    if (table.key !== this.#table) this.#mirrors.clear();
    this.#mirrors.use(table.space.dimensions);
    if (this.#cursor < Number(head["change_floor"])) this.#mirrors.clear();
    if (this.#mirrors.spaces.length > 0 && this.#cursor < Number(head["commit_no"])) {
      this.#removeChanged(table);
      this.#putNew(table);
    }
    this.#table = table.key;
    this.#cursor = Number(head["commit_no"]);
  }

  /** Removes items that are gone, and edited items without vectors: they are pending or have no text to embed. */
  #removeChanged(table: VectorTable): void {
    const has = this.#database.prepare(`SELECT 1 FROM ${table.name} WHERE place = ${PLACE}`);
    const shrunk = new Set<number>();
    for (const row of this.#changed.all(this.#cursor, JSON.stringify(this.#mirrors.spaces))) {
      const [space, key, isRemoved] = [Number(row["space"]), Number(row["item"]), row["removed"] === 1];
      if (isRemoved) shrunk.add(space);
      if (isRemoved || (this.#mirrors.has(space, key) && !has.get(space, key))) this.#mirrors.remove(space, key);
    }
    for (const space of shrunk) this.removeWaiting(space, table);
  }

  /**
   * Removes pending items that have no vectors. After a switch of the vector space, pending items may have vectors
   * already. Requires a snapshot.
   */
  removeWaiting(space: number, { name }: VectorTable): void {
    const has = this.#database.prepare(`SELECT 1 FROM ${name} WHERE place = ${PLACE}`);
    for (const row of this.#waiting.all(space)) {
      const key = Number(row["key"]);
      if (!has.get(space, key)) this.#mirrors.remove(space, key);
    }
  }

  #putNew({ name }: VectorTable): void {
    const since = `FROM ${name} WHERE commit_no > ? AND ${SPACE_OF_PLACE} IN (SELECT value FROM json_each(?))`;
    const missed = this.#database
      .prepare(`SELECT ${SPACE_OF_PLACE} AS space, count(*) AS items ${since} GROUP BY 1`)
      .all(this.#cursor, JSON.stringify(this.#mirrors.spaces));
    for (const row of missed) if (Number(row["items"]) > MISSED_MAX) this.#mirrors.drop(Number(row["space"]));
    if (missed.length === 0) return;
    const written = this.#database
      .prepare(`SELECT ${SPACE_OF_PLACE} AS space, item ${since}`)
      .all(this.#cursor, JSON.stringify(this.#mirrors.spaces));
    const one = this.#database.prepare(`SELECT vectors FROM ${name} WHERE place = ${PLACE}`);
    for (const row of written) {
      const [space, key] = [Number(row["space"]), Number(row["item"])];
      if (!this.#mirrors.wants(space, key)) continue;
      this.#mirrors.put(space, { key, codes: one.get(space, key)?.["vectors"] as Uint8Array });
    }
  }
}
