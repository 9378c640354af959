/** Terms: what is indexed and asked for. */

/** A term has at most this many UTF-16 units; a longer one is cut, in documents and queries alike. */
export const TERM_UNITS_MAX = 64;

/** V8 makes a slice of this many units or more a window on its source; a shorter one is a copy. */
const WINDOW_UNITS_MIN = 13;

/** A string cut to the length of a term, at a code point. */
export function cut(text: string): string {
  if (text.length <= TERM_UNITS_MAX) return text;
  const last = text.charCodeAt(TERM_UNITS_MAX - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, splitsPair ? TERM_UNITS_MAX - 1 : TERM_UNITS_MAX);
}

/**
 * The same string in memory of its own. A term lives longer than its message, in caches and postings, and as a window
 * it would hold on to the whole text of a message that has been forgotten.
 */
export function own(text: string): string {
  return text.length < WINDOW_UNITS_MIN ? text : ` ${text}`.slice(1);
}

/** Counts one more occurrence of a term. Requires a term that is not empty. */
export function addTerm(counts: Map<string, number>, term: string): void {
  const seen = counts.get(term);
  if (seen !== undefined) counts.set(term, seen + 1);
  else if (term.length < WINDOW_UNITS_MIN) counts.set(term, 1);
  else addLong(counts, own(cut(term)));
}

function addLong(counts: Map<string, number>, term: string): void {
  counts.set(term, (counts.get(term) ?? 0) + 1);
}
