/**
 * BM25 with neighbours. The messages around a message say what it is about, so each message of a session lends a share
 * of its words to those next to it, decreasing with distance.
 *
 * A long neighbour lends no more than one of `LENT_MAX` terms; otherwise its words would outweigh the message's own.
 * The speaker's name is not lent: it says who speaks, not what about. The idf of a term counts only messages that
 * contain the term themselves.
 */
import { roundScore, termWeight } from "./bm25.js";

/** The share of its words that a message lends to messages at distance 1, 2, 3 and 4. */
const SHARES: readonly number[] = [0.5, 0.3, 0.2, 0.1];
/** A message with more terms than this lends as much as one with exactly this many. */
const LENT_MAX = 15;

/** The largest distance at which a message lends its words: the difference of sequence numbers, gaps included. */
export const REACH = SHARES.length;

/** A message with its counts of the question's terms, in the order of the terms. An empty array stands for zeros. */
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

/** The share lent over this distance, before the limit on length. */
export const shareAt = (distance: number): number => SHARES[distance - 1] ?? 0;

/** The factor that keeps a message of this length within `LENT_MAX`. */
export const lendable = (length: number): number => Math.min(1, LENT_MAX / Math.max(1, length));

/** The average length of messages including borrowed words, from their average length without. */
export function averageAmong(average: number): number {
  const shares = SHARES.reduce((sum, one) => sum + one, 0);
  return average + 2 * shares * Math.min(average, LENT_MAX);
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
