/**
 * Embeds a question. If it is too long for the model, it is embedded in pieces, and the mean of their vectors is used.
 */
import { chunkItems } from "../retrieval/chunks/chunks.js";
import { chunkStrategy } from "../retrieval/chunks/strategy.js";
import type { Embedder, EmbedderDescription } from "./embedder.js";

/** The rest of a longer question is searched by words only. */
const PIECES_MAX = 8;

export interface QuestionVector {
  readonly vector: Float32Array;
  /** True if the end of the question was left out. */
  readonly cut: boolean;
}

/** Undefined if the question has no text. */
export async function embedQuestion(
  embedder: Embedder,
  { tokensMax }: EmbedderDescription,
  text: string,
  signal?: AbortSignal,
): Promise<QuestionVector | undefined> {
  const question = text.trim();
  if (question === "") return undefined;
  const options = { urgent: true, ...(signal && { signal }) };
  const [tokens = 0] = isSurelyShort(question, tokensMax) ? [0] : await embedder.countTokens([question]);
  if (tokens <= tokensMax) {
    const [vector] = await embedder.embed([question], options);
    return vector && { vector, cut: false };
  }
  const item = { key: 0, version: 0, content: question };
  const fit = { tokensMax, countTokens: (texts: readonly string[]) => embedder.countTokens(texts) };
  const [chunked] = await chunkItems(chunkStrategy("message"), [{ item, earlier: [] }], fit);
  const chunks = chunked?.chunks ?? [];
  if (chunks.length === 0) return undefined;
  const pieces = chunks.slice(0, PIECES_MAX).map((chunk) => chunk.text);
  return {
    vector: meanVector((await embedder.embed(pieces, options)).map((vector) => ({ vector, weight: 1 }))),
    cut: chunks.length > PIECES_MAX,
  };
}

/** No encoding makes more tokens than bytes. */
const isSurelyShort = (text: string, tokensMax: number): boolean =>
  Buffer.byteLength(text.normalize("NFD"), "utf8") + 8 <= tokensMax;

/** The weighted mean of vectors, normalised to unit length. */
export function meanVector(parts: readonly { readonly vector: Float32Array; readonly weight: number }[]): Float32Array {
  const sum = new Float32Array(parts[0]?.vector.length ?? 0);
  for (const { vector, weight } of parts)
    for (let at = 0; at < sum.length; at++) sum[at] = Number(sum[at]) + weight * Number(vector[at]);
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}
