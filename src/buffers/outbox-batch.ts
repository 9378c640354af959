/**
 * Rows of the outbox as an external index is told of them: per item, what its last row leaves behind.
 *
 * Of each item in a batch all deletes come first, then the last upsert, if no delete comes after it. What lies between
 * would be overwritten anyway. So two calls carry a batch, in the order that each item needs, and a batch that is sent
 * again, whole or in part, leaves the index as sending it once would have.
 */
import { HoldfastError } from "../errors.js";
import { chunkId } from "../retrieval/chunks/id.js";
import type { OutboxRow } from "../stores/indexing.js";
import type { Point, VectorIndex } from "../stores/vector-index.js";

/** The rows of one item, in order, and what they come to. */
interface ItemChange {
  readonly rows: readonly OutboxRow[];
  /** The points that its deletes name. */
  readonly deletes: readonly string[];
  /** What is there after the last row. Empty also if its vectors are gone by now: a row further on says so. */
  readonly upserts: readonly Point[];
}

/** A row that the index will not take. */
export interface RefusedRow {
  readonly row: OutboxRow;
  readonly error: HoldfastError;
}

/** What became of a batch; what is in neither list has yet to be sent, because of `failure`. */
export interface BatchResult {
  readonly sent: readonly number[];
  readonly refused: readonly RefusedRow[];
  readonly failure?: unknown;
}

type Target = Pick<VectorIndex, "upsert" | "delete">;

/** Never rejects. If the index refuses the batch, halves of it are tried, until the items at fault are known. */
export async function sendBatch(rows: readonly OutboxRow[], index: Target): Promise<BatchResult> {
  const batch = new Batch(index);
  try {
    await batch.send(changesOf(rows));
  } catch (failure) {
    return { sent: batch.sent, refused: batch.refused, failure };
  }
  return { sent: batch.sent, refused: batch.refused };
}

class Batch {
  readonly sent: number[] = [];
  readonly refused: RefusedRow[] = [];
  readonly #index: Target;

  constructor(index: Target) {
    this.#index = index;
  }

  async send(changes: readonly ItemChange[]): Promise<void> {
    try {
      await this.#delete(changes);
      await this.#upsert(changes);
      this.sent.push(...changes.flatMap(({ rows }) => rows).map(({ sequence }) => sequence));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [only] = changes;
      if (only && changes.length === 1) return this.#sendOne(only);
      const middle = changes.length >> 1;
      await this.send(changes.slice(0, middle));
      await this.send(changes.slice(middle));
    }
  }

  /** An item at fault: whatever comes before the row that is refused is sent, so that at least what is old is gone. */
  async #sendOne(change: ItemChange): Promise<void> {
    let tried: "delete" | "upsert" = "delete";
    try {
      await this.#delete([change]);
      tried = "upsert";
      await this.#upsert([change]);
      this.sent.push(...change.rows.map(({ sequence }) => sequence));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { rows } = change;
      const at = tried === "delete" ? rows.findIndex(({ change }) => change.kind === tried) : rows.length - 1;
      const row = rows[at];
      if (!row) throw error;
      this.sent.push(...rows.slice(0, at).map(({ sequence }) => sequence));
      this.refused.push({ row, error });
    }
  }

  async #delete(changes: readonly ItemChange[]): Promise<void> {
    const ids = changes.flatMap(({ deletes }) => deletes);
    if (ids.length > 0) await this.#index.delete(ids);
  }

  async #upsert(changes: readonly ItemChange[]): Promise<void> {
    const points = changes.flatMap(({ upserts }) => upserts);
    if (points.length > 0) await this.#index.upsert(points);
  }
}

function changesOf(rows: readonly OutboxRow[]): ItemChange[] {
  const byItem = new Map<number, OutboxRow[]>();
  for (const row of rows) {
    const others = byItem.get(row.key);
    if (others) others.push(row);
    else byItem.set(row.key, [row]);
  }
  return [...byItem.values()].map((own) => ({ rows: own, deletes: deletesOf(own), upserts: pointsOf(own.at(-1)) }));
}

function deletesOf(rows: readonly OutboxRow[]): string[] {
  const [first] = rows;
  const parts = Math.max(0, ...rows.map(({ change }) => (change.kind === "delete" ? change.parts : 0)));
  return first ? Array.from({ length: parts }, (_, part) => chunkId(first.spaceId, first.key, part)) : [];
}

function pointsOf(row: OutboxRow | undefined): Point[] {
  if (row?.change.kind !== "upsert" || !row.change.vectors) return [];
  const { spaceId, key } = row;
  const { vectors, parts, version } = row.change;
  const dimensions = vectors.length / parts;
  return Array.from({ length: parts }, (_, part) => ({
    id: chunkId(spaceId, key, part),
    vector: vectors.subarray(part * dimensions, (part + 1) * dimensions),
    spaceId,
    key,
    version,
    part,
  }));
}

const isRefusal = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code === "index_failed" && error.details["refused"] === true;
