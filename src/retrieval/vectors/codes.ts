/**
 * Codes: the vectors of an item in bytes, as the file and mirrors keep them, 16 bits a number (quantise.ts).
 *
 * The layout is: a step and an error for each vector (float32, little-endian), then the high bytes of all vectors, then
 * their low bytes (int8). A number is step · (256 · high + low). The error is the length of the vector that the low bytes
 * add: a score differs from the score of the high bytes alone by at most this error times the length of the question.
 */
import { type Question, STORED_MAX, stepOf } from "./quantise.js";

export const HEAD_BYTES = 8;
const ERROR = 4;
/** Keeps an error from becoming too low when it is rounded to float32. */
const UPWARDS = 1 + 1e-6;

export interface Head {
  readonly step: number;
  readonly error: number;
}

/** Bytes of the code of one vector. */
export const codeLength = (dimensions: number): number => HEAD_BYTES + 2 * dimensions;

/** The number of vectors in these codes; 0 if their length is wrong. */
export const countIn = (codes: Uint8Array, dimensions: number): number =>
  codes.length % codeLength(dimensions) === 0 ? codes.length / codeLength(dimensions) : 0;

/** Encodes the vectors of an item, given one after the other. */
export function encode(vectors: Float32Array, dimensions: number): Uint8Array {
  const count = Math.floor(vectors.length / dimensions);
  const codes = new Uint8Array(count * codeLength(dimensions));
  const heads = viewOf(codes);
  const { high, low } = planesOf(codes, count, dimensions);
  for (let part = 0; part < count; part++) {
    const first = part * dimensions;
    const step = stepOf(vectors.subarray(first, first + dimensions), STORED_MAX);
    if (step === 0) continue;
    let squares = 0;
    for (let at = first; at < first + dimensions; at++) {
      const number = Math.round((vectors[at] as number) / step);
      const top = (number + 128) >> 8;
      const rest = number - top * 256;
      high[at] = top;
      low[at] = rest;
      squares += rest * rest;
    }
    heads.setFloat32(part * HEAD_BYTES, step, true);
    heads.setFloat32(part * HEAD_BYTES + ERROR, step * Math.sqrt(squares) * UPWARDS, true);
  }
  return codes;
}

export function decode(codes: Uint8Array, dimensions: number): Float32Array {
  const count = countIn(codes, dimensions);
  const { high, low } = planesOf(codes, count, dimensions);
  const vectors = new Float32Array(count * dimensions);
  for (let part = 0; part < count; part++) {
    const { step } = headOf(codes, part);
    for (let at = part * dimensions; at < (part + 1) * dimensions; at++) {
      vectors[at] = step * ((high[at] as number) * 256 + (low[at] as number));
    }
  }
  return vectors;
}

/** A vector as it is after it was stored. */
export const rounded = (vector: Float32Array): Float32Array => decode(encode(vector, vector.length), vector.length);

/** The score of an item: that of its nearest vector; undefined if it has none. */
export function scoreOf(codes: Uint8Array, question: Question): number | undefined {
  const { numbers } = question;
  const dimensions = numbers.length;
  const count = countIn(codes, dimensions);
  const { high, low } = planesOf(codes, count, dimensions);
  let best: number | undefined;
  for (let part = 0; part < count; part++) {
    const first = part * dimensions;
    let highs = 0;
    let lows = 0;
    for (let at = 0; at < dimensions; at++) {
      const number = numbers[at] as number;
      highs = (highs + (high[first + at] as number) * number) | 0; // sums of 31 bits: integers are faster
      lows = (lows + (low[first + at] as number) * number) | 0;
    }
    const score = question.score(headOf(codes, part).step, highs, lows);
    if (best === undefined || score > best) best = score;
  }
  return best;
}

export function headOf(codes: Uint8Array, part: number): Head {
  const heads = viewOf(codes);
  const at = part * HEAD_BYTES;
  return { step: heads.getFloat32(at, true), error: heads.getFloat32(at + ERROR, true) };
}

const viewOf = (codes: Uint8Array): DataView => new DataView(codes.buffer, codes.byteOffset, codes.byteLength);

function planesOf({ buffer, byteOffset }: Uint8Array, count: number, dimensions: number) {
  const start = byteOffset + count * HEAD_BYTES;
  const length = count * dimensions;
  return { high: new Int8Array(buffer, start, length), low: new Int8Array(buffer, start + length, length) };
}
