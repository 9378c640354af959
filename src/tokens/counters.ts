/**
 * Token counters by name: `chars4`, `estimate`, or a model. All models of one encoding share a counter, which is opened
 * by the first count and closed with the set.
 */
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { CHARS4, countChars4 } from "./chars4.js";
import { TokenCounter } from "./counter.js";
import { ESTIMATE, estimateTokens } from "./estimate.js";
import { type EncodingName, encodingOf } from "./models.js";

export interface Counter {
  readonly name: string;
  /** The tokens of each text, in order; never more than `tokensAtMost`. */
  count(texts: readonly string[]): Promise<readonly number[]>;
}

const chars4: Counter = { name: CHARS4, count: async (texts) => texts.map(countChars4) };
const estimate: Counter = { name: ESTIMATE, count: async (texts) => texts.map(estimateTokens) };

export class Counters {
  readonly #clock: Clock;
  readonly #opened = new Map<EncodingName, TokenCounter>();
  #isClosed = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Refuses an unknown name (`invalid_input`). Loads nothing before the first count. */
  of(name: string): Counter {
    if (name === CHARS4) return chars4;
    if (name === ESTIMATE) return estimate;
    const encoding = encodingNamed(name);
    return { name, count: async (texts) => this.#open(encoding, name).count(texts) };
  }

  /** Lets pending counts finish. Afterwards only counters without a vocabulary work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#opened.values()].map((counter) => counter.close()));
  }

  #open(encoding: EncodingName, model: string): TokenCounter {
    const opened = this.#opened.get(encoding);
    if (opened) return opened;
    if (this.#isClosed) {
      throw new HoldfastError("closed", "the token counters are closed", { hint: "open the memory again" });
    }
    const counter = new TokenCounter(model, this.#clock);
    this.#opened.set(encoding, counter);
    return counter;
  }
}

function encodingNamed(name: string): EncodingName {
  try {
    return encodingOf(name);
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause;
    const hint = `use ${JSON.stringify(CHARS4)}, which needs no model, or ${cause.hint}`;
    throw new HoldfastError("invalid_input", cause.message, { hint, details: { counter: name }, cause });
  }
}
