/**
 * Points in the Store contract: vectors of callers' own, each with an id and a JSON payload, in named collections.
 *
 * Guarantees of every implementation:
 * - A point is identified by its space, collection and id. Storing it again replaces it; if nothing differs, nothing is
 *   written.
 * - All vectors of a collection have the same number of dimensions: that of the first. A vector of another length fails
 *   with `vector_space`. A collection exists while it has points; afterwards its name may have other dimensions.
 * - Vectors are returned bit by bit as they were stored.
 * - No query and no list of items returns a point, so a point does not change the version of its space.
 * - A point is forgotten with the session that stored it last, with its space, and with the space's retention.
 * - If an external index is attached, each change is queued in the outbox by the transaction that makes it, under
 *   `pointSpace` and the collection's registry id.
 */
import { createHash } from "node:crypto";
import type { Json, Page, SpaceRef, VectorSpace } from "../types.js";

export interface PutPointWrite {
  readonly op: "put_point";
  readonly space: SpaceRef;
  /** The session that stores it. Space and session are registered if they are new. */
  readonly session?: string;
  readonly collection: string;
  readonly id: string;
  /** Finite numbers, not all zero. */
  readonly vector: Float32Array;
  readonly payload: Json;
  /** How to handle an existing point. `same`: an equal point is left, a different one is a `conflict`. */
  readonly existing: "replace" | "same";
}

export interface PutPointDone {
  readonly op: "put_point";
  readonly outcome: "added" | "updated" | "unchanged";
}

/** A vector of your own, as stored. */
export interface VectorPoint {
  /** The space that owns it. */
  readonly space: SpaceRef;
  /** The collection that it is in. */
  readonly collection: string;
  /** Your id of the point. */
  readonly id: string;
  /** The session that stored it last. */
  readonly session?: string;
  /** The numbers, bit by bit as they were stored. */
  readonly vector: Float32Array;
  /** The JSON value that was stored with it. */
  readonly payload: Json;
  /** Epoch milliseconds. */
  readonly storedAt: number;
}

/** A point that was found. */
export interface PointHit extends Omit<VectorPoint, "vector"> {
  /** The cosine of the angle to the vector that was asked for. */
  readonly score: number;
}

/** A page of points, by collection in the order in which they were first stored. */
export interface PointsRequest {
  readonly space: SpaceRef;
  readonly session?: string;
  readonly collection?: string;
  /** Requires a collection. The points come in this order; missing ones are left out. There is no next page. */
  readonly ids?: readonly string[];
  readonly limit: number;
  readonly cursor?: string;
  readonly now: number;
}

/** The points nearest to a vector, best first, in the collections of this name in these spaces. */
export interface NearestRequest {
  readonly spaces: readonly SpaceRef[];
  readonly collection: string;
  /** Fails with `vector_space` if one of the collections has other dimensions. */
  readonly vector: Float32Array;
  readonly limit: number;
  readonly now: number;
}

export interface PointReads {
  /** A page of points, or those with the requested ids. */
  points(request: PointsRequest): Promise<Page<VectorPoint>>;
  /** Exact: every point of the collections is compared. */
  nearest(request: NearestRequest): Promise<readonly PointHit[]>;
}

/** The vector space of points in an external index. Collections are distinguished by their registry ids. */
export const pointSpace = (dimensions: number): VectorSpace => ({ model: "points", runtime: "holdfast", dimensions });

/** Names a point in receipts, which hold no text. */
export const pointName = (collection: string, id: string): string =>
  createHash("sha256")
    .update(JSON.stringify([collection, id]))
    .digest("base64url");
