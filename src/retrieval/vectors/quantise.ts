/**
 * Numbers in 16 bits: each number of a vector is a whole multiple of the vector's step, which is a power of two.
 *
 * With such steps only the first rounding loses precision. A rounded vector is exact in float32, rounding it again changes
 * nothing, and the product of two rounded vectors is exact in float64 in any order of summation. An item therefore has the
 * same score in the VectorCache, in a mirror and in the file.
 */

/** The largest magnitude of a stored number: two bytes of 127 each. It is odd, so that a rounded vector keeps its step. */
export const STORED_MAX = 127 * 256 + 127;
const INT16_MAX = 32_767;
const INT32_MAX = 2 ** 31 - 1;
/** The largest magnitude of one byte of a stored number. */
const BYTE_MAX = 128;
/** The most by which rounding to 32 bits can lower a bound. */
export const ROUNDING = 1e-6;

/** The bytes of an int8 row: a multiple of 16, as the kernel requires. */
export const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16;

/** A vector whose numbers are all smaller counts as zero: its step would not be a normal float32. */
const LEAST = 2 ** -100;

/** The smallest power of two with which all numbers of the vector are at most `max` steps; 0 for a zero vector. */
export function stepOf(vector: Float32Array, max: number): number {
  let largest = 0;
  for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at] as number));
  if (!(largest > LEAST && largest < Number.POSITIVE_INFINITY)) return 0;
  let step = 2 ** Math.floor(Math.log2(largest / max));
  while (largest > max * step) step *= 2;
  return step;
}

/** A question in int16, and the factors that turn its products with rows into scores and upper bounds of scores. */
export class Question {
  readonly numbers: Int16Array;
  readonly step: number;
  /** The bound of a row: its step · high product · perProduct + its error · perError + ROUNDING. */
  readonly perProduct: number;
  readonly perError: number;

  constructor(vector: Float32Array) {
    // The largest magnitude with which no sum of products can overflow 32 bits.
    const max = Math.min(INT16_MAX, Math.floor(INT32_MAX / (BYTE_MAX * Math.max(1, vector.length))));
    this.step = stepOf(vector, max);
    this.numbers = new Int16Array(vector.length);
    let squares = 0;
    for (let at = 0; at < vector.length && this.step > 0; at++) {
      const number = Math.round((vector[at] as number) / this.step);
      this.numbers[at] = number;
      squares += number * number;
    }
    this.perProduct = this.step * 256;
    this.perError = this.step * Math.sqrt(squares);
  }

  /** The score of a row, from its step and the products of its high and of its low bytes. */
  score(step: number, high: number, low: number): number {
    return step * this.step * (high * 256 + low);
  }
}

/** A question's vector, rounded as a search rounds it. */
export function roundedQuestion(vector: Float32Array): Float32Array {
  const { numbers, step } = new Question(vector);
  return Float32Array.from(numbers, (number) => number * step);
}
