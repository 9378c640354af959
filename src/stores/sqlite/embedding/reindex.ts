/**
 * Fills the next vector space inside a write transaction, one slice at a time.
 *
 * Items are processed in key order. A new item has a higher key than all others, so its turn comes by itself. An item
 * that is edited after the cursor passed it returns through `next_due`. So the missing items are known without scanning
 * all items, and neither an add nor an edit of an item that was not passed yet costs anything.
 */
import { HoldfastError } from "../../../errors.js";
import type { VectorSpace } from "../../../types.js";
import type { IndexingDone } from "../../indexing.js";
import type { BeginReindexWrite, KeyRange, ReindexWrite } from "../../reindexing.js";
import { isSameSpace, nameOfSpace } from "../../vector-space.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { FRESH } from "../rows/lanes.js";
import type { Transaction } from "../rows/transaction.js";
import type { Embeddable, Embeddings } from "./embeddings.js";
import { requireLengths } from "./indexer.js";
import { NEXT_SPACE, readNextSpace } from "./reindex-due.js";
import { ABANDONED, type VectorTable, VectorTables } from "./vector-table.js";

export class Reindexing {
  readonly #database: Database;
  readonly #embeddings: Embeddings;
  readonly #tables: VectorTables;
  readonly #next: Statement;
  readonly #item: Statement;
  readonly #done: Statement;
  readonly #refused: Statement;
  readonly #due: Statement;
  readonly #pass: Statement;
  readonly #advance: Statement;

  constructor(database: Database, embeddings: Embeddings) {
    this.#database = database;
    this.#embeddings = embeddings;
    this.#tables = new VectorTables(database);
    this.#next = database.prepare(NEXT_SPACE);
    this.#item = database.prepare(`SELECT key, space FROM item WHERE ${FRESH} AND key = ? AND version = ?`);
    this.#due = database.prepare("SELECT 1 FROM next_due WHERE item = ?");
    this.#done = database.prepare("DELETE FROM next_due WHERE item = ?");
    this.#refused = database.prepare("UPDATE next_due SET error = ?, retry_at = ? WHERE item = ?");
    this.#pass = database.prepare(
      "INSERT OR IGNORE INTO next_due (item) SELECT key FROM item WHERE key > ? AND key <= ?",
    );
    this.#advance = database.prepare("UPDATE head SET next_cursor = ?, next_passed = next_passed + ?");
  }

  begin({ vectorSpace }: BeginReindexWrite, transaction: Transaction): IndexingDone {
    const next = this.#tables.next();
    if (next && !isSameSpace(next.space, vectorSpace)) throw halfDone(next.space, vectorSpace);
    if (next) return { op: "begin_reindex", isServed: false };
    const served = this.#tables.current();
    if (served && isSameSpace(served.space, vectorSpace)) return { op: "begin_reindex", isServed: true };
    const { key } = this.#tables.create(vectorSpace, transaction.now);
    this.#database.prepare("UPDATE head SET next_space = ?").run(key);
    transaction.kept();
    return { op: "begin_reindex", isServed: false };
  }

  write(write: ReindexWrite, transaction: Transaction): IndexingDone {
    const { vectorSpace, range, items, refused } = write;
    const table = requireNext(this.#tables, vectorSpace);
    requireLengths(write);
    const written: number[] = [];
    if (this.#passTo(range, transaction)) {
      const find = ({ key, version }: { readonly key: number; readonly version: number }) =>
        this.#item.get(transaction.now, key, version);
      for (const item of items) {
        const row = find(item);
        if (!row || !this.#due.get(item.key) || !item.borrowed.every(find)) continue;
        this.#embeddings.putNext(row as unknown as Embeddable, item, table, transaction);
        this.#done.run(item.key);
        written.push(item.key);
      }
      for (const item of refused) if (find(item)) this.#refused.run(item.error, item.retryAt ?? null, item.key);
      transaction.kept();
    }
    return { op: "reindex", written, next: readNextSpace(this.#next.get() as Row) };
  }

  /**
   * Advances the cursor; all items of the range are due until their vectors are written. Returns false if the range was
   * read before the space was started over.
   */
  #passTo({ after, upTo }: KeyRange, transaction: Transaction): boolean {
    const cursor = Number(this.#next.get()?.["next_cursor"]);
    if (after > cursor) return false;
    if (upTo <= cursor) return true;
    const { changes } = this.#pass.run(cursor, upTo);
    this.#advance.run(upTo, Number(changes));
    transaction.kept();
    return true;
  }

  abandon(transaction: Transaction): IndexingDone {
    const next = this.#tables.next();
    if (next) {
      this.#database.prepare("UPDATE vector_space SET state = ? WHERE key = ?").run(ABANDONED, next.key);
      endFilling(this.#database);
      transaction.kept();
    }
    return { op: "abandon_reindex", abandoned: next !== undefined };
  }
}

/** Records that no space is being filled. */
export function endFilling(database: Database): void {
  database.exec(`
    DELETE FROM next_due;
    UPDATE head SET next_space = 0, next_cursor = 0, next_passed = 0, next_embedded = 0, next_chunks = 0;
  `);
}

/** The table being filled. Throws unless it belongs to this space. */
export function requireNext(tables: VectorTables, vectorSpace: VectorSpace): VectorTable {
  const next = tables.next();
  if (!next) {
    throw new HoldfastError(
      "conflict",
      `vectors of ${nameOfSpace(vectorSpace)} are no longer being made for this file`,
      {
        hint: "somebody has abandoned it meanwhile; begin again",
        details: { vectorSpace },
      },
    );
  }
  if (!isSameSpace(next.space, vectorSpace)) throw halfDone(next.space, vectorSpace);
  return next;
}

function halfDone(next: VectorSpace, given: VectorSpace): HoldfastError {
  return new HoldfastError(
    "conflict",
    `the file is half re-embedded with ${nameOfSpace(next)}; it cannot be with ${nameOfSpace(given)} at the same time`,
    { hint: "finish that with the same model, or abandon it first", details: { next, given } },
  );
}
