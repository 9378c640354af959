/** From what scores can be at most to the best by what they are. */
import type { Near } from "../../retrieval/vectors/nearest.js";
import type { VectorScored } from "../indexing.js";
import type { Scorer } from "./vector-file.js";

/** How many of the best are looked for at first. If that is not enough, four times as many are. */
const LOOKED_MIN = 256;
/** Items that are scored between two looks whether any other can still be better; at first a few more than asked for. */
const BATCH = 16;
const SPARE = 1.5;

/** So many items with the highest scores that they can have, best first; fewer if there are no more. */
export type Look = (count: number) => readonly Near[];

export const bestFirst = (a: VectorScored, b: VectorScored): number => b.score - a.score || b.key - a.key;

/**
 * Scores items from the highest bound down, until none that is left can be among the best. Undefined if so many were not
 * enough; by default as many as there are.
 */
export function findBest(
  look: Look,
  score: Scorer,
  limit: number,
  scoredMax = Number.POSITIVE_INFINITY,
): VectorScored[] | undefined {
  let found: VectorScored[] = [];
  let scored = 0;
  for (let count = scoredMax < Infinity ? scoredMax : Math.max(LOOKED_MIN, limit * 4); ; count *= 4) {
    const candidates = look(count);
    while (scored < candidates.length) {
      const worst = found[limit - 1]?.score ?? Number.NEGATIVE_INFINITY;
      if (Number(candidates[scored]?.bound) < worst) return found;
      if (scored >= scoredMax) return undefined;
      const batch = candidates.slice(scored, scored + Math.max(BATCH, Math.ceil((limit - found.length) * SPARE)));
      found = [...found, ...score(batch.map(({ key }) => key))].sort(bestFirst).slice(0, limit);
      scored += batch.length;
    }
    if (candidates.length < count) return found;
    if (scored >= scoredMax) return undefined;
  }
}
