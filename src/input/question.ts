/**
 * Question: a parsed query for the read path. Its spaces are resolved and its filter includes the restriction by
 * `within`.
 */
import type { SortBy } from "../options.js";
import type { RowFilter } from "../stores/store.js";
import type { Order, SpaceRef } from "../types.js";

/** The two ways to search. */
export const ARMS = ["words", "meaning"] as const;
export type By = (typeof ARMS)[number];

/** The fields that determine the ranking. */
export interface Question {
  /** Normalised: texts that differ only in white space or Unicode form are the same question. */
  readonly text: string;
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  /** Lower bound on the ranked items to return. */
  readonly depth: number;
  /** Search only the RoundBuffer's tail and the HybridBuffer. */
  readonly bufferOnly: boolean;
  /** Search only in this way. Default: both. */
  readonly by?: By;
  /** The time that "last week" is relative to, if the caller gives one. Default: now. */
  readonly askedAt?: number;
  /** The share of the score by which new items are preferred to old ones, 0 to 1. */
  readonly recency: number;
  /** Time limit. The answer then contains what is available. */
  readonly deadlineMs?: number;
}

/** How the ranking is presented. */
export interface Presentation {
  readonly topK: number;
  readonly offset: number;
  readonly sortBy: SortBy;
  readonly order: Order;
  /** Hits explain their scores, and the answer explains how it was produced. Such answers are not cached. */
  readonly explain?: {
    /** Items for which the answer explains why they are not among the hits. */
    readonly ids: readonly string[];
  };
}
