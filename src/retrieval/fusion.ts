/**
 * Fusion: one list from two, by their scores, each scaled to 0…1 over its own hits. Ranks would throw away how much
 * better one hit is than the next; measured, fused ranks find less than words alone (docs/benchmarks.md).
 */

/** Shares of meaning and words in the fused score. */
const MEANING = 0.6;
const WORDS = 0.4;

export interface Found {
  readonly key: number;
  readonly score: number;
}

/** Every hit of either list once, best first, ties newest first. An empty list leaves the other's scores as they are. */
export function fuse<W extends Found, M extends Found>(
  words: readonly W[],
  meaning: readonly M[],
): readonly ((W | M) & Found)[] {
  if (meaning.length === 0) return words;
  const scores = new Map<number, { hit: W | M; score: number }>();
  const add = (hits: readonly (W | M)[], share: number) => {
    const scale = scaleOf(hits);
    for (const hit of hits) {
      const known = scores.get(hit.key);
      scores.set(hit.key, { hit: known?.hit ?? hit, score: (known?.score ?? 0) + share * scale(hit.score) });
    }
  };
  add(meaning, MEANING);
  add(words, WORDS);
  return [...scores.values()]
    .map(({ hit, score }) => ({ ...hit, score }))
    .sort((a, b) => b.score - a.score || b.key - a.key);
}

/** The worst hit becomes 0 and the best 1; if all are equally good, they are all best. */
function scaleOf(hits: readonly Found[]): (score: number) => number {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const { score } of hits) {
    min = Math.min(min, score);
    max = Math.max(max, score);
  }
  return max > min ? (score) => (score - min) / (max - min) : () => 1;
}
