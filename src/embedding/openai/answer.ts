/**
 * Reads the vectors of an answer, or refuses the answer as a whole. It must have exactly one vector per text, all with
 * the dimensions seen before, of finite numbers, and none zero. The vectors are normalised to unit length here,
 * whatever the server does.
 */
import { HoldfastError } from "../../errors.js";

export interface Expected {
  readonly texts: number;
  /** Undefined if none were seen yet. */
  readonly dimensions: number | undefined;
  /** The index of the first text in the caller's list. */
  readonly offset: number;
}

export function vectorsOf(answer: unknown, { texts, dimensions, offset }: Expected): Float32Array[] {
  const data = fieldOf(answer, "data");
  if (!Array.isArray(data)) throw wrong("an answer without a list of embeddings");
  if (data.length !== texts) throw wrong(`a wrong number of embeddings: expected ${texts}, got ${data.length}`);
  const vectors = new Map<number, Float32Array>();
  let expected = dimensions;
  for (const entry of data) {
    const index = fieldOf(entry, "index");
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= texts || vectors.has(index)) {
      throw wrong("embeddings without the index of their text");
    }
    const numbers = numbersOf(fieldOf(entry, "embedding"), offset + index);
    expected ??= numbers.length;
    if (numbers.length !== expected) {
      throw wrong(`wrong dimensions: expected ${expected}, got ${numbers.length}`, offset + index);
    }
    vectors.set(index, unitOf(numbers, offset + index));
  }
  return [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector);
}

type Numbers = readonly number[] | Float32Array;

/** Accepts a list of numbers, or little-endian 32-bit floats in base64, which some servers send unasked. */
function numbersOf(embedding: unknown, index: number): Numbers {
  const numbers = typeof embedding === "string" ? fromBase64(embedding) : embedding;
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array;
  if (!isList || numbers.length === 0) throw wrong("an embedding that is not a list of numbers", index);
  if (!numbers.every(Number.isFinite)) throw wrong("an embedding with components that are not finite numbers", index);
  return numbers;
}

function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

/** In double precision, so that neither large nor small components lose precision. */
function unitOf(numbers: Numbers, index: number): Float32Array {
  let squares = 0;
  for (const value of numbers) squares += value * value;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) throw wrong("an embedding of length zero or infinity", index);
  return Float32Array.from(numbers, (value) => value / length);
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as { readonly [key: string]: unknown })[key] : undefined;
}

function wrong(what: string, index?: number): HoldfastError {
  return new HoldfastError("embedder_failed", `the embedding server returned ${what}`, {
    hint: "the answer was discarded; check that the server still serves the same model",
    ...(index !== undefined && { details: { index } }),
  });
}
