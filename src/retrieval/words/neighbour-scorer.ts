/**
 * NeighbourScorer: scores many messages with the words that their neighbours lend them (neighbours.ts).
 *
 * Messages are columns of numbers and are scored together: every pair of neighbours is visited once, and neighbours that
 * contain no term are skipped.
 *
 * Requires messages ordered by session and sequence. Messages outside any session may be anywhere.
 */
import { roundScore, termWeight } from "./bm25.js";
import { lendable, REACH, shareAt } from "./neighbours.js";

/** The session number of a message that has no neighbours. */
const ALONE = -1;

/** The messages including the words they borrow. */
interface Sums {
  readonly counts: Float64Array;
  readonly lengths: Float64Array;
  readonly hasTerms: Uint8Array;
}

export class NeighbourScorer {
  readonly #terms: number;
  readonly #sessions: Float64Array;
  readonly #sequences: Float64Array;
  readonly #lengths: Float64Array;
  /** The factor of each message's words that it can lend (`lendable`). */
  readonly #lends: Float64Array;
  /** For each message, the count of each term, the speaker's name included. */
  readonly #counts: Float64Array;
  /** The same without the speaker's name. Shares the array of `#counts` until a name has to be subtracted. */
  #lent: Float64Array;
  /** 1 for each message that contains any term. */
  readonly #hasTerms: Uint8Array;

  constructor(size: number, terms: number) {
    this.#terms = terms;
    this.#sessions = new Float64Array(size);
    this.#sequences = new Float64Array(size);
    this.#lengths = new Float64Array(size);
    this.#lends = new Float64Array(size);
    this.#counts = new Float64Array(size * terms);
    this.#lent = this.#counts;
    this.#hasTerms = new Uint8Array(size);
  }

  /** Sets the position of a message in its session, and its length. */
  place(at: number, session: number | null, sequence: number | null, length: number): void {
    const isPlaced = session !== null && sequence !== null;
    this.#sessions[at] = isPlaced ? session : ALONE;
    this.#sequences[at] = isPlaced ? sequence : 0;
    this.#lengths[at] = length;
    this.#lends[at] = lendable(length);
  }

  /** Sets the counts of a message's terms. `named` are the counts within its speaker's name. */
  count(at: number, counts: ArrayLike<number>, named?: readonly number[]): void {
    const from = at * this.#terms;
    if (named && this.#lent === this.#counts) this.#lent = this.#counts.slice();
    for (let term = 0; term < counts.length; term++) {
      const count = counts[term] as number;
      if (count > 0) this.#hasTerms[at] = 1;
      this.#counts[from + term] = count;
      this.#lent[from + term] = named ? count - (named[term] as number) : count;
    }
  }

  hasTerms(at: number): boolean {
    return this.#hasTerms[at] === 1;
  }

  /** Marks (as 1) the messages of `hits` and all messages within `reach` of one of them. */
  reachedFrom(hits: Uint8Array, reach: number): Uint8Array {
    const reached = hits.slice();
    for (let at = 0; at < hits.length; at++) {
      if (hits[at] === 0) continue;
      for (let other = at - 1; this.#distance(other, at) <= reach; other--) reached[other] = 1;
      for (let other = at + 1; this.#distance(at, other) <= reach; other++) reached[other] = 1;
    }
    return reached;
  }

  /** The minimum of these numbers over each message and its neighbours. */
  leastAround(numbers: Float64Array): Float64Array {
    const least = numbers.slice();
    for (let one = 0; one < numbers.length; one++) {
      for (let other = one + 1; this.#distance(one, other) <= REACH; other++) {
        least[one] = Math.min(least[one] as number, numbers[other] as number);
        least[other] = Math.min(least[other] as number, numbers[one] as number);
      }
    }
    return least;
  }

  /** The score of each message. `rarities` are the idf of the terms, `average` is the result of `averageAmong`. */
  scores(rarities: readonly number[], average: number): Float64Array {
    const terms = this.#terms;
    const sums: Sums = {
      counts: this.#counts.slice(),
      lengths: this.#lengths.slice(),
      hasTerms: this.#hasTerms.slice(),
    };
    for (let one = 0; one < this.#lengths.length; one++) {
      for (let other = one + 1; ; other++) {
        const distance = this.#distance(one, other);
        if (distance > REACH) break;
        this.#lend(other, one, distance, sums);
        this.#lend(one, other, distance, sums);
      }
    }
    const scores = new Float64Array(this.#lengths.length);
    for (let at = 0; at < scores.length; at++) {
      if (sums.hasTerms[at] === 0) continue;
      const length = sums.lengths[at] as number;
      let score = 0;
      for (let term = 0; term < terms; term++) {
        const count = sums.counts[at * terms + term] as number;
        if (count > 0) score += (rarities[term] as number) * termWeight(count, length, average);
      }
      scores[at] = roundScore(score);
    }
    return scores;
  }

  #lend(from: number, to: number, distance: number, sums: Sums): void {
    const length = this.#lengths[from] as number;
    const lends = shareAt(distance) * (this.#lends[from] as number);
    sums.lengths[to] = (sums.lengths[to] as number) + lends * length;
    if (this.#hasTerms[from] === 0) return;
    sums.hasTerms[to] = 1;
    const terms = this.#terms;
    for (let term = 0; term < terms; term++) {
      const place = to * terms + term;
      sums.counts[place] = (sums.counts[place] as number) + lends * (this.#lent[from * terms + term] as number);
    }
  }

  /** The distance from one message to a later one; infinite if they are not in one session, or one does not exist. */
  #distance(one: number, later: number): number {
    const session = this.#sessions[one];
    if (session === undefined || session === ALONE || session !== this.#sessions[later]) return Infinity;
    return (this.#sequences[later] as number) - (this.#sequences[one] as number);
  }
}
