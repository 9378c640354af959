/**
 * Sends outbox rows to an external index, reduced to the net change of each item.
 *
 * For each item in a batch, all deletes come first, then the last upsert, unless a delete follows it. Anything in
 * between would be overwritten. Two calls therefore carry a batch, in the order that each item needs, and a batch that
 * is sent again, in whole or in part, leaves the index in the same state as sending it once. Points of a former vector
 * space are stored separately, so rows about them are handled separately; only their deletes matter.
 */
import { HoldfastError } from "../errors.js";
import { chunkId } from "../retrieval/chunks/id.js";
import type { OutboxRow } from "../stores/indexing.js";
import type { Point, VectorIndex } from "../stores/vector-index.js";
import type { VectorSpace } from "../types.js";

/** The rows of one item, in order, and their net change. */
interface ItemChange {
  /** The vector space of its points, if that space is no longer in use. */
  readonly former: VectorSpace | undefined;
  readonly rows: readonly OutboxRow[];
  /** The ids of the points to delete. */
  readonly deletes: readonly string[];
  /**
   * The points that exist after the last row. Also empty if the vectors have since been removed: a later row says so.
   */
  readonly upserts: readonly Point[];
}

/** A row that the index refuses. */
export interface RefusedRow {
  readonly row: OutboxRow;
  readonly error: HoldfastError;
}

/** The result of a batch. Rows in neither list are still to be sent, because of `failure`. */
export interface BatchResult {
  readonly sent: readonly number[];
  readonly refused: readonly RefusedRow[];
  readonly failure?: unknown;
}

type Target = Pick<VectorIndex, "upsert" | "delete" | "deleteFormer">;

/** Sends a batch. Never rejects. If the index refuses the batch, it is bisected until the items at fault are found. */
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

  /**
   * Sends an item that the index refuses. Everything before the refused row is sent, so that at least the old points
   * are removed.
   */
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
    const ids = changes.flatMap(({ former, deletes }) => (former ? [] : deletes));
    if (ids.length > 0) await this.#index.delete(ids);
    for (const [space, left] of formerOf(changes)) await this.#index.deleteFormer?.(space, left);
  }

  async #upsert(changes: readonly ItemChange[]): Promise<void> {
    const points = changes.flatMap(({ upserts }) => upserts);
    if (points.length > 0) await this.#index.upsert(points);
  }
}

function changesOf(rows: readonly OutboxRow[]): ItemChange[] {
  const byItem = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const name = JSON.stringify([row.key, row.former]);
    const others = byItem.get(name);
    if (others) others.push(row);
    else byItem.set(name, [row]);
  }
  return [...byItem.values()].map((own) => {
    const former = own[0]?.former;
    return { rows: own, former, deletes: deletesOf(own), upserts: former ? [] : pointsOf(own.at(-1)) };
  });
}

/** The points to delete, by former space. */
function formerOf(changes: readonly ItemChange[]): Iterable<readonly [VectorSpace, readonly string[]]> {
  const spaces = new Map<string, [VectorSpace, string[]]>();
  for (const { former, deletes } of changes) {
    if (!former || deletes.length === 0) continue;
    const name = JSON.stringify(former);
    const known = spaces.get(name);
    if (known) known[1].push(...deletes);
    else spaces.set(name, [former, [...deletes]]);
  }
  return spaces.values();
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
