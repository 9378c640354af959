import fc from "fast-check";
import { expect, it } from "vitest";
import { Bounds } from "./bounds.js";
import { Nearest } from "./nearest.js";

it("bounds tell of the nearest as one who keeps only those, and of all but some", () => {
  const bounds = new Bounds(20);
  const nearest = new Nearest(5);
  for (let key = 1; key <= 20; key++) {
    const bound = ((key * 7) % 11) / 10;
    bounds.offer(key, bound);
    nearest.offer(key, bound);
  }
  expect(bounds.nearest(5)).toEqual(nearest.best());
  expect(bounds.nearest(100)).toHaveLength(20);
  const { keys, most } = bounds.without(new Set([2, 20, 99]));
  expect([...keys]).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect([...most]).toEqual([...keys].map((key) => ((key * 7) % 11) / 10));
});

it("fewer of the nearest are the beginning of more, whichever were asked for before", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ max: 9 })), fc.array(fc.nat({ max: 20 })), (all, counts) => {
      const bounds = new Bounds(all.length);
      for (const [key, bound] of all.entries()) bounds.offer(key, bound);
      const sorted = all.map((bound, key) => ({ key, bound })).sort((a, b) => b.bound - a.bound || b.key - a.key);
      for (const count of counts) expect(bounds.nearest(count)).toEqual(sorted.slice(0, count));
    }),
  );
});

it("bounds tell how many may be among the best as a look at all of them would", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 })), fc.nat({ max: 9 }), fc.nat({ max: 20 }), (all, count, slack) => {
      const bounds = new Bounds(all.length);
      for (const [key, bound] of all.entries()) bounds.offer(key, bound);
      const last = [...all].sort((a, b) => b - a)[count - 1] ?? Number.NEGATIVE_INFINITY;
      expect(bounds.contending(count, slack)).toBe(all.filter((bound) => bound >= last - slack / 2).length);
    }),
  );
});

it("bounds tell how many may be among the best", () => {
  const bounds = new Bounds(10);
  for (let key = 1; key <= 10; key++) bounds.offer(key, key / 10);
  expect([bounds.contending(3, 0), bounds.contending(3, 0.3), bounds.contending(20, 0)]).toEqual([3, 4, 10]);
});

it("what is no number is no bound", () => {
  const bounds = new Bounds(2);
  bounds.offer(1, Number.NaN);
  bounds.offer(2, -0.5);
  expect(bounds.nearest(10)).toEqual([{ key: 2, bound: -0.5 }]);
  expect(bounds.without(new Set())).toEqual({ keys: Float64Array.of(2), most: Float64Array.of(-0.5) });
});
