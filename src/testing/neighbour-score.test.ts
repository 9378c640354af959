import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { averageAmong, REACH } from "../retrieval/words/neighbours.js";
import { scoreAmong, share, type Text } from "./neighbour-score.js";

/** A message of a session that contains one term `count` times. */
const said = (sequence: number | undefined, length: number, count: number, lent = count): Text => ({
  sequence,
  length,
  counts: [count],
  lent: [lent],
});

/** BM25 with k1 = 0.9 and b = 0.75, written out. */
const bm25 = (count: number, relativeLength: number): number =>
  (count * 1.9) / (count + 0.9 * (0.25 + 0.75 * relativeLength));

describe("the share that a message lends", () => {
  test("falls with the distance, and is zero beyond four", () => {
    expect([1, 2, 3, 4, 5].map((distance) => share(distance, 10))).toEqual([0.5, 0.3, 0.2, 0.1, 0]);
    expect(REACH).toBe(4);
    expect(share(0, 10)).toBe(0);
    expect(share(Infinity, 10)).toBe(0);
  });

  test("of a long message equals that of fifteen terms", () => {
    expect([0, 1, 15].map((length) => share(1, length))).toEqual([0.5, 0.5, 0.5]);
    expect(share(1, 30)).toBe(0.25);
    expect(share(2, 150)).toBeCloseTo(0.03, 12);
  });
});

test("the average grows by the length that eight neighbours of average length lend", () => {
  expect(averageAmong(10)).toBeCloseTo(10 + 2 * (0.5 + 0.3 + 0.2 + 0.1) * 10, 12);
  expect(averageAmong(100)).toBeCloseTo(100 + 2.2 * 15, 12);
  expect(averageAmong(0)).toBe(0);
});

describe("a score", () => {
  test("without neighbours is BM25 against the grown average", () => {
    expect(scoreAmong(said(undefined, 12, 2), [], [1.5], 20)).toBeCloseTo(1.5 * bm25(2, 12 / 20), 9);
  });

  test("adds what neighbours lend, to counts and length alike", () => {
    const around = [said(3, 10, 1), said(4, 8, 3), said(6, 30, 2), said(9, 4, 1), said(10, 5, 7)];
    const count = 1 + 0.3 * 1 + 0.5 * 3 + 0.5 * 0.5 * 2 + 0.1 * 1;
    const length = 6 + 0.3 * 10 + 0.5 * 8 + 0.5 * 0.5 * 30 + 0.1 * 4;
    expect(scoreAmong(said(5, 6, 1), around, [2], 32)).toBeCloseTo(2 * bm25(count, length / 32), 9);
  });

  test("includes lent words, but not a neighbour's own name", () => {
    expect(scoreAmong(said(1, 5, 0), [said(2, 5, 1, 0)], [2], 16)).toBe(0);
    const own = scoreAmong(said(1, 5, 1, 0), [], [2], 16);
    expect(own).toBeCloseTo(2 * bm25(1, 5 / 16), 9);
  });

  test("sums over the terms, each weighted by its idf", () => {
    const text: Text = { sequence: 1, length: 4, counts: [1, 0, 2], lent: [1, 0, 2] };
    const neighbour: Text = { sequence: 2, length: 6, counts: [0, 4, 0], lent: [0, 4, 0] };
    const relative = (4 + 0.5 * 6) / 14;
    expect(scoreAmong(text, [neighbour], [1, 2, 3], 14)).toBeCloseTo(
      bm25(1, relative) + 2 * bm25(0.5 * 4, relative) + 3 * bm25(2, relative),
      9,
    );
  });

  test("ignores the message itself, messages too far away, and all messages outside a session", () => {
    const alone = scoreAmong(said(5, 6, 1), [], [2], 32);
    expect(scoreAmong(said(5, 6, 1), [said(5, 6, 1), said(10, 9, 9), said(-1, 9, 9)], [2], 32)).toBe(alone);
    expect(scoreAmong(said(undefined, 6, 1), [said(1, 9, 9), said(undefined, 9, 9)], [2], 32)).toBe(alone);
    expect(scoreAmong(said(5, 6, 1), [said(undefined, 9, 9)], [2], 32)).toBe(alone);
  });

  test("is 0 without own or lent occurrences, even if all lengths are zero", () => {
    const nothing: Text = { sequence: 1, length: 0, counts: [], lent: [] };
    expect(scoreAmong(nothing, [], [2, 3], 0)).toBe(0);
    expect(scoreAmong(nothing, [{ ...nothing, sequence: 2 }], [2, 3], 0)).toBe(0);
    expect(scoreAmong({ ...nothing, counts: [1, 0] }, [], [2, 3], 0)).toBeCloseTo(2, 9);
  });

  test("does not depend on the order of the neighbours", () => {
    const neighbour = fc.record({ at: fc.integer({ min: 1, max: 9 }), length: fc.nat(40), count: fc.nat(5) });
    const session = fc.uniqueArray(neighbour, { selector: ({ at }) => at });
    fc.assert(
      fc.property(session, (neighbours) => {
        const around = neighbours.map(({ at, length, count }) => said(at, length, count));
        const score = scoreAmong(said(5, 3, 1), around, [1.7], 20);
        expect(scoreAmong(said(5, 3, 1), around.toReversed(), [1.7], 20)).toBe(score);
      }),
    );
  });
});
