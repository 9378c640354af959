/**
 * BM25 with neighbours. The messages around a message say what it is about, so each message of a session lends a share
 * of its words to those next to it, decreasing with distance. `NeighbourScorer` computes the scores.
 *
 * A long neighbour lends no more than one of `LENT_MAX` terms; otherwise its words would outweigh the message's own.
 * The speaker's name is not lent: it says who speaks, not what about. The idf of a term counts only messages that
 * contain the term themselves.
 */

/** The share of its words that a message lends to messages at distance 1, 2, 3 and 4. */
const SHARES: readonly number[] = [0.5, 0.3, 0.2, 0.1];
/** A message with more terms than this lends as much as one with exactly this many. */
const LENT_MAX = 15;

/** The largest distance at which a message lends its words: the difference of sequence numbers, gaps included. */
export const REACH = SHARES.length;

/** The share lent over this distance, before the limit on length. */
export const shareAt = (distance: number): number => SHARES[distance - 1] ?? 0;

/** The factor that keeps a message of this length within `LENT_MAX`. */
export const lendable = (length: number): number => Math.min(1, LENT_MAX / Math.max(1, length));

/** The average length of messages including borrowed words, from their average length without. */
export function averageAmong(average: number): number {
  const shares = SHARES.reduce((sum, one) => sum + one, 0);
  return average + 2 * shares * Math.min(average, LENT_MAX);
}
