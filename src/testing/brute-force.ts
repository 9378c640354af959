/** BM25 the slow and obvious way: every document of one space is read, every statistic is counted anew. */
import { analyse, countTerms } from "../retrieval/words/analyse.js";
import { idf, termWeight } from "../retrieval/words/bm25.js";

export interface BruteForceDocument {
  readonly id: string;
  readonly name?: string;
  readonly content: string;
}

/** The scores of those documents that contain any of the terms, by id. */
export function bruteForceScores(
  documents: readonly BruteForceDocument[],
  terms: readonly string[],
): ReadonlyMap<string, number> {
  const analysed = documents.map(({ id, name, content }) => {
    const words = analyse(name === undefined ? content : `${name} ${content}`);
    return { id, words, length: countTerms(words) };
  });
  const averageLength = analysed.reduce((sum, { length }) => sum + length, 0) / analysed.length;
  const scores = new Map<string, number>();
  for (const { id, words, length } of analysed) {
    let score: number | undefined;
    for (const term of terms) {
      const count = words.get(term);
      if (count === undefined) continue;
      const containing = analysed.filter((other) => other.words.has(term)).length;
      score = (score ?? 0) + idf(analysed.length, containing) * termWeight(count, length, averageLength);
    }
    if (score !== undefined) scores.set(id, score);
  }
  return scores;
}
