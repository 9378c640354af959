import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Question, roundedQuestion, stepOf } from "./quantise.js";

const numbers = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 64 });

describe("a step", () => {
  it("is the smallest power of two that is large enough", () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 40_000 }), (values, max) => {
        const vector = Float32Array.from(values);
        const largest = Math.max(...vector.map(Math.abs));
        const step = stepOf(vector, max);
        if (largest <= 2 ** -100) {
          expect(step).toBe(0);
          return;
        }
        expect(Number.isInteger(Math.log2(step))).toBe(true);
        expect(largest).toBeLessThanOrEqual(max * step);
        expect(largest).toBeGreaterThan((max * step) / 2);
      }),
    );
  });

  it.each([Number.NaN, Infinity, -Infinity, 0, -0])(
    "of a vector of which a number is %s is 0, or that of the others",
    (number) => {
      const step = stepOf(Float32Array.of(0.5, number), 1_000);
      expect(step).toBe(number === 0 ? 2 ** -10 : 0);
    },
  );
});

describe("a question in few bits", () => {
  it.each([1, 4, 384, 1_024, 4_096, 8_192, 16_384])("of %i dimensions can exceed no sum of 31 bits", (dimensions) => {
    const worst = new Question(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)));
    const sum = worst.numbers.reduce((total, number) => total + 128 * Math.abs(number), 0);
    expect(sum).toBeLessThan(2 ** 31);
    expect(sum).toBeGreaterThan(dimensions < 500 ? 2 ** 16 : 2 ** 29);
  });

  it("is off by half a step at most, and rounding it once more changes nothing", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const vector = Float32Array.from(values);
        const { step, perError } = new Question(vector);
        const near = roundedQuestion(vector);
        for (const [at, value] of vector.entries())
          expect(Math.abs(value - Number(near[at]))).toBeLessThanOrEqual(Math.max(step / 2, 2 ** -99));
        expect(perError).toBeCloseTo(Math.hypot(...near), 9);
        expect(roundedQuestion(near)).toEqual(near);
      }),
    );
  });
});
