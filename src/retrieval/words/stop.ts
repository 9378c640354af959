/**
 * English stop words. They are indexed and can be found, but do not count towards the length of a text. Questions drop
 * them, unless they consist of nothing else: a match of "does" would otherwise count like a match of a name, because
 * fusion scales the words arm by its best hit.
 */
import { analyse } from "./analyse.js";

const ENGLISH =
  "a about am an and any are as at be been being but by can could did do does for from had has have he her hers him his how i if in into is it its me my of on or our ours she should so some than that the their theirs them then there these they this those to us was we were what when where which who whom whose why will with would you your yours";

const STOP_WORDS: ReadonlySet<string> = new Set(ENGLISH.split(" "));
const STOP: ReadonlySet<string> = new Set(analyse(ENGLISH).keys());

/** Whether a word, as written, is a stop word. */
export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase());

/** The terms without stop words; all terms if every one is a stop word. */
export function contentTerms(terms: readonly string[]): readonly string[] {
  const content = terms.filter((term) => !STOP.has(term));
  return content.length > 0 ? content : terms;
}

/** The length of a text for BM25: the number of its terms, repetitions included, without stop words. */
export function contentLength(words: ReadonlyMap<string, number>): number {
  let length = 0;
  for (const [term, count] of words) if (!STOP.has(term)) length += count;
  return length;
}
