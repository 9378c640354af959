/**
 * The lengths of texts for a model on a server. OpenAI's own models are counted exactly, in the counting thread, which
 * starts only for a text that may be too long. The tokenizer of any other model is unknown, so an upper bound is used:
 * a tokenizer makes at most one token per byte, after normalising the text in one of the usual ways, and adds a start,
 * an end and a mark before the first word.
 */
import type { Clock } from "../../clock.js";
import { tokensAtMost } from "../../tokens/bound.js";
import { TokenCounter } from "../../tokens/counter.js";
import { isKnownTokenModel } from "../../tokens/models.js";

/** As documented by OpenAI for its embedding models. */
const OPENAI_TOKENS_MAX = 8_191;
/** The limit of the smallest models in common use. A server would truncate longer texts silently. */
const OTHER_TOKENS_MAX = 512;
const ADDED_TOKENS = 3;

export class Lengths {
  readonly tokensMax: number;
  readonly #model: string;
  readonly #isExact: boolean;
  readonly #clock: Clock;
  #counter: TokenCounter | undefined;

  constructor(model: string, tokensMax: number | undefined, clock: Clock) {
    this.#model = model;
    this.#isExact = isKnownTokenModel(model);
    this.tokensMax = tokensMax ?? (this.#isExact ? OPENAI_TOKENS_MAX : OTHER_TOKENS_MAX);
    this.#clock = clock;
  }

  async count(texts: readonly string[]): Promise<readonly number[]> {
    if (!this.#isExact) return texts.map(boundOf);
    this.#counter ??= new TokenCounter(this.#model, this.#clock);
    return this.#counter.count(texts);
  }

  /** The index of the first text that is too long; −1 if there is none. */
  async findTooLong(texts: readonly string[]): Promise<number> {
    const doubtful = [...texts.keys()].filter((index) => this.#mayBeTooLong(texts[index] ?? ""));
    if (doubtful.length === 0) return -1;
    const counts = await this.count(doubtful.map((index) => texts[index] ?? ""));
    return doubtful.find((_, at) => (counts[at] ?? 0) > this.tokensMax) ?? -1;
  }

  async close(): Promise<void> {
    await this.#counter?.close();
  }

  #mayBeTooLong(text: string): boolean {
    return (this.#isExact ? tokensAtMost(text) : boundOf(text)) > this.tokensMax;
  }
}

function boundOf(text: string): number {
  return Math.max(tokensAtMost(text.normalize("NFD")), tokensAtMost(text.normalize("NFKD"))) + ADDED_TOKENS;
}
