/** Plain words: letters, with nothing to split. A plain word is one term. */
import { foldCase } from "./fold.js";
import { stem } from "./stem.js";
import { cut, own } from "./terms.js";

/**
 * Terms of the words seen lately, as they were written. Emptied when full: simpler than an order of use, and the few
 * thousand words that make up most text are back within milliseconds. Long words stay out, and so does all that is
 * not a word: addresses, keys and numbers of a forgotten message do not live on here.
 */
const cache = new Map<string, string>();
const CACHE_WORDS_MAX = 50_000;
const CACHED_UNITS_MAX = 24;

/** The term of a word of folded text. Requires letters, marks and apostrophes only, the first of them a letter. */
export function wordTerm(word: string): string {
  return cache.get(word) ?? remember(word);
}

function remember(word: string): string {
  const term = own(cut(stem(foldCase(cut(word.replaceAll("'", ""))))));
  if (word.length > CACHED_UNITS_MAX) return term;
  if (cache.size >= CACHE_WORDS_MAX) cache.clear();
  cache.set(own(word), term);
  return term;
}
