/**
 * Analysis: text in, terms with their counts out; the same for what is indexed and for what is asked.
 *
 * Guarantees for every term: at least one and at most 64 UTF-16 units, no white space, no control character, and of the
 * ASCII marks only # & + - . / : @ _ ~. Guarantees for the whole: a text in another normalisation form has the same
 * terms, two texts with a space between them have the terms of both, and time is linear in the length of the text,
 * whatever it contains.
 */
import { classAt, DIGIT, EMOJI, FLAG, HANGUL, IDEOGRAPH, KEYCAP, LOWER, UNSPACED, UPPER } from "./characters.js";
import { readCjk } from "./cjk.js";
import { readEmoji, readFlag, readKeycap } from "./emoji.js";
import { foldText } from "./fold.js";
import { readToken } from "./token.js";
import { readUnspaced } from "./unspaced.js";

/**
 * Raised with every change of what `analyse` returns, or of how its index is written: an index of another version has to
 * be built anew. 2: one of version 1 may have lost words of items that were added beside an edit. 3: stop words do not
 * count for the length of a text.
 */
export const ANALYSIS_VERSION = 3;

/** The distinct terms of a text, each with how often it occurs. */
export function analyse(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const folded = foldText(text);
  let at = 0;
  while (at < folded.length) at = readAt(folded, at, counts);
  return counts;
}

/** Counts what starts at `at`, if anything does, and says where to read on. */
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
