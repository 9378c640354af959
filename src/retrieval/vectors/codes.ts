/**
 * Codes: vectors as mirrors have them, in bytes. They are made once, when vectors are written, and kept beside them, so
 * that a mirror is loaded from a quarter of the bytes, with nothing to compute.
 *
 * The codes of an item are the heads of its vectors, each a scale and an error (float32, little-endian), then their rows, a
 * byte for each number.
 */
import { createKernel } from "./kernel/create.js";
import { deskOf } from "./kernel/desk.js";
import type { Kernel } from "./kernel/kernel.js";
import { errorOf, strideOf } from "./quantise.js";

/** Bytes of a head. */
export const HEAD_BYTES = 8;
const BYTES_PER_NUMBER = 4;
/** Where the kernel puts the scale and the sum of squares, and where it puts the row: behind them. */
const SUMS = 0;
const ROW = 16;
/** Room for a vector of ten million dimensions. */
const PAGES_MAX = 1_024;

/** Bytes of the code of one vector. */
export const codeLength = (dimensions: number): number => HEAD_BYTES + dimensions;

export class Coder {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel = createKernel(PAGES_MAX)) {
    this.#kernel = kernel;
  }

  /** The codes of an item's vectors, which lie one after the other. */
  encode(vectors: Float32Array, dimensions: number): Uint8Array {
    const count = Math.floor(vectors.length / dimensions);
    const codes = new Uint8Array(count * codeLength(dimensions));
    const heads = new DataView(codes.buffer);
    const stride = strideOf(dimensions);
    const source = ROW + stride;
    const buffer = deskOf(this.#kernel, source + stride * BYTES_PER_NUMBER);
    const vector = new Float32Array(buffer, source, stride);
    const row = new Uint8Array(buffer, ROW, dimensions);
    const sums = new Float32Array(buffer, SUMS, 2);
    for (let part = 0; part < count; part++) {
      vector.set(vectors.subarray(part * dimensions, (part + 1) * dimensions));
      this.#kernel.quantise(source, stride, ROW, SUMS);
      const scale = sums[0] as number;
      heads.setFloat32(part * HEAD_BYTES, scale, true);
      heads.setFloat32(part * HEAD_BYTES + BYTES_PER_NUMBER, errorOf(sums[1] as number, scale, dimensions), true);
      codes.set(row, count * HEAD_BYTES + part * dimensions);
    }
    vector.fill(0); // nothing stays that may be forgotten next
    row.fill(0);
    return codes;
  }
}

/** The heads of some codes: the scale of the first vector, its error, those of the second… */
export const headsOf = (codes: Uint8Array): DataView => new DataView(codes.buffer, codes.byteOffset, codes.byteLength);
