/**
 * The outbox inside a write transaction: changes of vectors that an external index has not received yet.
 *
 * Rows hold numbers only. The vectors of an upsert are read when it is sent. Their state at queueing time does not
 * matter, because any later change has queued a row of its own. A row names the vector space of its points. If another
 * space is served when the row is sent, upserts are void, and deletes apply to the remaining points of the old space.
 */
import { HoldfastError } from "../../../errors.js";
import type { AcknowledgeWrite, AttachWrite, IndexingDone } from "../../indexing.js";
import type { Database, Statement } from "../file/driver.js";
import { OUTBOX_LANE } from "../rows/lanes.js";
import type { Transaction } from "../rows/transaction.js";
import type { Leases } from "./leases.js";
import { ITEM_PLACE, PARTS, VectorTables } from "./vector-table.js";

/** Codes of `outbox.op`. */
export const UPSERT = 0;
const DELETE = 1;

/** The number of items that one slice of the first load covers. */
const SLICE_ITEMS = 1_024;

/** The item whose vectors changed. */
interface Changed {
  readonly key: number;
  readonly space: number;
}

export class OutboxWriter {
  readonly #database: Database;
  readonly #leases: Leases;
  readonly #tables: VectorTables;
  readonly #queue: Statement;
  readonly #attached: Statement;
  readonly #sent: Statement;
  readonly #failed: Statement;

  constructor(database: Database, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.#tables = new VectorTables(database);
    this.#queue = database.prepare(
      `INSERT INTO outbox (item, space, space_id, op, parts, vector_space)
       SELECT ?1, key, id, ?2, ?3, coalesce(?5, head.vector_space) FROM space CROSS JOIN head
       WHERE key = ?4 AND outbox_index IS NOT NULL`,
    );
    this.#attached = database.prepare("SELECT outbox_index, outbox_cursor FROM head");
    this.#sent = database.prepare("DELETE FROM outbox WHERE seq = ?");
    this.#failed = database.prepare(
      "UPDATE outbox SET attempts = attempts + 1, failed_at = ?, retry_at = ?, error = ? WHERE seq = ?",
    );
  }

  /** Queues the new vectors of an item. Does nothing if no index is attached. */
  upsert({ key, space }: Changed, parts: number): void {
    this.#queue.run(key, UPSERT, parts, space, null);
  }

  /** Queues the removal of an item's vectors of this vector space. */
  delete({ key, space }: Changed, parts: number, vectorSpace: number): void {
    this.#queue.run(key, DELETE, parts, space, vectorSpace);
  }

  attach({ index }: AttachWrite, transaction: Transaction): IndexingDone {
    const { outbox_index: attached, outbox_cursor: cursor } = this.#attached.get() ?? {};
    if (index === null) {
      if (typeof attached === "string") this.#detach(transaction);
      return { op: "attach", remaining: false };
    }
    if (typeof attached === "string" && attached !== index) {
      throw new HoldfastError("conflict", `the file belongs to another vector index: ${attached}`, {
        hint: "open it with that index, or detach it first",
        details: { index: attached },
      });
    }
    if (attached === index && cursor === null) return { op: "attach", remaining: false };
    transaction.kept();
    return { op: "attach", remaining: this.#queueSlice(index, Number(cursor ?? 0)) };
  }

  #detach(transaction: Transaction): void {
    this.#database.exec("DELETE FROM outbox; UPDATE head SET outbox_index = NULL, outbox_cursor = NULL");
    transaction.kept();
  }

  /** Queues existing vectors in item order, except for items that already have a row in the outbox. */
  #queueSlice(index: string, after: number): boolean {
    const table = this.#tables.current();
    const slice = `SELECT key, space FROM item WHERE key > ? ORDER BY key LIMIT ${SLICE_ITEMS}`;
    const last = this.#database.prepare(`SELECT max(key) AS key, count(*) AS items FROM (${slice})`).get(after);
    if (table) {
      this.#database
        .prepare(
          `INSERT INTO outbox (item, space, space_id, op, parts, vector_space)
           SELECT item.key, space.key, space.id, ${UPSERT}, ${PARTS}, ${table.key}
           FROM (${slice}) AS item JOIN ${table.name} ON place = ${ITEM_PLACE} JOIN space ON space.key = item.space
           WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.item = item.key AND outbox.vector_space = ${table.key})
           ORDER BY item.key`,
        )
        .run(after);
    }
    const remaining = table !== undefined && Number(last?.["items"]) === SLICE_ITEMS;
    const cursor = remaining ? Number(last?.["key"]) : null;
    this.#database.prepare("UPDATE head SET outbox_index = ?, outbox_cursor = ?").run(index, cursor);
    return remaining;
  }

  acknowledge({ owner, fence, sent, failed }: AcknowledgeWrite, transaction: Transaction): IndexingDone {
    if (!this.#leases.holds(OUTBOX_LANE, owner, fence)) return { op: "acknowledge", fenced: true };
    for (const sequence of sent) this.#sent.run(sequence);
    for (const { sequence, error, retryAt } of failed) this.#failed.run(transaction.now, retryAt, error, sequence);
    if (sent.length + failed.length > 0) transaction.kept();
    return { op: "acknowledge", fenced: false };
  }
}
