/** Splits a block's content at its budget. */
import type { Counter } from "../tokens/counters.js";
import { headThatFits } from "../tokens/fit.js";

export interface Overflow {
  /**
   * The head that fits the budget; empty only if a model's counter needs more than the whole budget for the first
   * grapheme.
   */
  readonly kept: string;
  readonly overflow: string;
}

/** Undefined if the content fits. `kept + overflow` is always the content, cut between graphemes. */
export async function splitOverflow(
  content: string,
  maxTokens: number,
  counter: Counter,
): Promise<Overflow | undefined> {
  const end = await headThatFits(content, maxTokens, counter);
  return end === content.length ? undefined : { kept: content.slice(0, end), overflow: content.slice(end) };
}
