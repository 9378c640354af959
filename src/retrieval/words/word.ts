/** Plain words: letters only, nothing to split. A plain word is one term. */
import { foldCase } from "./fold.js";
import { stem } from "./stem.js";
import { cut, own } from "./terms.js";

/**
 * Caches the terms of words as written. The cache is cleared when full: that is simpler than LRU, and the few thousand
 * words that make up most text are back within milliseconds. Long words and everything that is not a plain word
 * (addresses, keys, numbers) are not cached, so they do not outlive a forgotten message.
 */
const cache = new Map<string, string>();
const CACHE_WORDS_MAX = 50_000;
const CACHED_UNITS_MAX = 24;

/** The term of a word of folded text. Requires letters, marks and apostrophes only, beginning with a letter. */
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
