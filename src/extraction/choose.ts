/** Selects the extractor that the options ask for. */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Extractor } from "./extractor.js";
import { OpenAiExtractor } from "./openai.js";

export interface ExtractionChoice {
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/** Undefined if nothing is to be extracted, which is the default. */
export function chooseExtractor(choice: ExtractionChoice, clock: Clock): Extractor | undefined {
  const { baseUrl, model, apiKey, timeoutMs } = choice;
  if (baseUrl === undefined && model === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) {
    throw new HoldfastError("config", "extraction.baseUrl and extraction.model go together", {
      hint: "give both, or neither: without them no facts are extracted",
    });
  }
  return new OpenAiExtractor({ baseUrl, model, timeoutMs, clock, ...(apiKey !== undefined && { apiKey }) });
}
