/** A ranking: what a question found, best first, by reference and without content. */
import type { Scored } from "../../stores/store.js";
import type { Explanation, Level, SourceReport, Why } from "../../types.js";

/** A found item in its place: what an answer is made of, and no more, because rankings are kept. */
export interface Ranked extends Pick<Scored, "key" | "id" | "version" | "until"> {
  /** The fused one, made of what `why` says. */
  readonly score: number;
  readonly level: Level;
  readonly why: Why;
}

export interface Ranking {
  /** As many as the question is deep, or all there are. */
  readonly found: readonly Ranked[];
  /** How many were looked at. */
  readonly candidates: number;
  /** Something was left out, to keep a deadline or because it was not ready. */
  readonly partial: boolean;
  /** Why the question was answered by words alone, if it was. */
  readonly degraded?: string;
  /** True when the same question may get another answer later though nothing is written: "last week", an item that expires. */
  readonly isClockBound: boolean;
  /** What each source was asked and gave. */
  readonly sources: readonly SourceReport[];
  /** How the question was read. */
  readonly reading: Explanation["question"];
}
