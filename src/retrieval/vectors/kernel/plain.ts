/**
 * The kernel in plain JavaScript, for machines without WebAssembly SIMD. Results equal those of kernel.wat for all
 * finite numbers.
 */
import { GROUP, type Kernel, type KernelMemory, PAGE_BYTES, PAGES_MAX, PART_BYTES } from "./kernel.js";

/**
 * A resizable ArrayBuffer. The configured TypeScript library lacks the type, but all supported versions of Node have
 * it.
 */
type Growing = ArrayBuffer & { resize(bytes: number): void };
const GrowingBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => Growing;

class PlainMemory implements KernelMemory {
  readonly buffer: Growing;

  constructor(bytesMax: number) {
    this.buffer = new GrowingBuffer(0, { maxByteLength: bytesMax });
  }

  grow(pages: number): void {
    this.buffer.resize(this.buffer.byteLength + pages * PAGE_BYTES);
  }
}

class PlainKernel implements Kernel {
  readonly memory: KernelMemory;

  constructor(memory: KernelMemory) {
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

  /** Rounds every step to float32, as the SIMD code does. */
  bounds(out: number, count: number, steps: number, errors: number, perProduct: number, perError: number): number {
    const { fround } = Math;
    const { buffer } = this.memory;
    const rows = Math.ceil(count / 4) * 4;
    const products = new Int32Array(buffer, out, rows);
    const bounds = new Float32Array(buffer, out, rows);
    const step = new Float32Array(buffer, steps, rows);
    const error = new Float32Array(buffer, errors, rows);
    const [byProduct, byError] = [fround(perProduct), fround(perError)];
    let highest = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < rows; row++) {
      const product = fround(fround(products[row] as number) * byProduct);
      bounds[row] = fround((step[row] as number) * product) + fround((error[row] as number) * byError);
      highest = Math.max(highest, bounds[row] as number);
    }
    return highest;
  }
}

export const createPlainKernel = (pagesMax: number): Kernel =>
  new PlainKernel(new PlainMemory(Math.min(pagesMax, PAGES_MAX) * PAGE_BYTES));
