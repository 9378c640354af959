/**
 * The VectorIndex contract: where vectors live outside the store, when one machine's scan is not enough.
 *
 * The store is the truth; an index only finds. What it holds came through the outbox after the commit, may be late, and
 * is checked against the store before anyone sees it. It is given no text and no names, only numbers.
 *
 * Guarantees of every implementation (the conformance suite in src/testing holds them to it):
 * - `upsert` and `delete` are acknowledged when they resolve, and idempotent by point id.
 * - `search` finds exactly the points of the spaces named, by cosine, best first.
 * - Vectors of another space than the index holds are refused (`vector_space`); nothing is ever wiped.
 * - Every other failure is `index_failed`; a change that the index will never take has `details.refused: true`.
 */
import type { VectorSpace } from "../types.js";

export interface Point {
  /** `chunkId` of the item and the part. */
  readonly id: string;
  /** Of unit length. */
  readonly vector: Float32Array;
  /** The space's registry id. */
  readonly spaceId: string;
  /** The store's number of the item. */
  readonly key: number;
  readonly version: number;
  readonly part: number;
}

export interface PointSearch {
  readonly spaceIds: readonly string[];
  readonly vector: Float32Array;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

export interface FoundPoint {
  readonly spaceId: string;
  readonly key: number;
  readonly version: number;
  readonly part: number;
  readonly score: number;
}

export interface VectorIndex {
  /** Tells this index from others, over restarts: the file remembers to which one it belongs. No secrets. */
  readonly name: string;
  /** Makes room for vectors of this space, if there is none; `vector_space` if there is, but for others. */
  prepare(space: VectorSpace): Promise<void>;
  upsert(points: readonly Point[]): Promise<void>;
  /** Missing ones are ignored. */
  delete(ids: readonly string[]): Promise<void>;
  /**
   * Deletes points of a vector space that is no longer served, which the index keeps apart from those it was prepared for.
   * Missing ones are ignored. Left out by an index that keeps nothing of other spaces.
   */
  deleteFormer?(space: VectorSpace, ids: readonly string[]): Promise<void>;
  search(request: PointSearch): Promise<readonly FoundPoint[]>;
  close(): Promise<void>;
}
