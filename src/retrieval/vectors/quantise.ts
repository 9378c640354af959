/**
 * Vectors in fewer bits: stored ones as int8 with a scale each, questions as int16, and how far off that can be.
 *
 * For a vector v ≈ s·a (a of int8) and a question q ≈ t·b (b of int16), v·q differs from s·t·(a·b) by at most
 * |v − s·a| · |q| + s · 127 · Σ|q − t·b|. Nothing is assumed of the vectors, so this holds for every one of them.
 */

/** The largest magnitude of a stored number. */
const STORED_MAX = 127;
const INT16_MAX = 32_767;
const INT32_MAX = 2 ** 31 - 1;
/** For what rounding of 32-bit numbers does: to a bound, to a sum of many squares, to one step of a row. */
export const ROUNDING = 1e-6;
const SUM_SLACK = 1.001;
const STEP_SLACK = 2e-5;

/** Bytes of a row of int8: a multiple of 16, as the kernel wants it. */
export const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16;

/** Bytes of a row of signs, likewise. */
export const signStrideOf = (dimensions: number): number => Math.ceil(dimensions / 128) * 16;

/**
 * A question in int16, and what turns its product with a row into the highest score that the row can have:
 * scale · (product · perProduct + perScale) + error · perError + ROUNDING.
 */
export class Question {
  readonly numbers: Int16Array;
  readonly perProduct: number;
  readonly perScale: number;
  readonly perError: number;

  constructor(vector: Float32Array) {
    // The most bits with which no sum of products can exceed 31, whatever the row.
    const range = Math.min(INT16_MAX, Math.floor(INT32_MAX / (STORED_MAX * Math.max(1, vector.length))));
    let largest = 0;
    for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at] as number));
    const scale = largest / range;
    let lost = 0;
    let squares = 0;
    this.numbers = new Int16Array(vector.length);
    for (let at = 0; at < vector.length; at++) {
      const value = vector[at] as number;
      const number = scale === 0 ? 0 : Math.round(value / scale);
      this.numbers[at] = number;
      lost += Math.abs(value - number * scale);
      squares += value * value;
    }
    this.perProduct = scale;
    this.perScale = STORED_MAX * lost;
    this.perError = Math.sqrt(squares);
  }
}

/** The length of the error of a stored vector, from what the kernel has summed up; never too low. */
export function errorOf(squares: number, scale: number, dimensions: number): number {
  return Math.sqrt(squares) * SUM_SLACK + scale * Math.sqrt(dimensions) * STEP_SLACK;
}

/** Writes the signs of a question as bits: set for what is negative, as the kernel has them. */
export function writeSigns({ numbers }: Question, target: Uint8Array, place: number): void {
  for (const [at, number] of numbers.entries()) {
    if (number < 0) target[place + (at >> 3)] = (target[place + (at >> 3)] as number) | (1 << (at & 7));
  }
}
