/**
 * Crowd: messages of a question's neighbourhood as columns of numbers, scored among each other.
 *
 * Each gets the score that `scoreAmong` gives it (neighbours.ts), a thousand of them at a time: every pair of neighbours is
 * looked at once, and only those that contain a term have something to lend. One by one and as objects, they took most of
 * the time of a search by words.
 *
 * Requires messages in the order of sessions and sequences; those outside any session stand anywhere.
 */
import { settled, termWeight } from "./bm25.js";
import { lendable, REACH, shareAt } from "./neighbours.js";

/** Neighbour of nobody. */
const ALONE = -1;

/** The messages with what they have borrowed. */
interface Sums {
  readonly counts: Float64Array;
  readonly lengths: Float64Array;
  readonly hasTerms: Uint8Array;
}

export class Crowd {
  readonly #terms: number;
  readonly #sessions: Float64Array;
  readonly #sequences: Float64Array;
  readonly #lengths: Float64Array;
  /** Which part of its words each can lend. */
  readonly #lends: Float64Array;
  /** For each message, how often it contains each term, its speaker's name included. */
  readonly #counts: Float64Array;
  /** The same without the name; one and the same until a name is taken off. */
  #lent: Float64Array;
  /** Whether it contains any. */
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

  /** Where a message stands, and how long it is. */
  place(at: number, session: number | null, sequence: number | null, length: number): void {
    const isPlaced = session !== null && sequence !== null;
    this.#sessions[at] = isPlaced ? session : ALONE;
    this.#sequences[at] = isPlaced ? sequence : 0;
    this.#lengths[at] = length;
    this.#lends[at] = lendable(length);
  }

  /** How often it contains each term, of which its speaker's name has so many. */
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

  /** Those of the messages, and whatever stands so near to one of them: 1 for each, 0 for the others. */
  reachedFrom(hits: Uint8Array, reach: number): Uint8Array {
    const reached = hits.slice();
    for (let at = 0; at < hits.length; at++) {
      if (hits[at] === 0) continue;
      for (let other = at - 1; this.#distance(other, at) <= reach; other--) reached[other] = 1;
      for (let other = at + 1; this.#distance(at, other) <= reach; other++) reached[other] = 1;
    }
    return reached;
  }

  /** The least of these numbers among each message and its neighbours. */
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

  /** The score of each message. `rarities` are the idf of the terms, `average` is what `averageAmong` gives. */
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
      scores[at] = settled(score);
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

  /** From one message to a later one; infinite if they are not of one session, or one does not exist. */
  #distance(one: number, later: number): number {
    const session = this.#sessions[one];
    if (session === undefined || session === ALONE || session !== this.#sessions[later]) return Infinity;
    return (this.#sequences[later] as number) - (this.#sequences[one] as number);
  }
}
