/** From what scores can be at most to the best by what they are. */
import type { Near } from "../../retrieval/vectors/nearest.js";
import type { Scorer } from "./vector-file.js";

/** How many of the best are looked for at first. If that is not enough, four times as many are. */
const LOOKED_MIN = 256;
/** Items that are scored between two looks whether any other can still be better. */
const BATCH = 16;
/** So many for each one that is asked for are scored at first, if nothing better is known. */
const SPARE = 1.5;

/** So many items with the highest scores that they can have, best first; fewer if there are no more. */
export type Look = (count: number) => readonly Near[];

interface Scored {
  readonly key: number;
  readonly score: number;
}

export const bestFirst = (a: Scored, b: Scored): number => b.score - a.score || b.key - a.key;

export interface FindOptions {
  /** To score more than so many is not worth it. */
  readonly scoredMax?: number;
  /** So many of the first are scored together, if it is known how many it takes. */
  readonly first?: number;
}

/**
 * Scores items from the highest bound down, until none that is left can be among the best. Undefined if so many were not
 * enough; by default as many as there are.
 */
export function findBest<T extends Scored>(
  look: Look,
  score: Scorer<T>,
  limit: number,
  { scoredMax = Number.POSITIVE_INFINITY, first }: FindOptions = {},
): T[] | undefined {
  let found: T[] = [];
  let scored = 0;
  const looked = first === undefined ? Math.max(LOOKED_MIN, limit * 4) : first + BATCH;
  for (let count = scoredMax < Infinity ? scoredMax : looked; ; count *= 4) {
    const candidates = look(count);
    while (scored < candidates.length) {
      const worst = found[limit - 1]?.score ?? Number.NEGATIVE_INFINITY;
      if (Number(candidates[scored]?.bound) < worst) return found;
      if (scored >= scoredMax) return undefined;
      const size = scored === 0 && first !== undefined ? first : Math.ceil((limit - found.length) * SPARE);
      const batch = candidates.slice(scored, scored + Math.max(BATCH, size));
      found = [...found, ...score(batch.map(({ key }) => key))].sort(bestFirst).slice(0, limit);
      scored += batch.length;
    }
    if (candidates.length < count) return found;
    if (scored >= scoredMax) return undefined;
  }
}
