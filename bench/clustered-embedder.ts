/**
 * An embedder for measurements: a text's vector is derived from its hash, near one of many centres, with unit length. It has
 * no meaning, so it says nothing about recall, but a scan does the same work as with a model's vectors, and it makes 230,000
 * of them per second.
 *
 * With `asked`, that embedder also embeds every text, and its vectors are discarded: this measures the cost of a model on a
 * file of vectors that the model did not make.
 */
import type { Embedder, EmbedderDescription, EmbedOptions } from "holdfast/embedding";
import { randomFrom } from "./data.js";

/** Equal to MiniLM's. */
export const DIMENSIONS = 384;
const CENTRES = 1_000;
/** Gives two texts of one centre a cosine of about 0.5. */
const NOISE = 1;
const TOKENS_MAX = 256;
const CHARACTERS_PER_TOKEN = 4;

export class ClusteredEmbedder implements Embedder {
  readonly model = "clustered";
  readonly #asked: Embedder | undefined;
  readonly #centres: readonly Float32Array[];

  constructor(asked?: Embedder) {
    this.#asked = asked;
    this.#centres = Array.from({ length: CENTRES }, (_, at) => scattered(at + 1));
  }

  async describe(): Promise<EmbedderDescription> {
    await this.#asked?.describe();
    return { space: { model: this.model, runtime: "bench", dimensions: DIMENSIONS }, tokensMax: TOKENS_MAX };
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    return texts.map((text) => Math.ceil(text.length / CHARACTERS_PER_TOKEN));
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]> {
    await this.#asked?.embed(texts, options);
    return texts.map((text) => this.vectorOf(text));
  }

  vectorOf(text: string): Float32Array {
    const hash = hashOf(text);
    const vector = scattered(hash);
    const centre = this.#centres[hash % CENTRES] ?? vector;
    for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) * NOISE + (centre[at] ?? 0);
    return normalised(vector);
  }

  /** The wrapped embedder is closed by its owner. */
  async close(): Promise<void> {}
}

function scattered(seed: number): Float32Array {
  const random = randomFrom(seed);
  const vector = new Float32Array(DIMENSIONS);
  for (let at = 0; at < DIMENSIONS; at++) vector[at] = random() - 0.5;
  return normalised(vector);
}

function normalised(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** FNV-1a over the UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
