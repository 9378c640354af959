import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createKernel } from "./create.js";
import { GROUP, type Kernel } from "./kernel.js";
import { createPlainKernel } from "./plain.js";
import { createSimdKernel } from "./simd.js";

const ROWS = 65_536;
const OUT = 2 * 65_536;

function withRoom(kernel: Kernel): Kernel {
  kernel.memory.grow(3);
  return kernel;
}

const simd = withRoom(createSimdKernel(4) as Kernel);
const plain = withRoom(createPlainKernel(4));

/** The whole memory after each kernel has run, so that stray writes are found. */
function both(fill: (bytes: Uint8Array) => void, run: (kernel: Kernel) => void): readonly Buffer[] {
  return [simd, plain].map((kernel) => {
    const bytes = new Uint8Array(kernel.memory.buffer);
    bytes.fill(0);
    fill(bytes);
    run(kernel);
    return Buffer.from(bytes);
  });
}

/** How many rows, of how many bytes, filled with what. */
const rows = fc.record({
  count: fc.integer({ min: 0, max: 11 }),
  stride: fc.integer({ min: 1, max: 40 }).map((parts) => parts * 16),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
  query: fc.uint8Array({ minLength: 1, maxLength: 700 }),
});

const repeat = (bytes: Uint8Array, target: Uint8Array, start: number, length: number): void => {
  for (let at = 0; at < length; at++) target[start + at] = bytes[at % bytes.length] as number;
};

