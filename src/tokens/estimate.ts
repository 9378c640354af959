/**
 * How many tokens a text has, without a vocabulary: no thread and no table is loaded for it. Made to err on the high side
 * for what people and programs write, so that what fits the estimate fits a model's window. For noise (random letters,
 * scripts that few models know) it is low, by half at most.
 *
 * A run of small letters is a token per four, a capital begins another run, three digits are one, two letters of a
 * script with an alphabet are one, as are eight blanks or line ends; each sign, each other character and each half of an
 * emoji count by themselves.
 */
import { graphemeStart } from "../graphemes.js";

/** No token is longer, in UTF-16 units. */
export const TOKEN_UNITS_MAX = 8;

const PIECES = / ?[A-Z]?[a-z]{1,4}|[A-Z]{1,2}|[0-9]{1,3}|[\u00c0-\u0dff]{1,2}|[ \t\r\n]{1,8}|\s|\S/g;

export function estimateTokens(text: string): number {
  return text.match(PIECES)?.length ?? 0;
}

/** The end of the longest head, in whole graphemes, that fits by the estimate. */
export function estimatedHead(text: string, maxTokens: number): number {
  let left = maxTokens;
  for (const { index } of text.matchAll(PIECES)) if (--left < 0) return graphemeStart(text, 0, index);
  return text.length;
}
