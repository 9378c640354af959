import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Coder, codeLength, HEAD_BYTES, headsOf } from "./codes.js";
import { createPlainKernel } from "./kernel/plain.js";

const DIMENSIONS = [1, 3, 16, 40, 384];
const vectorsOf = fc.constantFrom(...DIMENSIONS).chain((dimensions) =>
  fc
    .array(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions }), {
      maxLength: 4,
    })
    .map((rows) => ({ dimensions, vectors: Float32Array.from(rows.flat()) })),
);

describe("codes", () => {
  it("stand for their vectors: no further off than their errors say, and the same with and without SIMD", () => {
    const coder = new Coder();
    const plain = new Coder(createPlainKernel(16));
    fc.assert(
      fc.property(vectorsOf, ({ dimensions, vectors }) => {
        const codes = coder.encode(vectors, dimensions);
        expect(codes).toEqual(plain.encode(vectors, dimensions));
        const count = vectors.length / dimensions;
        expect(codes.length).toBe(count * codeLength(dimensions));
        for (let part = 0; part < count; part++) {
          const [scale, error] = [0, 4].map((at) => headsOf(codes).getFloat32(part * HEAD_BYTES + at, true)) as [
            number,
            number,
          ];
          const numbers = new Int8Array(codes.buffer, count * HEAD_BYTES + part * dimensions, dimensions);
          const off = Math.hypot(...differences(numbers, scale, vectors, part * dimensions));
          expect(off).toBeLessThanOrEqual(error + 1e-6); // what is next to nothing becomes zeros
        }
      }),
    );
  });

  it("of one vector are not changed by the one before it, however long that was", () => {
    const coder = new Coder();
    const short = Float32Array.from([0.6, 0.8]);
    const alone = coder.encode(short, 2);
    coder.encode(new Float32Array(10_000).fill(0.01), 10_000);
    expect(coder.encode(short, 2)).toEqual(alone);
  });

  it("leave nothing of their vectors in the kernel's memory", () => {
    const kernel = createPlainKernel(16);
    new Coder(kernel).encode(new Float32Array(64).fill(0.125), 64);
    const memory = Buffer.from(kernel.memory.buffer);
    expect(memory.indexOf(Buffer.alloc(16, 127))).toBe(-1);
    expect(memory.indexOf(Buffer.from(new Float32Array(4).fill(0.125).buffer))).toBe(-1);
  });
});

function differences(numbers: Int8Array, scale: number, vectors: Float32Array, from: number): number[] {
  return Array.from(numbers, (number, at) => (vectors[from + at] as number) - number * scale);
}
