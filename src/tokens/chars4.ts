/**
 * The counter that needs no vocabulary: four characters, as people see them, are a token. A text fits a budget while it
 * has at most four graphemes for each of its tokens.
 */
import { countGraphemes } from "../graphemes.js";

export const CHARS4 = "chars4";
export const GRAPHEMES_PER_TOKEN = 4;

export function countChars4(text: string): number {
  return Math.ceil(countGraphemes(text) / GRAPHEMES_PER_TOKEN);
}
