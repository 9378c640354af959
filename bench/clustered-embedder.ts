/**
 * An embedder for measuring: a text's vector follows from its hash alone, near one of many centres, of unit length. It
 * means nothing, so nothing can be said of recall with it; but a scan has as much to do as with a model's vectors, and
 * 230,000 of them are made in a second.
 *
 * With `asked`, that embedder embeds every text as well, for real, and its vectors are thrown away: the cost of a model in
 * a file of vectors that the model did not make.
 */
import type { Embedder, EmbedderDescription, EmbedOptions } from "holdfast/embedding";
import { randomFrom } from "./data.js";

/** As many as MiniLM has. */
export const DIMENSIONS = 384;
const CENTRES = 1_000;
/** Two texts of one centre have a cosine of about 0.5 then. */
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

  /** The embedder that is asked is its maker's to close. */
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
