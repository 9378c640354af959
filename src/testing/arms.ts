/**
 * Runs one arm of a search at a time, for tests: what words alone find, or vectors alone, with that arm's own score. A
 * ranking reports what both arms gave to each item (`Why`), so this uses nothing but the Store contract.
 */
import { HoldfastError } from "../errors.js";
import { NEAREST } from "../retrieval/fusion.js";
import type { Lookup } from "../retrieval/words/lookups.js";
import { type FreshScore, type OutsideHits, type Ranked, type SearchRequest, WORDS_MIN } from "../stores/search.js";
import type { RowFilter, Store } from "../stores/store.js";
import type { Role, SpaceRef, VectorSpace } from "../types.js";

/** An item that was found, with the score of the arm. */
export interface Scored {
  readonly space: SpaceRef;
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly score: number;
  readonly role?: Role;
  readonly occurredAt: number;
  readonly sessionId?: string;
  readonly until?: number;
}

interface ArmRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
}

export interface WordsRequest extends ArmRequest {
  readonly terms: readonly string[];
  /** Score these items as well, even those that contain none of the terms. */
  readonly keys?: readonly number[];
}

export interface VectorsRequest extends ArmRequest {
  readonly vectorSpace: VectorSpace;
  readonly vector: Float32Array;
  readonly fresh?: readonly FreshScore[];
  readonly outside?: OutsideHits;
  readonly readyMs?: number;
}

const HINTS = { refersBack: false, dates: [], recency: 0, askedAt: 0 };
/** A vector space that no store has. */
const NOWHERE: VectorSpace = { model: "none", runtime: "none", dimensions: 1 };

/** Best first by words, ties newest first. With `keys`, exactly those. */
export async function searchWords(store: Store, request: WordsRequest): Promise<readonly Scored[]> {
  const { terms, keys, limit, ...scope } = request;
  const vector = keys && (await asFresh(store, request, keys));
  const { found } = await store.search({
    ...scope,
    terms,
    lookups: [],
    ...(vector && { vector }),
    hints: HINTS,
    limit: Math.max(limit, WORDS_MIN) + (keys?.length ?? 0), // all candidates
  });
  const wanted = keys && new Set(keys);
  const scored = found.filter(({ key, why }) => (wanted ? wanted.has(key) : (why.words?.score ?? 0) > 0));
  const hits = await withHeaders(store, request, scored, ({ why }) => why.words?.score ?? 0);
  return wanted ? hits : hits.slice(0, limit);
}

/** Nearest first, ties newest first. */
export async function searchVectors(store: Store, request: VectorsRequest): Promise<readonly Scored[]> {
  const { vectorSpace, vector, fresh = [], outside, readyMs = 60_000, limit, ...scope } = request;
  const { found, vectors } = await store.search({
    ...scope,
    terms: [],
    lookups: [],
    vector: { space: vectorSpace, numbers: vector, fresh, freshOnly: false, readyMs, ...(outside && { outside }) },
    hints: HINTS,
    limit: Math.max(limit, NEAREST), // all candidates
  });
  if (vectors.missing === "loading") throw new HoldfastError("loading", "the vectors were not loaded in time");
  const scored = found.filter(({ why }) => why.meaning !== undefined);
  return (await withHeaders(store, request, scored, ({ why }) => why.meaning?.score ?? 0)).slice(0, limit);
}

/** The items that contain identifiers, each with the quality of its match. */
export async function searchExact(
  store: Store,
  { lookups, limit, ...scope }: ArmRequest & { readonly lookups: readonly Lookup[] },
): Promise<readonly { readonly id: string; readonly exact: number }[]> {
  const { found } = await store.search({ ...scope, terms: [], lookups, hints: HINTS, limit });
  return found.map(({ id, why }) => ({ id, exact: why.exact }));
}

/** Makes items candidates, whatever their words. */
async function asFresh(
  store: Store,
  { spaces, now }: ArmRequest,
  keys: readonly number[],
): Promise<SearchRequest["vector"]> {
  const items = await store.read({ spaces, keys, filter: {}, now });
  const fresh = items.map(({ key, version }) => ({ key, version, score: 1, level: "hybrid" as const, borrowed: [] }));
  return { space: NOWHERE, numbers: new Float32Array(1), fresh, freshOnly: true, readyMs: 0 };
}

async function withHeaders(
  store: Store,
  { spaces, now }: ArmRequest,
  ranked: readonly Ranked[],
  scoreOf: (ranked: Ranked) => number,
): Promise<readonly Scored[]> {
  const items = await store.read({ spaces, keys: ranked.map(({ key }) => key), filter: {}, now });
  const byKey = new Map(items.map((item) => [item.key, item]));
  const hits = ranked.flatMap((one): Scored | readonly Scored[] => {
    const item = byKey.get(one.key);
    if (!item) return [];
    const { key, id, version, until } = one;
    const { space, role, occurredAt, sessionId } = item;
    return {
      space,
      key,
      id,
      version,
      score: scoreOf(one),
      ...(role !== undefined && { role }),
      occurredAt,
      ...(sessionId !== undefined && { sessionId }),
      ...(until !== undefined && { until }),
    };
  });
  return hits.sort((a, b) => b.score - a.score || b.key - a.key);
}