describe("the kernel", () => {
  it("in use is the one with SIMD, on this machine", () => {
    const kernel = createKernel(2);
    expect(kernel.dots.toString(), "a function of WebAssembly").toContain("[native code]");
  });

  it("is the plain one if there is no room for a WebAssembly memory", () => {
    const Memory = class {
      constructor() {
        throw new RangeError("could not allocate memory");
      }
    };
    const { validate, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: object })
      .WebAssembly as never;
    vi.stubGlobal("WebAssembly", { validate, Module, Instance, Memory });
    const kernel = createKernel(2);
    vi.unstubAllGlobals();
    kernel.memory.grow(1);
    expect(kernel.dots.toString()).not.toContain("[native code]");
  });

  it("contains the bytes compiled from the text beside it", () => {
    const script = fileURLToPath(new URL("../../../../scripts/kernel.mjs", import.meta.url));
    const compiled = execFileSync(process.execPath, [script, "--print"], { encoding: "utf8" });
    expect(readFileSync(new URL("./kernel-bytes.ts", import.meta.url), "utf8")).toBe(compiled);
  });

  it("multiplies rows with a query to the same numbers with and without SIMD", () => {
    fc.assert(
      fc.property(rows, ({ count, stride, bytes, query }) => {
        const [fast, slow] = both(
          (memory) => {
            repeat(bytes, memory, ROWS, count * GROUP * stride);
            // 12 bits, so that no sum can exceed 31: which numbers a question has is quantise.ts's affair.
            const numbers = new Int16Array(memory.buffer, 0, stride);
            for (const at of numbers.keys()) numbers[at] = ((query[at % query.length] as number) - 128) * 16;
          },
          (kernel) => kernel.dots(ROWS, count, stride, 0, OUT),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
      }),
    );
  });

  it("returns the right products for interleaved rows", () => {
    const values = Array.from({ length: 8 }, (_, row) => Array.from({ length: 32 }, (_, at) => row * 9 + at - 40));
    const query = Array.from({ length: 32 }, (_, at) => 500 * at - 7_000);
    const [fast, slow] = both(
      (memory) => {
        for (const [row, numbers] of values.entries()) {
          for (const part of [0, 1]) {
            const place = ROWS + (row - (row % GROUP)) * 32 + (part * GROUP + (row % GROUP)) * 16;
            new Int8Array(memory.buffer, place, 16).set(numbers.slice(part * 16, part * 16 + 16));
          }
        }
        new Int16Array(memory.buffer, 0, 32).set(query);
      },
      (kernel) => kernel.dots(ROWS, 2, 32, 0, OUT),
    );
    const expected = values.map((row) => row.reduce((sum, value, at) => sum + value * (query[at] as number), 0));
    for (const memory of [fast, slow]) {
      expect(expected.map((_, row) => memory?.readInt32LE(OUT + 4 * row))).toEqual(expected);
    }
  });

  it("interleaves rows at their places, the same with and without SIMD", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 0, max: 9 }), ({ count, stride, bytes }, first) => {
        const [fast, slow] = both(
          (memory) => repeat(bytes, memory, 0, count * stride),
          (kernel) => kernel.lay(0, count, stride, ROWS, first),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
        for (let row = 0; row < count; row++) {
          const at = first + row;
          for (let part = 0; part < stride; part += 16) {
            const place = ROWS + (at - (at % GROUP)) * stride + part * GROUP + (at % GROUP) * 16;
            const given = fast?.subarray(row * stride + part, row * stride + part + 16);
            expect(fast?.subarray(place, place + 16).equals(given as Buffer)).toBe(true);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it("copies parts with separate steps on both sides, the same with and without SIMD", () => {
    const step = fc.integer({ min: 0, max: 9 }).map((parts) => parts * 16);
    fc.assert(
      fc.property(step, step, fc.integer({ min: 0, max: 9 }), (sourceStep, targetStep, parts) => {
        const [fast, slow] = both(
          (memory) =>
            repeat(
              Uint8Array.from({ length: 251 }, (_, at) => at),
              memory,
              ROWS,
              9 * 160,
            ),
          (kernel) => kernel.copy(ROWS, sourceStep, OUT, targetStep, parts),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
        const last = (parts - 1) * targetStep;
        const source = ROWS + (parts - 1) * sourceStep;
        if (parts === 0) expect(fast?.subarray(OUT, OUT + 16)).toEqual(Buffer.alloc(16));
        else expect(fast?.subarray(OUT + last, OUT + last + 16)).toEqual(fast?.subarray(source, source + 16));
      }),
    );
  });

  it("turns products into bounds to the same numbers with and without SIMD", () => {
    const number = fc.float({ min: 0, max: 1, noNaN: true });
    const row = fc.record({ product: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), step: number, error: number });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 11 }), number, number, (all, perProduct, perError) => {
        const highest: number[] = [];
        const [fast, slow] = both(
          (memory) => {
            for (const [at, { product, step, error }] of all.entries()) {
              new Int32Array(memory.buffer)[(OUT >> 2) + at] = product;
              new Float32Array(memory.buffer)[(ROWS >> 2) + at] = step;
              new Float32Array(memory.buffer)[(ROWS >> 2) + 64 + at] = error;
            }
          },
          (kernel) => highest.push(kernel.bounds(OUT, all.length, ROWS, ROWS + 256, perProduct, perError)),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
        const written = Array.from({ length: Math.ceil(all.length / 4) * 4 }, (_, at) =>
          fast?.readFloatLE(OUT + 4 * at),
        );
        expect(highest).toEqual(Array(2).fill(Math.max(...(written as number[]))));
        for (const [at, { product, step, error }] of all.entries()) {
          const bound = step * product * perProduct + error * perError;
          expect(fast?.readFloatLE(OUT + 4 * at)).toBeCloseTo(bound, Math.abs(bound) > 1 ? -3 : 5);
        }
      }),
    );
  });

  it("returns NaN as the highest bound if one bound is NaN", () => {
    const highest: number[] = [];
    both(
      (memory) => {
        new Float32Array(memory.buffer).set([0.5, Number.NaN, 0.5, 0.5, 0.5], ROWS >> 2);
      },
      (kernel) => highest.push(kernel.bounds(OUT, 5, ROWS, ROWS + 256, 1, 1)),
    );
    expect(highest).toEqual([Number.NaN, Number.NaN]);
  });
});
