import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeLength, countIn, decode, encode, HEAD_BYTES, headOf, rounded, scoreOf } from "./codes.js";
import { bestDot } from "./dot.js";
import { Question, roundedQuestion } from "./quantise.js";

const vectorsOf = (dimensions: number) =>
  fc
    .array(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions }), {
      maxLength: 4,
    })
    .map((rows) => Float32Array.from(rows.flat()));
const given = fc
  .constantFrom(1, 3, 16, 40, 384)
  .chain((dimensions) => fc.record({ dimensions: fc.constant(dimensions), vectors: vectorsOf(dimensions) }));

/** So many vectors of unit length, the numbers of each normally distributed, as those of models nearly are. */
function unitVectors(seed: number, count: number, dimensions: number): Float32Array[] {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / (2 ** 32 + 1);
  };
  return Array.from({ length: count }, () => {
    const values = Array.from(
      { length: dimensions },
      () => Math.sqrt(-2 * Math.log(random())) * Math.cos(7 * random()),
    );
    const length = Math.hypot(...values);
    return Float32Array.from(values, (value) => value / length);
  });
}

describe("codes", () => {
  it("stand for their vectors: half a step off at most, and their errors are what the low bytes add", () => {
    fc.assert(
      fc.property(given, ({ dimensions, vectors }) => {
        const codes = encode(vectors, dimensions);
        const count = vectors.length / dimensions;
        expect(codes.length).toBe(count * codeLength(dimensions));
        const read = decode(codes, dimensions);
        for (let part = 0; part < count; part++) {
          const { step, error } = headOf(codes, part);
          const high = new Int8Array(codes.buffer, count * HEAD_BYTES + part * dimensions, dimensions);
          let squares = 0;
          for (let at = 0; at < dimensions; at++) {
            const value = Number(read[part * dimensions + at]);
            const off = Math.abs(value - Number(vectors[part * dimensions + at]));
            expect(off).toBeLessThanOrEqual(Math.max(step / 2, 2 ** -99)); // what is next to nothing becomes zero
            squares += (value - step * 256 * Number(high[at])) ** 2;
          }
          expect(error).toBeGreaterThanOrEqual(Math.sqrt(squares));
          expect(error).toBeLessThanOrEqual(Math.sqrt(squares) * 1.00001);
        }
      }),
    );
  });

  it("of what was read from codes are the same codes", () => {
    fc.assert(
      fc.property(given, ({ dimensions, vectors }) => {
        const codes = encode(vectors, dimensions);
        expect(encode(decode(codes, dimensions), dimensions)).toEqual(codes);
      }),
    );
    // The largest number comes to lie where a step of half the size would do: it must keep its own.
    const edge = encode(Float32Array.of(16_319.6 / 32_768, 0.001), 2);
    expect(encode(decode(edge, 2), 2)).toEqual(edge);
  });

  it("give the score that the rounded vectors give in float64, bit for bit", () => {
    fc.assert(
      fc.property(given, fc.nat(1_000), ({ dimensions, vectors }, seed) => {
        const [asked] = unitVectors(seed, 1, dimensions) as [Float32Array];
        const codes = encode(vectors, dimensions);
        const score = scoreOf(codes, new Question(asked));
        expect(score).toBe(bestDot(decode(codes, dimensions), roundedQuestion(asked))?.score);
      }),
    );
  });

  it.each([
    [384, 2e-5],
    [1_024, 2e-5],
    [3_072, 2e-5],
  ])("of %i dimensions give scores that are off by less than %f", (dimensions, limit) => {
    const vectors = unitVectors(1, 100, dimensions);
    for (const asked of unitVectors(2, 20, dimensions)) {
      const question = new Question(asked);
      for (const vector of vectors) {
        const score = scoreOf(encode(vector, dimensions), question) as number;
        expect(Math.abs(score - Number(bestDot(vector, asked)?.score))).toBeLessThan(limit);
      }
    }
  });

  it("of a vector of nothing, or with a number that is none, are those of nothing", () => {
    for (const vector of [
      new Float32Array(4),
      Float32Array.of(0.5, Number.NaN, 0, 0),
      Float32Array.of(Infinity, 0, 0, 1),
    ]) {
      expect(encode(vector, 4)).toEqual(new Uint8Array(codeLength(4)));
      expect(rounded(vector)).toEqual(new Float32Array(4));
    }
  });

  it("of a wrong length are of no vector", () => {
    for (const length of [0, 1, codeLength(4) - 1, codeLength(4) + 1]) {
      const damaged = new Uint8Array(length).fill(7);
      expect(countIn(damaged, 4)).toBe(0);
      expect(decode(damaged, 4)).toEqual(new Float32Array());
      expect(scoreOf(damaged, new Question(new Float32Array(4).fill(0.5)))).toBeUndefined();
    }
  });

  it("may begin anywhere in a buffer", () => {
    const codes = encode(Float32Array.of(0.6, 0.8, -0.8, 0.6), 2);
    const shifted = new Uint8Array(codes.length + 3);
    shifted.set(codes, 3);
    expect(decode(shifted.subarray(3), 2)).toEqual(decode(codes, 2));
  });
});
