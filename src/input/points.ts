/** Parses points: vectors of callers' own, and what is asked about them. */
import type { PutPointWrite } from "../stores/points.js";
import type { Json, SpaceRef } from "../types.js";
import { parseIdentity } from "./identity.js";
import { parseInteger } from "./integer.js";
import { copyJson } from "./json.js";
import { DIMENSIONS_MAX, METADATA_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { invalid, objectWith, tooLarge, wrongType } from "./refusal.js";
import { type ParsedScope, parseSpaces } from "./scope.js";

/** A vector as a caller gives it. It is kept as float32. */
export type VectorInput = readonly number[] | Float32Array;

/** A point to be stored. */
export interface NewPoint {
  /** The name of the collection. Its first vector sets the number of dimensions. */
  readonly collection: string;
  /** Your id of the point, unique in its collection. */
  readonly pointId: string;
  /** Finite numbers, not all zero. */
  readonly vector: VectorInput;
  /** Default: null. */
  readonly payload?: Json;
}

/** The options of `points.search`. */
export interface PointSearchOptions {
  /** Upper bound on points, 1 to 1000. Default 10. */
  readonly topK?: number;
  /** The spaces to search instead of the caller's own. */
  readonly spaces?: readonly SpaceRef[];
}

export interface ParsedPointSearch {
  readonly spaces: readonly SpaceRef[];
  readonly collection: string;
  readonly vector: Float32Array;
  readonly limit: number;
}

const TOP_K = 10;
const POINT_KEYS: ReadonlySet<string> = new Set(["collection", "pointId", "vector", "payload"]);
const SEARCH_KEYS: ReadonlySet<string> = new Set(["topK", "spaces"]);
const PAYLOAD_RULES = {
  bytesMax: METADATA_BYTES_MAX,
  tooLargeHint: "put long text into a message, and its id into the payload",
  dropUndefined: false,
};

export const parseCollection = (value: unknown): string => parseIdentity(value, "collection");

export const parsePayload = (value: unknown): Json => copyJson(value, "payload", PAYLOAD_RULES);

/** `session` is the one with which the point is forgotten. */
export function parsePoint({ space, session }: ParsedScope, point: unknown): PutPointWrite {
  const { collection, pointId, vector, payload = null } = objectWith(point, POINT_KEYS, "point");
  return {
    op: "put_point",
    space,
    ...(session !== undefined && { session }),
    collection: parseCollection(collection),
    id: parseIdentity(pointId, "pointId"),
    vector: parseVector(vector),
    payload: parsePayload(payload),
    existing: "replace",
  };
}

export function parsePointSearch(
  place: ParsedScope,
  collection: unknown,
  vector: unknown,
  options: unknown,
): ParsedPointSearch {
  const { topK, spaces } = objectWith(options ?? {}, SEARCH_KEYS, "options");
  return {
    spaces: spaces === undefined ? [place.space] : parseSpaces(spaces, "options.spaces"),
    collection: parseCollection(collection),
    vector: parseVector(vector),
    limit: topK === undefined ? TOP_K : parseInteger(topK, "options.topK", 1, RESULTS_MAX),
  };
}

/** A copy as float32. Refuses what has no direction as float32: an empty vector, zeros, and what is not finite. */
export function parseVector(value: unknown, where = "vector"): Float32Array {
  if (!Array.isArray(value) && !(value instanceof Float32Array)) throw wrongType(where, "a list of numbers", value);
  if (value.length === 0) throw invalid(where, "must have at least one number");
  if (value.length > DIMENSIONS_MAX) throw tooLarge(where, `${DIMENSIONS_MAX} numbers`, "use a model with fewer");
  const vector = new Float32Array(value.length);
  let isZero = true;
  for (let at = 0; at < value.length; at++) {
    const number: unknown = value[at];
    if (typeof number !== "number") throw wrongType(`${where}[${at}]`, "a number", number);
    vector[at] = Math.fround(number) || (Number.isNaN(number) ? number : 0); // turns -0, which JSON does not have, into 0
    if (!Number.isFinite(vector[at])) {
      throw invalid(`${where}[${at}]`, `must be a finite number of 32 bits, got ${number}`);
    }
    if (vector[at] !== 0) isZero = false;
  }
  if (isZero) throw invalid(where, "must not be all zeros", "a vector of length 0 has no direction to compare");
  return vector;
}
