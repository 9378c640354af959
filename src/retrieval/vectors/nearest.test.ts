import { describe, expect, it } from "vitest";
import { type ItemScore, Nearest } from "./nearest.js";

/** Scores with many ties, in an order that follows no rule. */
const all: ItemScore[] = Array.from({ length: 500 }, (_, at) => {
  const key = (at * 7_919) % 503;
  return { key, score: ((key * 31) % 40) / 40 };
});
const sorted = all.toSorted((a, b) => b.score - a.score || b.key - a.key);

describe("the nearest", () => {
  it.each([0, 1, 2, 7, 64, 499, 500, 1_000])("%i are the best ones, best first, ties newest first", (count) => {
    const nearest = new Nearest(count);
    for (const { key, score } of all) nearest.offer(key, score);
    expect(nearest.best()).toEqual(sorted.slice(0, count));
    expect(nearest.best(), "asking again").toEqual(sorted.slice(0, count));
  });

  it("are found even if others have NaN as their score, as in a damaged file", () => {
    const nearest = new Nearest(3);
    for (const { key, score } of all) {
      nearest.offer(1_000 + key, Number.NaN);
      nearest.offer(key, score);
    }
    expect(nearest.best()).toEqual(sorted.slice(0, 3));
  });
});
