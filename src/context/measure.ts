/**
 * Measure: counts the tokens of texts, each once. If the counter fails, Measure continues with an upper bound that
 * holds for every encoding, because a context that is too short is better than none.
 */
import { HoldfastError } from "../errors.js";
import { tokensAtMost } from "../tokens/bound.js";
import type { Counter } from "../tokens/counters.js";

/** The maximal length of a token in UTF-16 units. Longer words are cut before they are counted. */
const TOKEN_UNITS_MAX = 512;

export class Measure {
  readonly counter: Counter;
  readonly #unitsMax: number;
  readonly #counts = new Map<string, number>();
  #failed = false;

  /** Text that certainly has more than `maxTokens` tokens is not counted. */
  constructor(counter: Counter, maxTokens: number) {
    this.#unitsMax = maxTokens * TOKEN_UNITS_MAX;
    this.counter = {
      name: counter.name,
      count: async (texts) => {
        if (this.#failed) return texts.map(tokensAtMost);
        try {
          return await counter.count(texts);
        } catch (error) {
          if (error instanceof HoldfastError && error.code === "closed") throw error;
          this.#failed = true;
          this.#counts.clear();
          return texts.map(tokensAtMost);
        }
      },
    };
  }

  get failed(): boolean {
    return this.#failed;
  }

  async each(texts: readonly string[]): Promise<readonly number[]> {
    const isCounted = (text: string): boolean => text.length <= this.#unitsMax;
    const unknown = [...new Set(texts)].filter((text) => isCounted(text) && !this.#counts.has(text));
    if (unknown.length > 0) {
      const counts = await this.counter.count(unknown);
      for (const [index, text] of unknown.entries()) this.#counts.set(text, counts[index] ?? tokensAtMost(text));
    }
    // A failure while counting clears the earlier counts.
    return texts.map((text) => (isCounted(text) ? (this.#counts.get(text) ?? tokensAtMost(text)) : Infinity));
  }

  async of(text: string): Promise<number> {
    if (text === "") return 0;
    return (await this.each([text]))[0] ?? tokensAtMost(text);
  }
}
