/**
 * BM25 of a message among its neighbours: what is said around a message tells what it is about, so the messages next to
 * it in its session lend it their words, the nearer the more.
 *
 * A long neighbour lends as much as one of `LENT_MAX` terms, or it would drown what it stands beside. Nobody lends the
 * name of its speaker: it says who speaks there, not what about. How rare a term is follows from those who contain it
 * themselves.
 */
import { settled, termWeight } from "./bm25.js";

/** What a message lends to those at distance 1, 2, 3, 4: this share of its words. */
const SHARES: readonly number[] = [0.5, 0.3, 0.2, 0.1];
/** Of a message with more terms than this, a neighbour gets no more than of one with this many. */
const LENT_MAX = 15;

/** How far a message lends its words. Gaps count: distance is the difference of sequence numbers. */
export const REACH = SHARES.length;

/** A message as a question sees it. Counts stand in the order of the question's terms; none at all means all are 0. */
export interface Text {
  /** Its place in its session; undefined outside any. */
  readonly sequence?: number | undefined;
  /** `contentLength` of all its words. */
  readonly length: number;
  /** How often it contains each term, its speaker's name included. */
  readonly counts: ArrayLike<number>;
  /** The same without the speaker's name. */
  readonly lent: ArrayLike<number>;
}

/** How much of its words a message of this length lends over this distance. */
export function share(distance: number, length: number): number {
  return shareAt(distance) * lendable(length);
}

/** Of what a message can lend, so much gets as far as this. */
export const shareAt = (distance: number): number => SHARES[distance - 1] ?? 0;

/** Which part of the words of a message of this length can be lent. */
export const lendable = (length: number): number => Math.min(1, LENT_MAX / Math.max(1, length));

/** The average length of messages with what they borrow, from their own average. */
export function averageAmong(average: number): number {
  const shares = SHARES.reduce((sum, one) => sum + one, 0);
  return average + 2 * shares * Math.min(average, LENT_MAX);
}

/**
 * The score of a message. `around` are messages of its session, in any order; itself and those out of reach are passed
 * over. `rarities` are the idf of the terms, `average` is what `averageAmong` gives.
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
  return settled(score);
}

/** Infinite where one of them is in no session. */
function distance({ sequence: one }: Text, { sequence: other }: Text): number {
  return one === undefined || other === undefined ? Infinity : Math.abs(one - other);
}
