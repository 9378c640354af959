const UNITS_COMPARED = 100;
/** Half of a name, so that a turned pair of letters in a word of four is still near; a little more, to include it. */
const SHARE_TYPED_WRONG_MAX = 0.51;

/**
 * The candidate a mistyped name most likely meant, or undefined when none is near. Names may be dotted paths or
 * environment variables: one that is the tail of the other, at a separator, is the nearest there is.
 */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  const typed = given.slice(0, UNITS_COMPARED).toLowerCase();
  let best: string | undefined;
  let bestShare = SHARE_TYPED_WRONG_MAX;
  for (const candidate of candidates) {
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

/** How many letters must be put in, taken out or exchanged to make one of the other. Names are short. */
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

/** `; did you mean X?`, or nothing when no candidate is near. */
export function didYouMean(given: string, candidates: Iterable<string>, show = (name: string) => name): string {
  const right = nearest(given, candidates);
  return right === undefined ? "" : `; did you mean ${show(right)}?`;
}
