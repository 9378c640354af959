/**
 * Search in the Store contract: one call, on one snapshot, that returns a ranking.
 *
 * A search has two arms, words and vectors. Each arm finds candidates and then scores those that only the other arm
 * found. Fusion (retrieval/fusion.ts) merges both into one ranking. All reads use one consistent snapshot of the store,
 * so both arms see the same edits and forgets.
 *
 * The shared half is pure code over numbers: BM25 with neighbours (retrieval/words), exact matches
 * (retrieval/question), nearest vectors (retrieval/vectors), fusion. A store supplies the other half: which items a
 * scope may see, postings, item headers and vectors.
 *
 * Guarantees of every implementation:
 * - A search never returns items that are outside the spaces, expired, or excluded by the filter. The filter restricts
 *   the results, not the neighbours that contribute words.
 * - The statistics of a space (document counts, lengths) come from that space alone.
 * - Scores are exact for every item in the result.
 */
import type { RankingHints } from "../retrieval/fusion.js";
import type { Lookup } from "../retrieval/words/lookups.js";
import type { Level, SpaceRef, VectorSpace, Why } from "../types.js";
import type { RowFilter } from "./store.js";

/**
 * The minimum number of candidates from the word arm. An item that ranks low by words may rank high by meaning; more
 * candidates than this improve results very little.
 */
export const WORDS_MIN = 128;

export interface SearchRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly now: number;
  /** Distinct analysed terms (retrieval/words). If empty, the search uses vectors alone. */
  readonly terms: readonly string[];
  /** Identifiers found in the question. */
  readonly lookups: readonly Lookup[];
  /** If absent, the search uses words alone. */
  readonly vector?: QuestionVector;
  readonly hints: RankingHints;
  /** The maximum number of results. */
  readonly limit: number;
}

export interface QuestionVector {
  readonly space: VectorSpace;
  /** A vector of unit length. */
  readonly numbers: Float32Array;
  /** Scores of items whose vectors are not in the store yet. They override the store's own scores for these items. */
  readonly fresh: readonly FreshScore[];
  /** Hits of an external index. If given, the store searches only those of its own vectors that the index may lack. */
  readonly outside?: OutsideHits;
  /** Compare with the fresh vectors only. */
  readonly freshOnly: boolean;
  /**
   * How long the store may spend loading vectors into memory, in milliseconds. After that the search continues without
   * them.
   */
  readonly readyMs: number;
}

/**
 * The score of a vector that exists only in memory. It is valid only while the item and all items whose text it
 * includes are unchanged.
 */
export interface FreshScore {
  readonly key: number;
  readonly version: number;
  readonly score: number;
  readonly level: Level;
  /** The other items whose text the vector was computed from. */
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

export interface OutsideHits {
  /** The best score of each item. */
  readonly items: readonly { readonly key: number; readonly score: number }[];
  /** Items that the index had not received when it was queried. */
  readonly unsent: readonly number[];
}

/** A reference to a found item, with its place in the ranking. The content is read at the end, with `read`. */
export interface Ranked {
  /** The store's number of the item. It is never reused. */
  readonly key: number;
  readonly id: string;
  readonly version: number;
  /** When the item, or a neighbour that contributes words to it, expires. */
  readonly until?: number;
  /** The fused score. `why` lists its components. */
  readonly score: number;
  readonly level: Level;
  readonly why: Why;
}

/** How many items an arm found, and how long it took. */
export interface ArmReport {
  readonly found: number;
  readonly ms: number;
}

export interface SearchResult {
  /** Best first; ties newest first. */
  readonly found: readonly Ranked[];
  /** The number of scored items. */
  readonly candidates: number;
  /** True if the passage of time alone may change the ranking, because a candidate expires. */
  readonly isClockBound: boolean;
  /** Keys of fresh scores whose items have since changed or been removed. */
  readonly outdated: readonly number[];
  readonly words: ArmReport;
  /** The number of fresh vectors among the nearest. */
  readonly fresh: number;
  /**
   * `loading`: the vectors of a space were not loaded in time, so vectors score only the items that words found.
   * `memory`: likewise, because there is no memory for them.
   * `other_space`: the store's vectors belong to another vector space, or it has none.
   */
  readonly vectors: ArmReport & { readonly missing?: "loading" | "memory" | "other_space" };
}
