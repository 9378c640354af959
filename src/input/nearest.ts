const UNITS_COMPARED = 100;
/**
 * Half of a name, so that two swapped letters in a four-letter word still match; slightly more, to include exactly
 * half.
 */
const SHARE_TYPED_WRONG_MAX = 0.51;

/** Names for the same thing in other memories and search engines, which no distance of letters brings together. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["topk", "limit", "k", "count"],
  ["content", "text"],
  ["query", "question", "q", "text"],
];

/**
 * The candidate that a mistyped name most likely meant; undefined if none is close. Names may be dotted paths or
 * environment variables: a name that is the tail of the other, after a separator, is the closest match.
 */
export function nearest(
  given: string,
  candidates: Iterable<string>,
  shareMax = SHARE_TYPED_WRONG_MAX,
): string | undefined {
  const typed = given.slice(0, UNITS_COMPARED).toLowerCase();
  const known = [...candidates];
  const itself = known.find((candidate) => candidate.toLowerCase() === typed);
  if (itself !== undefined) return itself;
  let best = known.find((candidate) => areSynonyms(typed.replaceAll("_", ""), candidate.toLowerCase()));
  let bestShare = best === undefined ? shareMax : 0;
  for (const candidate of known) {
    const right = candidate.toLowerCase();
    const tail = isTail(typed, right) || isTail(right, typed);
    const share = tail ? 0 : distance(typed, right) / Math.max(typed.length, right.length);
    if (share < bestShare) {
      best = candidate;
      bestShare = share;
    }
  }
  return best;
}

const areSynonyms = (one: string, other: string): boolean =>
  SYNONYMS.some((names) => names.includes(one) && names.includes(other));

/** The Levenshtein distance: the number of letters to insert, delete or replace. Names are short. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, letters) => letters);
  for (let at = 1; at <= from.length; at++) {
    const next = [at];
    for (let end = 1; end <= to.length; end++) {
      const exchanged = (row[end - 1] ?? 0) + (from[at - 1] === to[end - 1] ? 0 : 1);
      next.push(Math.min((row[end] ?? 0) + 1, (next[end - 1] ?? 0) + 1, exchanged));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

function isTail(tail: string, whole: string): boolean {
  if (tail.length < 3) return false;
  return whole === tail || whole.endsWith(`.${tail}`) || whole.endsWith(`_${tail}`);
}

/** `; did you mean X?`, or an empty string if no candidate is close. */
export function didYouMean(given: string, candidates: Iterable<string>, show = (name: string) => name): string {
  const right = nearest(given, candidates);
  return right === undefined ? "" : `; did you mean ${show(right)}?`;
}
