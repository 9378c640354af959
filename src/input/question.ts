/** A question as the read path sees it: parsed, with its place, its spaces and the filter of `within` worked in. */
import type { SortBy } from "../options.js";
import type { RowFilter } from "../stores/store.js";
import type { Order, SpaceRef } from "../types.js";

/** The two ways to search. */
export const ARMS = ["words", "meaning"] as const;
export type By = (typeof ARMS)[number];

/** What decides the ranking. */
export interface Question {
  /** Normalised: what differs only in white space or Unicode form is the same question. */
  readonly text: string;
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  /** How many ranked items are wanted at least. */
  readonly depth: number;
  /** Ask only the RoundBuffer's tail and the HybridBuffer. */
  readonly bufferOnly: boolean;
  /** Search by this alone; left out, by both. */
  readonly by?: By;
  /** The time that "last week" is counted from, if the caller says so; else now. */
  readonly askedAt?: number;
  /** Share of the score that new items have before old ones, 0 to 1. */
  readonly recency: number;
  /** The answer is given when this has passed, with what is there by then. */
  readonly deadlineMs?: number;
}

/** How the ranking is shown. */
export interface Presentation {
  readonly topK: number;
  readonly offset: number;
  readonly sortBy: SortBy;
  readonly order: Order;
  /** Hits say what their scores are made of, and the answer how it came about. Such answers are not kept. */
  readonly explain?: {
    /** Items about which it says why they are not among the hits. */
    readonly ids: readonly string[];
  };
}
