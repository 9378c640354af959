/**
 * Postings: which items of a space contain a question's terms, and how often, as the words index has it. Nothing of the
 * items themselves is read for it.
 *
 * The index tells counts up to three exactly, and greater ones as the step they reach: 4, 8, 16 or 32 (`isUnsure`). Then
 * the words stored with the item have to be looked at. In rankings a step counts as the most that it stands for, so that
 * no item is passed over that may be among the best.
 */
import { termWeight } from "../../retrieval/words/bm25.js";
import { KeySieve } from "../key-sieve.js";
import { RankedKeys } from "./ranked-keys.js";

/** Row ids of the words index are key × this + length, and the length is cut at this. */
export const LENGTHS = 1024;

/** Counts from which on an item is in a list of its own, and the most that each stands for. */
export const STEPS: readonly { readonly from: number; readonly most: number }[] = [
  { from: 2, most: 2 },
  { from: 3, most: 3 },
  { from: 4, most: 7 },
  { from: 8, most: 15 },
  { from: 16, most: 31 },
  { from: 32, most: 256 },
];
const MOST: ReadonlyMap<number, number> = new Map(STEPS.map(({ from, most }) => [from, most]));
const UNSURE = 4;

export class Postings {
  readonly #terms: number;
  /** Where an item's numbers lie. */
  readonly #places = new Map<number, number>();
  readonly #sieve = new KeySieve();
  readonly #keys: number[] = [];
  readonly #lengths: number[] = [];
  /** For each item, the count of each term. */
  #counts: Uint8Array;

  constructor(terms: number) {
    this.#terms = terms;
    this.#counts = new Uint8Array(terms * 64);
  }

  /** How many items contain a term. */
  get size(): number {
    return this.#keys.length;
  }

  /** These rows have the term. */
  add(term: number, rows: readonly number[]): void {
    for (const row of rows) {
      const place = this.#placeOf(row);
      this.#counts[place * this.#terms + term] = 1;
    }
  }

  /** Of those that have the term, these have it so many times at least. */
  raise(term: number, rows: readonly number[], count: number): void {
    for (const row of rows) {
      const place = this.#places.get(Math.floor(row / LENGTHS));
      if (place !== undefined) this.#counts[place * this.#terms + term] = count;
    }
  }

  #placeOf(row: number): number {
    const key = Math.floor(row / LENGTHS);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#keys.length;
    this.#places.set(key, place);
    this.#sieve.add(key);
    this.#keys.push(key);
    this.#lengths.push(row % LENGTHS);
    if ((place + 1) * this.#terms > this.#counts.length) this.#grow();
    return place;
  }

  #grow(): void {
    const counts = new Uint8Array(this.#counts.length * 2);
    counts.set(this.#counts);
    this.#counts = counts;
  }

  /** How often the item contains each term; undefined if it contains none. */
  countsOf(key: number): Uint8Array | undefined {
    const place = this.#sieve.mayHave(key) ? this.#places.get(key) : undefined;
    return place === undefined ? undefined : this.#counts.subarray(place * this.#terms, (place + 1) * this.#terms);
  }

  /** The items by what their own words score. */
  ranked(rarities: readonly number[], average: number): RankedKeys {
    const scores = new Float64Array(this.size);
    for (let place = 0; place < this.size; place++) {
      let score = 0;
      for (let term = 0; term < this.#terms; term++) {
        const count = this.#counts[place * this.#terms + term];
        if (!count) continue;
        score += (rarities[term] ?? 0) * termWeight(MOST.get(count) ?? count, this.#lengths[place] ?? 0, average);
      }
      scores[place] = score;
    }
    return new RankedKeys(this.#keys, scores);
  }
}

/** Whether a term may occur more often than is told. */
export function isUnsure(counts: ArrayLike<number>): boolean {
  for (let term = 0; term < counts.length; term++) if (Number(counts[term]) >= UNSURE) return true;
  return false;
}
