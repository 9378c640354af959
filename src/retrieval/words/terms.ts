/** Terms: the unit of indexing and search. */

/** The maximal length of a term in UTF-16 units. Longer terms are cut, in documents and questions alike. */
export const TERM_UNITS_MAX = 64;

/** V8 represents a slice of at least this many units as a view of its source string; shorter slices are copies. */
const WINDOW_UNITS_MIN = 13;

/** Cuts a string to `unitsMax`, by default the length of a term, without splitting a code point. */
export function cut(text: string, unitsMax = TERM_UNITS_MAX): string {
  if (text.length <= unitsMax) return text;
  const last = text.charCodeAt(unitsMax - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, splitsPair ? unitsMax - 1 : unitsMax);
}

/**
 * Copies a string, so that it does not reference a longer one. Terms live on in caches and postings; as a slice, a term
 * would keep the whole text of a forgotten message in memory.
 */
export function own(text: string): string {
  return text.length < WINDOW_UNITS_MIN ? text : ` ${text}`.slice(1);
}

/** Counts one occurrence of a term. Requires a term that is not empty. */
export function addTerm(counts: Map<string, number>, term: string): void {
  const seen = counts.get(term);
  if (seen !== undefined) counts.set(term, seen + 1);
  else if (term.length < WINDOW_UNITS_MIN) counts.set(term, 1);
  else addLong(counts, own(cut(term)));
}

function addLong(counts: Map<string, number>, term: string): void {
  counts.set(term, (counts.get(term) ?? 0) + 1);
}
