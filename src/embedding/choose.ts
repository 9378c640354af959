/** Selects the embedder that the options ask for. */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Embedder } from "./embedder.js";
import { MODEL_NAME } from "./minilm/choice.js";
import { MiniLmEmbedder } from "./minilm/minilm.js";
import { OpenAiEmbedder } from "./openai/embedder.js";

/** The model name that stands for no model: search by words only. */
export const NO_MODEL = "none";

export interface EmbeddingChoice {
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly dimensions: number | undefined;
  readonly tokensMax: number | undefined;
}

/** Undefined for words only. */
export function chooseEmbedder(choice: EmbeddingChoice, clock: Clock): Embedder | undefined {
  const { model, baseUrl, apiKey, timeoutMs, batchSize, dimensions, tokensMax } = choice;
  if (model === NO_MODEL) return undefined;
  if (baseUrl !== undefined) {
    return new OpenAiEmbedder({
      baseUrl,
      model,
      timeoutMs,
      batchSize,
      clock,
      ...(apiKey !== undefined && { apiKey }),
      ...(dimensions !== undefined && { dimensions }),
      ...(tokensMax !== undefined && { tokensMax }),
    });
  }
  if (model === MODEL_NAME) return new MiniLmEmbedder();
  throw new HoldfastError("config", `the embedding model ${JSON.stringify(model)} is not in the package`, {
    hint: `omit it to use ${MODEL_NAME}, set embedding.baseUrl to a server that has it, or use "${NO_MODEL}" for words only`,
  });
}
