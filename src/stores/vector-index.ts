/**
 * The VectorIndex contract: vector storage outside the store, for when scanning on one machine is not enough.
 *
 * The store is the source of truth; an index only finds candidates. Its contents arrive through the outbox after the
 * commit, may lag behind, and are checked against the store before they reach a caller. It receives no text and no
 * names, only numbers.
 *
 * Guarantees of every implementation (checked by the conformance suite in src/testing):
 * - `upsert` and `delete` are acknowledged when they resolve, and idempotent by point id.
 * - `search` returns only points of the given spaces, ranked by cosine similarity, best first.
 * - An index rejects vectors of a vector space other than its own (`vector_space`); it never wipes existing data.
 * - Every other failure is `index_failed`. A change that the index will never accept has `details.refused: true`.
 */
import type { VectorSpace } from "../types.js";

export interface Point {
  /** The `chunkId` of the item and the part. */
  readonly id: string;
  /** A vector of unit length. */
  readonly vector: Float32Array;
  /** The registry id of the space, or of the collection of a caller's own vector. */
  readonly spaceId: string;
  /** The store's number of the item or of the caller's point. */
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

/** Vector storage outside the store, for when scanning on one machine is not enough. */
export interface VectorIndex {
  /** Identifies this index across restarts; the file records which index it belongs to. Must contain no secrets. */
  readonly name: string;
  /**
   * Creates storage for vectors of this space if none exists. Fails with `vector_space` if it exists for another space.
   */
  prepare(space: VectorSpace): Promise<void>;
  /** Writes points, or replaces those with the same ids. Acknowledged when it resolves. */
  upsert(points: readonly Point[]): Promise<void>;
  /** Ignores missing ids. */
  delete(ids: readonly string[]): Promise<void>;
  /**
   * Writes points of another vector space than the current one, which the index stores separately: those of callers'
   * own vectors (points.ts). Creates storage for them if none exists. An index that takes no such points omits it.
   */
  upsertIn?(space: VectorSpace, points: readonly Point[]): Promise<void>;
  /**
   * Deletes points of another vector space: a former one, or that of callers' own vectors. Ignores missing ids. An index
   * that keeps nothing of other vector spaces omits it.
   */
  deleteIn?(space: VectorSpace, ids: readonly string[]): Promise<void>;
  /** The nearest points of the given spaces, best first. */
  search(request: PointSearch): Promise<readonly FoundPoint[]>;
  /** Ends all calls. */
  close(): Promise<void>;
}
