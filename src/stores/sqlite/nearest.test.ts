import { describe, expect, it } from "vitest";
import { type Near, Nearest } from "./nearest.js";

/** Scores with many ties, in an order that follows no rule. */
const all: Near[] = Array.from({ length: 500 }, (_, at) => {
  const key = (at * 7_919) % 503;
  return { key, part: 0, commit: 1, score: ((key * 31) % 40) / 40 };
});
const sorted = all.toSorted((a, b) => b.score - a.score || b.key - a.key);

describe("the nearest", () => {
  it.each([1, 2, 7, 64, 499, 500, 1_000])("%i are the best ones, best first, ties newest first", (count) => {
    const nearest = new Nearest();
    for (const near of all) nearest.add(near);
    expect(nearest.size).toBe(500);
    expect(nearest.best(count)).toEqual(sorted.slice(0, count));
    expect(nearest.best(10), "asking again").toEqual(sorted.slice(0, 10));
  });
});
