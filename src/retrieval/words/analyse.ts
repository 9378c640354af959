/**
 * Analysis: turns text into terms with their counts. Messages and questions are analysed in the same way.
 *
 * Guarantees for every term: 1 to 64 UTF-16 units, no white space, no control characters, and of the ASCII punctuation
 * only # & + - . / : @ _ ~. Guarantees for a text: every normalisation form of it has the same terms; two texts joined
 * by a space have the terms of both; time is linear in the length of the text, whatever it contains.
 */
import { classAt, DIGIT, EMOJI, FLAG, HANGUL, IDEOGRAPH, KEYCAP, LOWER, UNSPACED, UPPER } from "./characters.js";
import { readCjk } from "./cjk.js";
import { readEmoji, readFlag, readKeycap } from "./emoji.js";
import { foldText } from "./fold.js";
import { readToken } from "./token.js";
import { readUnspaced } from "./unspaced.js";

/**
 * Raised with every change to what `analyse` returns or to how its index is written. An index of another version is
 * rebuilt. 2: an index of version 1 may lack words of items that were added beside an edit. 3: stop words do not count
 * towards the length of a text. 4: exact terms are indexed too (exact.ts). 5: if a long text has very many distinct
 * words, only its beginning is indexed.
 */
export const ANALYSIS_VERSION = 5;

/** The distinct terms of a text, each with the number of its occurrences. */
export function analyse(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const folded = foldText(text);
  let at = 0;
  while (at < folded.length) at = readAt(folded, at, counts);
  return counts;
}

/** Counts the terms that start at `at`, if any, and returns the position to continue from. */
function readAt(text: string, at: number, counts: Map<string, number>): number {
  switch (classAt(text, at)) {
    case LOWER:
    case UPPER:
    case DIGIT:
      return readToken(text, at, counts);
    case IDEOGRAPH:
    case HANGUL:
      return readCjk(text, at, counts);
    case UNSPACED:
      return readUnspaced(text, at, counts);
    case EMOJI:
      return readEmoji(text, at, counts);
    case FLAG:
      return readFlag(text, at, counts);
    case KEYCAP:
      return readKeycap(text, at, counts);
    default:
      return at + 1;
  }
}
