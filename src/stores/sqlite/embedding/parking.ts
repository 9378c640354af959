/**
 * Parks items that could not be embedded, and resumes them, inside a write transaction.
 *
 * `item.parked` tells whether an item is parked now. Its row in `parked` counts the attempts. The row stays during
 * automatic retries, and is removed when the item is embedded, edited, removed or replayed manually.
 */
import type { IndexingDone, ParkWrite, ReplayWrite } from "../../indexing.js";
import type { Database, Statement } from "../file/driver.js";
import { findLane } from "../rows/lanes.js";
import type { Registry } from "../rows/registry.js";
import type { Transaction } from "../rows/transaction.js";
import type { Leases } from "./leases.js";

const SLICE_ITEMS = 256;

export class Parking {
  readonly #registry: Registry;
  readonly #leases: Leases;
  readonly #set: Statement;
  readonly #record: Statement;
  readonly #due: Statement;
  readonly #ofSpace: Statement;
  readonly #byIds: Statement;
  readonly #resume: Statement;
  readonly #retrying: Statement;
  readonly #clear: Statement;

  constructor(database: Database, registry: Registry, leases: Leases) {
    this.#registry = registry;
    this.#leases = leases;
    this.#set = database.prepare(
      "UPDATE item SET parked = 1 WHERE key = ? AND space = ? AND session IS ? AND version = ? AND indexed <> version",
    );
    this.#record = database.prepare(
      `INSERT INTO parked (item, version, attempts, error, parked_at, retry_at) VALUES (?, ?, 1, ?, ?, ?)
       ON CONFLICT (item) DO UPDATE SET version = excluded.version, attempts = attempts + 1, error = excluded.error,
         parked_at = excluded.parked_at, retry_at = excluded.retry_at`,
    );
    // A parking time in the future came from a clock that ran ahead, and so did its retry time.
    this.#due = database.prepare(
      `SELECT item, (SELECT space FROM item WHERE item.key = parked.item) AS space FROM parked WHERE retry_at IS NOT NULL AND (retry_at <= ?1 OR parked_at > ?1)
       LIMIT ${SLICE_ITEMS + 1}`,
    );
    const set =
      "SELECT item, item.space FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.parked = 1 AND item.space = ?";
    this.#ofSpace = database.prepare(`${set} LIMIT ${SLICE_ITEMS + 1}`);
    this.#byIds = database.prepare(`${set} AND item.id IN (SELECT value FROM json_each(?)) LIMIT ${SLICE_ITEMS + 1}`);
    this.#resume = database.prepare("UPDATE item SET parked = 0 WHERE key = ?");
    this.#retrying = database.prepare("UPDATE parked SET retry_at = NULL WHERE item = ?");
    this.#clear = database.prepare("DELETE FROM parked WHERE item = ?");
  }

  park({ owner, lane, fence, items }: ParkWrite, transaction: Transaction): IndexingDone {
    const place = findLane(this.#registry, lane);
    if (!place || !this.#leases.holds(place.key, owner, fence)) return { op: "park", parked: 0, fenced: true };
    let parked = 0;
    for (const { key, version, error, retryAt } of items) {
      if (Number(this.#set.run(key, place.space, place.session, version).changes) === 0) continue;
      this.#record.run(key, version, error, transaction.now, retryAt ?? null);
      parked++;
    }
    if (parked > 0) transaction.kept();
    return { op: "park", parked, fenced: false };
  }

  replay({ which }: ReplayWrite, transaction: Transaction): IndexingDone {
    const due = "due" in which;
    const found = due ? this.#due.all(transaction.now) : this.#parkedIn(which);
    const slice = found.slice(0, SLICE_ITEMS);
    for (const row of slice) {
      const item = Number(row["item"]);
      this.#resume.run(item);
      (due ? this.#retrying : this.#clear).run(item);
      // The item will soon be found by meaning, so cached results without it become invalid now.
      if (row["space"] !== null) transaction.touch(Number(row["space"]));
    }
    if (slice.length > 0) transaction.kept();
    return { op: "replay", replayed: slice.length, remaining: found.length > SLICE_ITEMS };
  }

  #parkedIn({ space, ids }: Exclude<ReplayWrite["which"], { due: true }>) {
    const row = this.#registry.findSpace(space);
    if (!row) return [];
    return ids ? this.#byIds.all(row.key, JSON.stringify(ids)) : this.#ofSpace.all(row.key);
  }

  /** Called when the item is embedded, edited or removed. The caller updates `item.parked`. */
  clear(item: number): void {
    this.#clear.run(item);
  }
}
