/** The kernel in plain JavaScript, for machines without SIMD in WebAssembly. Equal to kernel.wat, for all finite numbers. */
import { dot } from "../dot.js";
import { GROUP, type Kernel, type Memory, PAGE_BYTES, PAGES_MAX, PART_BYTES } from "./kernel.js";

/** A buffer that grows in place. The types of this version of JavaScript do not have it yet; all of our Nodes do. */
type Growing = ArrayBuffer & { resize(bytes: number): void };
const GrowingBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => Growing;

class PlainMemory implements Memory {
  readonly buffer: Growing;

  constructor(bytesMax: number) {
    this.buffer = new GrowingBuffer(0, { maxByteLength: bytesMax });
  }

  grow(pages: number): void {
    this.buffer.resize(this.buffer.byteLength + pages * PAGE_BYTES);
  }
}

/** How many bits of a byte are set. */
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

class PlainKernel implements Kernel {
  readonly memory: Memory;

  constructor(memory: Memory) {
    this.memory = memory;
  }

  dots(rows: number, groups: number, stride: number, query: number, out: number): void {
    const { buffer } = this.memory;
    const values = new Int8Array(buffer, rows, groups * GROUP * stride);
    const wanted = new Int16Array(buffer, query, stride);
    const sums = new Int32Array(buffer, out, groups * GROUP);
    for (let row = 0; row < groups * GROUP; row++) {
      let sum = 0;
      let start = (row - (row % GROUP)) * stride + (row % GROUP) * PART_BYTES;
      for (let part = 0; part < stride; part += PART_BYTES) {
        for (let at = 0; at < PART_BYTES; at++) sum += (values[start + at] as number) * (wanted[part + at] as number);
        start += GROUP * PART_BYTES;
      }
      sums[row] = sum;
    }
  }

  lay(source: number, count: number, stride: number, groups: number, first: number): void {
    for (let row = 0; row < count; row++) {
      const place = first + row;
      const target = groups + (place - (place % GROUP)) * stride + (place % GROUP) * PART_BYTES;
      this.copy(source + row * stride, PART_BYTES, target, GROUP * PART_BYTES, stride / PART_BYTES);
    }
  }

  copy(source: number, sourceStep: number, target: number, targetStep: number, parts: number): void {
    const bytes = new Uint8Array(this.memory.buffer);
    for (let part = 0; part < parts; part++) {
      const from = source + part * sourceStep;
      bytes.copyWithin(target + part * targetStep, from, from + PART_BYTES);
    }
  }

  /** Every step is rounded to float32, as SIMD does it. */
  bounds(
    out: number,
    count: number,
    scales: number,
    errors: number,
    perProduct: number,
    perScale: number,
    perError: number,
  ): number {
    const { fround } = Math;
    const { buffer } = this.memory;
    const rows = Math.ceil(count / 4) * 4;
    const products = new Int32Array(buffer, out, rows);
    const bounds = new Float32Array(buffer, out, rows);
    const scale = new Float32Array(buffer, scales, rows);
    const error = new Float32Array(buffer, errors, rows);
    const [byProduct, byScale, byError] = [fround(perProduct), fround(perScale), fround(perError)];
    let highest = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < rows; row++) {
      const sum = fround(fround(fround(products[row] as number) * byProduct) + byScale);
      bounds[row] = fround((scale[row] as number) * sum) + fround((error[row] as number) * byError);
      highest = Math.max(highest, bounds[row] as number);
    }
    return highest;
  }

  distances(rows: number, count: number, stride: number, query: number, out: number): void {
    const { buffer } = this.memory;
    const values = new Uint8Array(buffer, rows, count * stride);
    const wanted = new Uint8Array(buffer, query, stride);
    const sums = new Int32Array(buffer, out, count);
    for (let row = 0; row < count; row++) {
      let sum = 0;
      const start = row * stride;
      for (let at = 0; at < stride; at++) {
        sum += BITS[(values[start + at] as number) ^ (wanted[at] as number)] as number;
      }
      sums[row] = sum;
    }
  }

  /** Every step is rounded to float32, and four sums are kept, because that is what SIMD does. */
  quantise(source: number, stride: number, target: number, out: number): void {
    const { fround } = Math;
    const values = new Float32Array(this.memory.buffer, source, stride);
    const stored = new Int8Array(this.memory.buffer, target, stride);
    let largest = 0;
    for (let at = 0; at < stride; at++) largest = Math.max(largest, Math.abs(values[at] as number));
    const scale = fround(largest / 127);
    const inverse = scale > LEAST_SCALE ? fround(1 / scale) : 0;
    const sums = new Float32Array(4);
    for (let at = 0; at < stride; at++) {
      const value = values[at] as number;
      const number = roundToEven(fround(value * inverse));
      stored[at] = number;
      const lost = fround(value - fround(number * scale));
      sums[at % 4] = (sums[at % 4] as number) + fround(lost * lost);
    }
    const [a, b, c, d] = sums as unknown as readonly [number, number, number, number];
    new Float32Array(this.memory.buffer, out, 2).set([scale, fround(fround(a + b) + fround(c + d))]);
  }

  signs(source: number, stride: number, target: number): void {
    const values = new Int8Array(this.memory.buffer, source, stride);
    const bits = new Uint8Array(this.memory.buffer, target, stride / 8);
    bits.fill(0);
    for (let at = 0; at < stride; at++)
      if ((values[at] as number) < 0) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
  }

  products(rows: number, count: number, dimensions: number, query: number, out: number): void {
    const { buffer } = this.memory;
    const values = new Float32Array(buffer, rows, count * dimensions);
    const wanted = new Float64Array(buffer, query, dimensions);
    const sums = new Float64Array(buffer, out, count);
    for (let row = 0; row < count; row++) sums[row] = dot(values, row * dimensions, wanted);
  }
}

/** Below this nothing can be divided by a scale. */
const LEAST_SCALE = Math.fround(1e-30);
/** Numbers this large have no room for fractions: adding it rounds, halves to what is even. */
const NO_FRACTIONS = 1.5 * 2 ** 52;
const roundToEven = (value: number): number => value + NO_FRACTIONS - NO_FRACTIONS;

export const createPlainKernel = (pagesMax: number): Kernel =>
  new PlainKernel(new PlainMemory(Math.min(pagesMax, PAGES_MAX) * PAGE_BYTES));
