import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Question } from "./quantise.js";

describe("a question in few bits", () => {
  it.each([1, 4, 384, 1_024, 4_096, 8_192, 16_384])("of %i dimensions can exceed no sum of 31 bits", (dimensions) => {
    const worst = new Question(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)));
    const sum = worst.numbers.reduce((total, number) => total + 127 * Math.abs(number), 0);
    expect(sum).toBeLessThan(2 ** 31);
    expect(sum).toBeGreaterThan(dimensions < 500 ? 2 ** 16 : 2 ** 30);
  });

  it("tells how much of it is lost", () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 64 }), (values) => {
        const vector = new Float32Array(values);
        const { numbers, perProduct, perScale, perError } = new Question(vector);
        const lost = vector.reduce((sum, value, at) => sum + Math.abs(value - (numbers[at] as number) * perProduct), 0);
        expect(perScale).toBeCloseTo(127 * lost, 9);
        expect(perError).toBeCloseTo(Math.hypot(...vector), 6);
      }),
    );
  });
});
