/**
 * Sends outbox rows to an external index, reduced to the net change of each item.
 *
 * For each item in a batch, all deletes come first, then the last upsert, unless a delete follows it. Anything in
 * between would be overwritten. Two calls therefore carry a batch, in the order that each item needs, and a batch that
 * is sent again, in whole or in part, leaves the index in the same state as sending it once. The points of other vector
 * spaces are stored separately, so rows about them are handled separately. Of a former vector space only deletes are left.
 */
import { HoldfastError } from "../errors.js";
import { chunkId } from "../retrieval/chunks/id.js";
import type { OutboxRow } from "../stores/indexing.js";
import type { Point, VectorIndex } from "../stores/vector-index.js";
import type { VectorSpace } from "../types.js";

/** The rows of one item, in order, and their net change. */
interface ItemChange {
  /** The vector space of its points, if it is not the current one. */
  readonly other: VectorSpace | undefined;
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

type Target = Pick<VectorIndex, "upsert" | "delete" | "upsertIn" | "deleteIn">;

/** Sends a batch. Never rejects. If the index refuses the batch, it is bisected until the items at fault are found. */
export async function sendBatch(rows: readonly OutboxRow[], index: Target): Promise<BatchResult> {
  const batch = new IndexBatch(index);
  try {
    await batch.send(changesOf(rows));
  } catch (failure) {
    return { sent: batch.sent, refused: batch.refused, failure };
  }
  return { sent: batch.sent, refused: batch.refused };
}

class IndexBatch {
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
    for (const [space, ids] of bySpace(changes, ({ deletes }) => deletes)) {
      if (space) await this.#index.deleteIn?.(space, ids);
      else await this.#index.delete(ids);
    }
  }

  async #upsert(changes: readonly ItemChange[]): Promise<void> {
    for (const [space, points] of bySpace(changes, ({ upserts }) => upserts)) {
      if (space) await this.#index.upsertIn?.(space, points);
      else await this.#index.upsert(points);
    }
  }
}

function changesOf(rows: readonly OutboxRow[]): ItemChange[] {
  const byItem = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const name = JSON.stringify([row.key, row.other]);
    const others = byItem.get(name);
    if (others) others.push(row);
    else byItem.set(name, [row]);
  }
  return [...byItem.values()].map((own) => {
    return { rows: own, other: own[0]?.other, deletes: deletesOf(own), upserts: pointsOf(own.at(-1)) };
  });
}

/** What is to be done with the points of each vector space, the current one (undefined) first. Leaves out empty lists. */
function bySpace<T>(
  changes: readonly ItemChange[],
  of: (change: ItemChange) => readonly T[],
): Iterable<readonly [VectorSpace | undefined, readonly T[]]> {
  const spaces = new Map<string, [VectorSpace | undefined, T[]]>([["", [undefined, []]]]);
  for (const change of changes) {
    const name = change.other ? JSON.stringify(change.other) : "";
    const known = spaces.get(name);
    if (known) known[1].push(...of(change));
    else spaces.set(name, [change.other, [...of(change)]]);
  }
  return [...spaces.values()].filter(([, list]) => list.length > 0);
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
