import fc from "fast-check";
import { expect, test } from "vitest";
import { b, idf, k1, termWeight } from "./bm25.js";

test("the constants are those of the benchmarks", () => {
  expect([k1, b]).toEqual([0.9, 0.75]);
});

test("idf is ln(1 + (N - n + 0.5) / (n + 0.5))", () => {
  expect(idf(100, 9)).toBeCloseTo(Math.log(1 + 91.5 / 9.5), 12);
  expect(idf(1, 1)).toBeCloseTo(Math.log(4 / 3), 12);
});

test("idf falls as a term gets more common, and never to zero", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (containing, others) => {
      const documents = containing + others + 1;
      expect(idf(documents, containing)).toBeGreaterThan(idf(documents, containing + 1));
      expect(idf(documents, containing + 1)).toBeGreaterThan(0);
    }),
  );
});

test("a term that occurs once in a document of average length has weight 1", () => {
  expect(termWeight(1, 20, 20)).toBe(1);
});

test("the weight of a term follows the formula", () => {
  expect(termWeight(3, 40, 20)).toBeCloseTo((3 * 1.9) / (3 + 0.9 * (0.25 + 0.75 * 2)), 12);
});

test("the weight grows with the count, up to k1 + 1, and falls with the length of the document", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }), (count, length) => {
      const weight = termWeight(count, length, 50);
      expect(weight).toBeLessThan(termWeight(count + 1, length, 50));
      expect(weight).toBeGreaterThan(termWeight(count, length + 1, 50));
      expect(weight).toBeLessThan(k1 + 1);
    }),
  );
});

test("an average length of zero gives a finite number, and a count of zero gives zero", () => {
  expect(termWeight(1, 0, 0)).toBe(1);
  expect(termWeight(2, 10, 0)).toBeGreaterThan(1);
  expect(termWeight(0, 10, 20)).toBe(0);
});
