/**
 * Switches from one vector space to the next, inside a write transaction, and cleans up afterwards.
 *
 * The switch itself only moves a pointer. Potentially large work follows in slices, as housekeeping: items that were
 * pending under the old model are marked as embedded with the new one (until then they may be embedded once more, which
 * is harmless), and the vectors that are no longer in use are removed.
 */
import type { IndexingDone } from "../../indexing.js";
import type { SwitchSpaceWrite } from "../../reindexing.js";
import { isSameSpace } from "../../vector-space.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { FRESH, WAITS } from "../rows/lanes.js";
import type { Transaction } from "../rows/transaction.js";
import type { OutboxWriter } from "./outbox.js";
import { endFilling, requireNext } from "./reindex.js";
import {
  ABANDONED,
  FORMER,
  ITEM_PLACE,
  PARTS,
  SPACE_OF_PLACE,
  TABLELESS,
  type VectorTable,
  VectorTables,
} from "./vector-table.js";

const SETTLED_ITEMS = 1_024;
const SLICE_MS = 5;
/** The most rows that one slice removes, and the number of rows between two checks of the clock. */
const SLICE_ROWS = 512;
const REMOVED_ROWS = 64;

export class SpaceSwitch {
  readonly #database: Database;
  readonly #outbox: OutboxWriter;
  readonly #tables: VectorTables;
  readonly #missing: Statement;
  readonly #behind: Statement;
  readonly #settled: Statement;
  readonly #unpark: Statement;
  readonly #untidy: Statement;
  readonly #settling: Statement;

  constructor(database: Database, outbox: OutboxWriter) {
    this.#database = database;
    this.#outbox = outbox;
    this.#tables = new VectorTables(database);
    this.#missing = database.prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM next_due JOIN item ON item.key = next_due.item
         WHERE error IS NULL AND ${FRESH} LIMIT ?2)`,
    );
    this.#behind = database.prepare(
      "SELECT count(*) AS n FROM (SELECT 1 FROM item WHERE key > (SELECT next_cursor FROM head) LIMIT ?)",
    );
    this.#settled = database.prepare("UPDATE item SET indexed = version, parked = 0 WHERE key = ?");
    this.#unpark = database.prepare("DELETE FROM parked WHERE item = ?");
    this.#untidy = database.prepare(
      `SELECT 1 FROM head WHERE settling = 1
         OR EXISTS (SELECT 1 FROM vector_space WHERE state IN (${FORMER}, ${ABANDONED}))`,
    );
    this.#settling = database.prepare("SELECT settling FROM head");
  }

  switch({ vectorSpace, missingMax }: SwitchSpaceWrite, transaction: Transaction): IndexingDone {
    const served = this.#tables.current();
    const isDone = served && !this.#tables.next() && isSameSpace(served.space, vectorSpace);
    if (isDone) return { op: "switch_space", switched: true };
    const next = requireNext(this.#tables, vectorSpace);
    if (this.#countMissing(missingMax + 1, transaction.now) > missingMax)
      return { op: "switch_space", switched: false };
    this.#unindexMissing(transaction.now);
    if (served) this.#database.prepare("UPDATE vector_space SET state = ? WHERE key = ?").run(FORMER, served.key);
    this.#database
      .prepare(
        `UPDATE head SET vector_space = ?, embedded = next_embedded, chunks = next_chunks, settling = 1,
           outbox_cursor = CASE WHEN outbox_index IS NULL THEN NULL ELSE 0 END`,
      )
      .run(next.key);
    endFilling(this.#database);
    this.#database.exec("UPDATE space SET version = version + 1");
    transaction.kept();
    this.#settle(next, transaction);
    return { op: "switch_space", switched: true };
  }

  /** Counts up to `max`. */
  #countMissing(max: number, now: number): number {
    return Number(this.#behind.get(max)?.["n"]) + Number(this.#missing.get(now, max)?.["n"]);
  }

  /** Makes the items that the next space lacks pending, or parked if its model rejected them. */
  #unindexMissing(now: number): void {
    this.#database.exec(`
      INSERT OR IGNORE INTO next_due (item) SELECT key FROM item WHERE key > (SELECT next_cursor FROM head);
      UPDATE item SET indexed = 0, parked = 0 WHERE key IN (SELECT item FROM next_due);
      DELETE FROM parked WHERE item IN (SELECT item FROM next_due);
      UPDATE item SET parked = 1 WHERE key IN (SELECT item FROM next_due WHERE error IS NOT NULL);
    `);
    this.#database
      .prepare(
        `INSERT INTO parked (item, version, attempts, error, parked_at, retry_at)
         SELECT key, version, 1, error, ?, retry_at FROM next_due JOIN item ON item.key = next_due.item
         WHERE error IS NOT NULL`,
      )
      .run(now);
  }

  /** Whether any cleanup is left. Checked before a transaction is opened for it. */
  get isUntidy(): boolean {
    return this.#untidy.get() !== undefined;
  }

  /** Does one slice of the cleanup. Returns false if nothing is left. */
  tidy(transaction: Transaction): boolean {
    const served = this.#tables.current();
    if (served && Number(this.#settling.get()?.["settling"]) === 1) {
      this.#settle(served, transaction);
      return true;
    }
    const unused = this.#tables.all().find(({ role }) => role === "former" || role === "abandoned");
    if (!unused) return false;
    this.#removeSlice(unused, unused.role === "former", transaction);
    return true;
  }

  /** Marks items as embedded that have vectors of the served space but are still pending or parked. */
  #settle({ name }: VectorTable, transaction: Transaction): void {
    const hasVectors = `EXISTS (SELECT 1 FROM ${name} WHERE place = ${ITEM_PLACE})`;
    const items = this.#database
      .prepare(
        `SELECT key, space FROM item INDEXED BY item_tail WHERE ${WAITS} AND ${hasVectors}
         UNION ALL SELECT item.key, item.space FROM parked CROSS JOIN item ON item.key = parked.item
           WHERE item.parked = 1 AND ${hasVectors}
         LIMIT ${SETTLED_ITEMS}`,
      )
      .all();
    for (const item of items) {
      this.#settled.run(Number(item["key"]));
      this.#unpark.run(Number(item["key"]));
      transaction.touch(Number(item["space"]));
    }
    if (items.length < SETTLED_ITEMS) this.#database.exec("UPDATE head SET settling = 0");
    transaction.kept();
  }

  #removeSlice({ key, name }: VectorTable, wasServed: boolean, transaction: Transaction): void {
    const remove = this.#database.prepare(
      `DELETE FROM ${name} WHERE place IN (SELECT place FROM ${name} ORDER BY place LIMIT ${REMOVED_ROWS})
       RETURNING item AS key, ${SPACE_OF_PLACE} AS space, ${PARTS} AS parts`,
    );
    const until = performance.now() + SLICE_MS;
    let rows: readonly Row[];
    let removed = 0;
    do {
      rows = remove.all();
      removed += rows.length;
      for (const row of rows) {
        const item = { key: Number(row["key"]), space: Number(row["space"]) };
        if (wasServed) this.#outbox.delete(item, Number(row["parts"]), key);
      }
    } while (rows.length === REMOVED_ROWS && removed < SLICE_ROWS && performance.now() < until);
    if (rows.length < REMOVED_ROWS) this.#drop({ key, name });
    transaction.kept();
  }

  #drop({ key, name }: Pick<VectorTable, "key" | "name">): void {
    this.#database.exec(`DROP TABLE ${name}; UPDATE vector_space SET state = ${TABLELESS} WHERE key = ${key}`);
  }
}
