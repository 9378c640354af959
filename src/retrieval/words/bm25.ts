/** BM25 (Robertson et al.) with an idf that is never negative. The caller passes the statistics of one space. */

/** Term frequency saturation: the lower, the sooner repeated occurrences stop counting. */
export const k1 = 0.9;
/** Length normalisation: 0 is none, 1 is full. */
export const b = 0.75;

/** The inverse document frequency of a term. Requires `containing` ≤ `documents`. */
export function idf(documents: number, containing: number): number {
  return Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));
}

/** Rounds away the floating-point noise of the order of summation, so that equally good documents tie. */
export const roundScore = (score: number): number => Math.round(score * 1e10) / 1e10;

/** The weight of a term that occurs `count` times in a document, to be multiplied by the term's idf. */
export function termWeight(count: number, length: number, averageLength: number): number {
  const relativeLength = averageLength > 0 ? length / averageLength : 1;
  return (count * (k1 + 1)) / (count + k1 * (1 - b + b * relativeLength));
}
