/**
 * How many tokens a text has, without a vocabulary: no thread and no table is loaded for it. Made to err on the high side
 * for what people and programs write, so that what fits the estimate fits a model's window. Noise (random letters) can
 * have twice as many; no text has more than it has bytes.
 *
 * A run of small letters is a token per four, a capital begins another run, three digits are one, two letters of a
 * script with an alphabet are one; eight blanks or line ends are one; each sign, each other character and each half of an emoji
 * count by themselves; letters that few models know count by their bytes.
 */
import { graphemeStart } from "../graphemes.js";

/** No token is longer, in UTF-16 units. */
export const TOKEN_UNITS_MAX = 8;

/** The counter of this name counts so. */
export const ESTIMATE = "estimate";

const RARE = /[\u0700-\u08ff\u0f00-\u0fff\u1200-\u1cff\u2c00-\u2dff\ua000-\uabff]/;
const PIECES =
  / ?[A-Z]?[a-z]{1,4}|[A-Z]{1,2}|[0-9]{1,3}|[\u0700-\u08ff]|[\u00c0-\u06ff\u0900-\u0dff]{1,2}|[ \t\r\n]{1,8}|\s|\S/g;
/** Of a letter that few models know: two bytes in UTF-8, or three. */
const TWO_BYTES_MAX = "\u07ff";

export function estimateTokens(text: string): number {
  const pieces = text.match(PIECES) ?? [];
  return RARE.test(text) ? pieces.reduce((sum, piece) => sum + weightOf(piece), 0) : pieces.length;
}

/** The end of the longest head, in whole graphemes, that fits by the estimate. */
export function estimatedHead(text: string, maxTokens: number): number {
  let left = maxTokens;
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    left -= weightOf(piece);
    if (left < 0) return graphemeStart(text, 0, index);
  }
  return text.length;
}

function weightOf(piece: string): number {
  if (!RARE.test(piece)) return 1;
  return piece <= TWO_BYTES_MAX ? 2 : 3;
}
