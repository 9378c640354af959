import { describe, expect, it } from "vitest";
import { type Near, Nearest } from "./nearest.js";

/** Bounds with many ties, in an order that follows no rule. */
const all: Near[] = Array.from({ length: 500 }, (_, at) => {
  const key = (at * 7_919) % 503;
  return { key, bound: ((key * 31) % 40) / 40 };
});
const sorted = all.toSorted((a, b) => b.bound - a.bound || b.key - a.key);

describe("the nearest", () => {
  it.each([0, 1, 2, 7, 64, 499, 500, 1_000])("%i are the best ones, best first, ties newest first", (count) => {
    const nearest = new Nearest(count);
    for (const { key, bound } of all) nearest.offer(key, bound);
    expect(nearest.best()).toEqual(sorted.slice(0, count));
    expect(nearest.best(), "asking again").toEqual(sorted.slice(0, count));
  });

  it("are found though others have no number for a bound, as in a damaged file", () => {
    const nearest = new Nearest(3);
    for (const { key, bound } of all) {
      nearest.offer(1_000 + key, Number.NaN);
      nearest.offer(key, bound);
    }
    expect(nearest.best()).toEqual(sorted.slice(0, 3));
  });
});
