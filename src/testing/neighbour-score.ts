/** The score of one message among its neighbours, the slow and obvious way: a reference for `NeighbourScorer`. */
import { roundScore, termWeight } from "../retrieval/words/bm25.js";
import { lendable, shareAt } from "../retrieval/words/neighbours.js";

/** A message with its counts of the question's terms, in the order of the terms. An empty array means that all counts are zero. */
export interface Text {
  /** Its sequence number in its session; undefined outside any session. */
  readonly sequence?: number | undefined;
  /** The `contentLength` of all its words. */
  readonly length: number;
  /** The count of each term, the speaker's name included. */
  readonly counts: ArrayLike<number>;
  /** The same counts without the speaker's name. */
  readonly lent: ArrayLike<number>;
}

/** The share of its words that a message of this length lends over this distance. */
export function share(distance: number, length: number): number {
  return shareAt(distance) * lendable(length);
}

/**
 * The score of a message. `around` are messages of its session in any order; the message itself and messages out of
 * reach are ignored. `rarities` are the idf of the terms, `average` is the result of `averageAmong`.
 */
export function scoreAmong(text: Text, around: readonly Text[], rarities: readonly number[], average: number): number {
  const counts = new Array<number>(rarities.length).fill(0);
  for (let at = 0; at < text.counts.length; at++) counts[at] = text.counts[at] as number;
  let length = text.length;
  for (const neighbour of around) {
    const lends = share(distance(text, neighbour), neighbour.length);
    if (lends === 0) continue;
    length += lends * neighbour.length;
    const { lent } = neighbour;
    for (let at = 0; at < lent.length; at++) counts[at] = (counts[at] as number) + lends * (lent[at] as number);
  }
  let score = 0;
  for (let at = 0; at < counts.length; at++) {
    const count = counts[at] as number;
    if (count > 0) score += (rarities[at] as number) * termWeight(count, length, average);
  }
  return roundScore(score);
}

/** Infinite if either message is in no session. */
function distance({ sequence: one }: Text, { sequence: other }: Text): number {
  return one === undefined || other === undefined ? Infinity : Math.abs(one - other);
}
