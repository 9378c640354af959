/**
 * The outbox inside a write transaction: changes of vectors that an external index has not received yet.
 *
 * Rows hold numbers only. The vectors of an upsert are read when it is sent. Their state at queueing time does not
 * matter, because any later change has queued a row of its own. A row names the vector space of its points. If another
 * space is served when the row is sent, upserts are void, and deletes apply to the remaining points of the old space.
 */
import { HoldfastError } from "../../../errors.js";
import type { AcknowledgeWrite, AttachWrite, IndexingDone } from "../../indexing.js";
import { pointSpace } from "../../points.js";
import type { Database, Statement } from "../file/driver.js";
import { OUTBOX_LANE } from "../rows/lanes.js";
import type { Transaction } from "../rows/transaction.js";
import type { Leases } from "./leases.js";
import { ITEM_PLACE, PARTS, TABLELESS, VectorTables } from "./vector-table.js";

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

/** The point whose vector changed. Its collection is given by its registry id. */
interface ChangedPoint {
  readonly key: number;
  readonly space: number;
  readonly collection: string;
  readonly dimensions: number;
}

export class OutboxWriter {
  readonly #database: Database;
  readonly #leases: Leases;
  readonly #tables: VectorTables;
  readonly #queue: Statement;
  readonly #attached: Statement;
  readonly #queuePoint: Statement;
  readonly #findSpace: Statement;
  readonly #addSpace: Statement;
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
    this.#queuePoint = database.prepare(
      "INSERT INTO outbox (item, space, space_id, op, parts, vector_space) VALUES (?, ?, ?, ?, 1, ?)",
    );
    this.#findSpace = database.prepare(
      `SELECT key FROM vector_space WHERE model = ? AND runtime = ? AND dimensions = ? AND state = ${TABLELESS}`,
    );
    this.#addSpace = database.prepare(
      `INSERT INTO vector_space (model, runtime, dimensions, created_at, state) VALUES (?, ?, ?, 0, ${TABLELESS})
       RETURNING key`,
    );
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

  /** Queues the vector of a point. Does nothing if no index is attached. */
  upsertPoint(point: ChangedPoint): void {
    this.#pointChanged(point, UPSERT);
  }

  /** Queues the removal of a point. */
  deletePoint(point: ChangedPoint): void {
    this.#pointChanged(point, DELETE);
  }

  #pointChanged({ key, space, collection, dimensions }: ChangedPoint, op: number): void {
    if (this.#attached.get()?.["outbox_index"] === null) return;
    this.#queuePoint.run(key, space, collection, op, this.#pointSpace(dimensions));
  }

  /** The key of the vector space of points with this number of dimensions. */
  #pointSpace(dimensions: number): number {
    const { model, runtime } = pointSpace(dimensions);
    const found = this.#findSpace.get(model, runtime, dimensions) ?? this.#addSpace.get(model, runtime, dimensions);
    return Number(found?.["key"]);
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

  /**
   * Queues existing vectors of items and points in the order of their keys, except for those that already have a row in
   * the outbox.
   */
  #queueSlice(index: string, after: number): boolean {
    const table = this.#tables.current();
    const slice = `SELECT key FROM item WHERE key > ?1 UNION ALL SELECT key FROM point WHERE key > ?1
      ORDER BY key LIMIT ${SLICE_ITEMS}`;
    const last = this.#database.prepare(`SELECT max(key) AS key, count(*) AS count FROM (${slice})`).get(after);
    const to = Number(last?.["key"] ?? after);
    if (table) {
      this.#database
        .prepare(
          `INSERT INTO outbox (item, space, space_id, op, parts, vector_space)
           SELECT item.key, space.key, space.id, ${UPSERT}, ${PARTS}, ${table.key}
           FROM item JOIN ${table.name} ON place = ${ITEM_PLACE} JOIN space ON space.key = item.space
           WHERE item.key > ? AND item.key <= ? AND NOT EXISTS
             (SELECT 1 FROM outbox WHERE outbox.item = item.key AND outbox.vector_space = ${table.key})
           ORDER BY item.key`,
        )
        .run(after, to);
    }
    this.#queuePoints(after, to);
    const remaining = Number(last?.["count"]) === SLICE_ITEMS;
    const cursor = remaining ? Number(last?.["key"]) : null;
    this.#database.prepare("UPDATE head SET outbox_index = ?, outbox_cursor = ?").run(index, cursor);
    return remaining;
  }

  #queuePoints(after: number, to: number): void {
    const points = this.#database
      .prepare(
        `SELECT point.key, collection.space, collection.id, collection.dimensions
         FROM point JOIN collection ON collection.key = point.collection
         WHERE point.key > ? AND point.key <= ? AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.item = point.key)
         ORDER BY point.key`,
      )
      .all(after, to);
    for (const { key, space, id, dimensions } of points) {
      this.#queuePoint.run(Number(key), Number(space), String(id), UPSERT, this.#pointSpace(Number(dimensions)));
    }
  }

  acknowledge({ owner, fence, sent, failed }: AcknowledgeWrite, transaction: Transaction): IndexingDone {
    if (!this.#leases.holds(OUTBOX_LANE, owner, fence)) return { op: "acknowledge", fenced: true };
    for (const sequence of sent) this.#sent.run(sequence);
    for (const { sequence, error, retryAt } of failed) this.#failed.run(transaction.now, retryAt, error, sequence);
    if (sent.length + failed.length > 0) transaction.kept();
    return { op: "acknowledge", fenced: false };
  }
}
