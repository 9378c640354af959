/** An embedder that costs nothing: every text gets the same precomputed vector. What remains is Holdfast's own cost. */
import type { Embedder, EmbedderDescription } from "holdfast/embedding";

/** Equal to MiniLM's, so that as many bytes are written. */
export const DIMENSIONS = 384;
const TOKENS_MAX = 256;
const CHARACTERS_PER_TOKEN = 4;

/** Of unit length. */
export const VECTOR = new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS));

export class FreeEmbedder implements Embedder {
  readonly model = "free";

  async describe(): Promise<EmbedderDescription> {
    return { space: { model: this.model, runtime: "bench", dimensions: DIMENSIONS }, tokensMax: TOKENS_MAX };
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    return texts.map((text) => Math.ceil(text.length / CHARACTERS_PER_TOKEN));
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    return texts.map(() => VECTOR);
  }

  async close(): Promise<void> {}
}
