/**
 * Estimates the tokens of a text without a vocabulary, so that neither a thread nor a table is loaded. The estimate
 * errs on the high side for what people and programs write, so text that fits by the estimate fits a model's window.
 * Noise (random letters) may have twice as many tokens; no text has more tokens than bytes.
 *
 * Weights: four lower-case letters are a token, and a capital starts another; three digits are one; two letters of
 * another alphabet are one; eight blanks or line breaks are one; each punctuation mark, each other character and each
 * half of an emoji is one; letters that few models know count by their bytes.
 */
import { graphemeStart } from "../graphemes.js";

/** The maximal length of a token, in UTF-16 units. */
export const TOKEN_UNITS_MAX = 8;

/** The name of this counter. */
export const ESTIMATE = "estimate";

const RARE = /[\u0700-\u08ff\u0f00-\u0fff\u1200-\u1cff\u2c00-\u2dff\ua000-\uabff]/;
const PIECES =
  / ?[A-Z]?[a-z]{1,4}|[A-Z]{1,2}|[0-9]{1,3}|[\u0700-\u08ff]|[\u00c0-\u06ff\u0900-\u0dff]{1,2}|[ \t\r\n]{1,8}|\s|\S/g;
/** For letters that few models know: two bytes in UTF-8 up to here, else three. */
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
