import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { dot } from "../dot.js";
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

/** What each kernel makes of the same memory: all of it, so that nothing is written where it should not be. */
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

  it("is the plain one where there is no room for a memory of WebAssembly", () => {
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

  it("carries the bytes of the text that lies beside it", () => {
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

  it("gives the products that they are, of rows that lie in groups", () => {
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

  it("lays rows at their places in groups, the same with and without SIMD", () => {
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

  it("copies parts with a step of their own on either side, the same with and without SIMD", () => {
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
    const row = fc.record({ product: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), scale: number, error: number });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 11 }), number, number, number, (all, perProduct, perScale, perError) => {
        const highest: number[] = [];
        const [fast, slow] = both(
          (memory) => {
            for (const [at, { product, scale, error }] of all.entries()) {
              new Int32Array(memory.buffer)[(OUT >> 2) + at] = product;
              new Float32Array(memory.buffer)[(ROWS >> 2) + at] = scale;
              new Float32Array(memory.buffer)[(ROWS >> 2) + 64 + at] = error;
            }
          },
          (kernel) => highest.push(kernel.bounds(OUT, all.length, ROWS, ROWS + 256, perProduct, perScale, perError)),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
        const written = Array.from({ length: Math.ceil(all.length / 4) * 4 }, (_, at) =>
          fast?.readFloatLE(OUT + 4 * at),
        );
        expect(highest).toEqual(Array(2).fill(Math.max(...(written as number[]))));
        for (const [at, { product, scale, error }] of all.entries()) {
          const bound = scale * (product * perProduct + perScale) + error * perError;
          expect(fast?.readFloatLE(OUT + 4 * at)).toBeCloseTo(bound, Math.abs(bound) > 1 ? -3 : 5);
        }
      }),
    );
  });

  it("tells of bounds one of which is no number that their highest is none either", () => {
    const highest: number[] = [];
    both(
      (memory) => {
        new Float32Array(memory.buffer).set([0.5, Number.NaN, 0.5, 0.5, 0.5], ROWS >> 2);
      },
      (kernel) => highest.push(kernel.bounds(OUT, 5, ROWS, ROWS + 256, 1, 1, 1)),
    );
    expect(highest).toEqual([Number.NaN, Number.NaN]);
  });

  it("counts bits that differ to the same numbers with and without SIMD", () => {
    fc.assert(
      fc.property(rows, ({ count, stride, bytes, query }) => {
        const [fast, slow] = both(
          (memory) => {
            repeat(bytes, memory, ROWS, count * stride);
            repeat(query, memory, 0, stride);
          },
          (kernel) => kernel.distances(ROWS, count, stride, 0, OUT),
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
        for (let row = 0; row < count; row++) {
          let bits = 0;
          for (let at = 0; at < stride; at++) {
            const differ = (fast?.[ROWS + row * stride + at] as number) ^ (fast?.[at] as number);
            bits += differ.toString(2).replaceAll("0", "").length;
          }
          expect(fast?.readInt32LE(OUT + 4 * row)).toBe(bits);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("quantises rows, and takes their signs, to the same numbers with and without SIMD", () => {
    const vector = fc.oneof(
      fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 16, maxLength: 80 }),
      fc.array(fc.constantFrom(0, -0, 1, -1, 0.5, 0.25, 1e-38, -1e-42, 3e38), { minLength: 16, maxLength: 80 }),
    );
    fc.assert(
      fc.property(vector, (values) => {
        const stride = values.length - (values.length % 16);
        const [fast, slow] = both(
          (memory) => new Float32Array(memory.buffer, 0, stride).set(values.slice(0, stride)),
          (kernel) => {
            kernel.quantise(0, stride, ROWS, OUT);
            kernel.signs(ROWS, stride, OUT + 64);
          },
        );
        expect(fast?.equals(slow as Buffer)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("multiplies rows of float32 with a question to the numbers that `dot` gives, with and without SIMD", () => {
    const number = fc.float({ min: -1, max: 1, noNaN: true });
    const numbers = fc.array(number, { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 70 }),
        numbers,
        (count, dimensions, given) => {
          const values = Float32Array.from(
            { length: count * dimensions },
            (_, at) => given[at % given.length] as number,
          );
          const query = Float32Array.from({ length: dimensions }, (_, at) => given[(at * 7) % given.length] as number);
          const [fast, slow] = both(
            (memory) => {
              new Float32Array(memory.buffer, ROWS, values.length).set(values);
              new Float64Array(memory.buffer, 0, dimensions).set(query);
            },
            (kernel) => kernel.products(ROWS, count, dimensions, 0, OUT),
          );
          expect(fast?.equals(slow as Buffer)).toBe(true);
          for (let row = 0; row < count; row++) {
            expect(fast?.readDoubleLE(OUT + 8 * row)).toBe(dot(values, row * dimensions, query));
          }
        },
      ),
    );
  });
});
