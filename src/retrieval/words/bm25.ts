/** BM25 (Robertson and others) with the idf that never falls below zero. Statistics are the caller's: those of one space. */

/** How soon more of the same word stops counting. */
export const k1 = 0.9;
/** How much a long document is held against itself: 0 not at all, 1 in full. */
export const b = 0.75;

/** How rare a term is. Requires `containing` at most `documents`. */
export function idf(documents: number, containing: number): number {
  return Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));
}

/** A score without the noise of summing in another order, so that equally good documents tie. */
export const settled = (score: number): number => Math.round(score * 1e10) / 1e10;

/** What a term that occurs `count` times adds to a document's score, to be multiplied by the term's idf. */
export function termWeight(count: number, length: number, averageLength: number): number {
  const relativeLength = averageLength > 0 ? length / averageLength : 1;
  return (count * (k1 + 1)) / (count + k1 * (1 - b + b * relativeLength));
}
