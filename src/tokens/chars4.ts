/**
 * The counter without a vocabulary: four graphemes are a token. A text fits a budget if it has at most four graphemes
 * per token.
 */
import { countGraphemes } from "../graphemes.js";

export const CHARS4 = "chars4";
export const GRAPHEMES_PER_TOKEN = 4;

export function countChars4(text: string): number {
  return Math.ceil(countGraphemes(text) / GRAPHEMES_PER_TOKEN);
}
