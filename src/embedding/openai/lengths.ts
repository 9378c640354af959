/**
 * How long texts are for a model on a server. OpenAI's own models are counted exactly, in the counting thread, which only
 * starts for a text that could be too long. What tokenizer another model has cannot be asked, so there it is a bound: no
 * tokenizer makes more tokens than bytes, after it has normalised the text in one of the usual ways, and adds a start, an
 * end and a mark before the first word.
 */
import type { Clock } from "../../clock.js";
import { tokensAtMost } from "../../tokens/bound.js";
import { TokenCounter } from "../../tokens/counter.js";
import { isKnownTokenModel } from "../../tokens/models.js";

/** What OpenAI documents for its embedding models. */
const OPENAI_TOKENS_MAX = 8_191;
/** What the smallest models in common use take; a server that cuts longer texts would do so without a word. */
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
