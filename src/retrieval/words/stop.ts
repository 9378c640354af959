/**
 * Words that say nothing about what a text is about. They are indexed and found like all others, but do not count for
 * the length of a text; and a question goes without them where meaning is asked as well: there a match of "does" would
 * count as much as one of a name, because each arm is scaled by its own best hit.
 */
import { analyse } from "./analyse.js";

const ENGLISH =
  "a about am an and any are as at be been being but by can could did do does for from had has have he her hers him his how i if in into is it its me my of on or our ours she should so some than that the their theirs them then there these they this those to us was we were what when where which who whom whose why will with would you your yours";

const STOP_WORDS: ReadonlySet<string> = new Set(ENGLISH.split(" "));
const STOP: ReadonlySet<string> = new Set(analyse(ENGLISH).keys());

/** Whether a word, as it is written, says nothing by itself. */
export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase());

/** The terms that carry the question; all of them if none does. */
export function contentTerms(terms: readonly string[]): readonly string[] {
  const content = terms.filter((term) => !STOP.has(term));
  return content.length > 0 ? content : terms;
}

/** The length of a text, as BM25 needs it: how many terms it has, repeated ones too, that are no stop words. */
export function contentLength(words: ReadonlyMap<string, number>): number {
  let length = 0;
  for (const [term, count] of words) if (!STOP.has(term)) length += count;
  return length;
}
