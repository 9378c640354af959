import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cosines } from "./cosines.js";
import { bestDot } from "./dot.js";
import { createKernel } from "./kernel/create.js";
import { createPlainKernel } from "./kernel/plain.js";

/** What an embedder gives, and what a damaged file may hold. */
const number = fc.oneof(
  { weight: 9, arbitrary: fc.float({ min: -1, max: 1, noNaN: true }) },
  fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, -0),
);
const numbers = fc.array(number, { minLength: 1, maxLength: 200 });

/** Items of so many numbers each, one after the other. */
function laid(lengths: readonly number[], given: readonly number[]): Float32Array {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return Float32Array.from({ length: total }, (_, at) => given[at % given.length] as number);
}

/** Each item by itself. */
function expected(vectors: Float32Array, lengths: readonly number[], query: Float32Array) {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return bestDot(vectors.slice(end - length, end), query);
  });
}

describe("cosines", () => {
  it.each([
    ["with SIMD", createKernel(64)],
    ["without", createPlainKernel(64)],
  ])("are those of every item by itself, whatever its number of vectors, %s", (_, kernel) => {
    const cosines = new Cosines(kernel);
    const counts = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 0, max: 40 }), numbers, (vectorsEach, dimensions, given) => {
        const lengths = vectorsEach.map((count) => count * dimensions);
        const vectors = laid(lengths, given);
        const query = laid([dimensions], given);
        expect(cosines.best(vectors, lengths, query)).toEqual(expected(vectors, lengths, query));
      }),
    );
  });

  it("of many vectors are found in several goes, and nothing of them stays in memory", () => {
    const kernel = createKernel(64);
    const lengths = Array.from({ length: 1_000 }, (_, at) => (at % 4) * 384);
    const vectors = laid(lengths, [0.25, -0.5, 0.125, 0.75, -1, 0.0625, 0.3]);
    const query = laid([384], [0.5, 0.25, -0.125]);
    expect(new Cosines(kernel).best(vectors, lengths, query)).toEqual(expected(vectors, lengths, query));
    expect(new Uint8Array(kernel.memory.buffer).every((byte) => byte === 0)).toBe(true);
  });

  it("of items beside one that is damaged are their own", () => {
    const lengths = [8, 3, 8];
    const vectors = Float32Array.from([1, 0, 0, 0, 0, 1, 0, 0, 9, 9, 9, 0, 0, 1, 0, 0, 0, 0, 1]);
    const query = Float32Array.from([0, 1, 0, 0]);
    const [first, damaged, last] = new Cosines().best(vectors, lengths, query);
    expect(first).toEqual({ score: 1, part: 1 });
    expect(damaged).toBeUndefined();
    expect(last).toEqual({ score: 0, part: 0 });
  });
});
