import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idf, termWeight } from "../../../retrieval/words/bm25.js";
import { isUnsure, LENGTHS, Postings, STEPS } from "./word-reader.js";

interface Item {
  readonly key: number;
  readonly length: number;
  readonly counts: readonly number[];
}

/** What the index has of the items: a list for each term, and one for each step of counts. */
function postingsOf(items: readonly Item[], terms: number): Postings {
  const postings = new Postings(terms);
  const rows = (term: number, from: number) =>
    items
      .filter(({ counts }) => (counts[term] ?? 0) >= from)
      .map(({ key, length }) => key * LENGTHS + Math.min(length, LENGTHS - 1));
  for (let term = 0; term < terms; term++) {
    postings.add(term, rows(term, 1));
    for (const { from } of STEPS) postings.raise(term, rows(term, from), from);
  }
  return postings;
}

const TERMS = 3;
const drawn = fc.uniqueArray(
  fc.record({
    key: fc.integer({ min: 1, max: 2 ** 42 }),
    length: fc.nat(2_000),
    counts: fc.tuple(fc.nat(40), fc.nat(5), fc.nat(2)),
  }),
  { selector: ({ key }) => key, maxLength: 200 },
);

describe("postings", () => {
  it("report counts exactly, or mark them as inexact", () => {
    fc.assert(
      fc.property(drawn, (items) => {
        const postings = postingsOf(items, TERMS);
        for (const { key, counts } of items) {
          const told = postings.countsOf(key);
          if (counts.every((count) => count === 0)) expect(told).toBeUndefined();
          else if (told && !isUnsure(told)) expect([...told]).toEqual(counts);
          else expect(counts.some((count) => count >= 4)).toBe(true);
        }
        expect(postings.size).toBe(items.filter(({ counts }) => counts.some((count) => count > 0)).length);
      }),
    );
  });

  it("rank no item below one that it is better than, unless that may be better yet", () => {
    const rarities = [idf(1_000, 20), idf(1_000, 300), idf(1_000, 5)];
    const score = ({ counts, length }: Item, most: (count: number) => number): number =>
      counts.reduce((sum, count, at) => {
        const weight = count === 0 ? 0 : termWeight(most(count), Math.min(length, LENGTHS - 1), 20);
        return sum + (rarities[at] ?? 0) * weight;
      }, 0);
    const most = (count: number): number => STEPS.findLast(({ from }) => count >= from)?.most ?? count;
    fc.assert(
      fc.property(drawn, (items) => {
        const byKey = new Map(items.map((item) => [item.key, item]));
        const ranked = postingsOf(items, TERMS).ranked(rarities, 20);
        const keysOf = (from: number, to: number) => ranked.slice(from, to).map(({ key }) => key);
        const keys = keysOf(0, ranked.size);
        const bounds = keys.map((key) => score(byKey.get(key) as Item, most));
        expect(bounds).toEqual(bounds.toSorted((a, b) => b - a));
        const half = Math.floor(ranked.size / 2);
        expect([...keysOf(0, half), ...keysOf(half, ranked.size + 3)]).toEqual(keys);
      }),
    );
  });

  it("of the newest alone do not know what older ones contain", () => {
    const postings = new Postings(1);
    postings.add(0, [5 * LENGTHS + 1]);
    postings.raise(0, [5 * LENGTHS + 1, 2 * LENGTHS + 1], 2);
    expect(postings.countsOf(2)).toBeUndefined();
    expect(postings.countsOf(5)).toEqual(Uint8Array.of(2));
  });
});
