/** BM25 among neighbours the slow and obvious way: every document of one space is read, every statistic is counted anew. */
import { analyse } from "../retrieval/words/analyse.js";
import { idf } from "../retrieval/words/bm25.js";
import { averageAmong, scoreAmong } from "../retrieval/words/neighbours.js";
import { contentLength } from "../retrieval/words/stop.js";

export interface BruteForceDocument {
  readonly id: string;
  readonly name?: string;
  readonly content: string;
  /** Those of one session are each other's neighbours. */
  readonly session?: string;
  readonly sequence?: number;
  /** True for one that has expired: it counts for the statistics, and lends nothing. */
  readonly isExpired?: boolean;
}

/** The scores of those documents that contain any of the terms or are lent one, by id. */
export function bruteForceScores(
  documents: readonly BruteForceDocument[],
  terms: readonly string[],
): ReadonlyMap<string, number> {
  const texts = documents.map(({ name, content, session, sequence, isExpired }) => {
    const words = analyse(name === undefined ? content : `${name} ${content}`);
    const spoken = analyse(content);
    return {
      session,
      isExpired,
      sequence: session === undefined ? undefined : sequence,
      length: contentLength(words),
      counts: terms.map((term) => words.get(term) ?? 0),
      lent: terms.map((term) => spoken.get(term) ?? 0),
    };
  });
  const average = averageAmong(texts.reduce((sum, { length }) => sum + length, 0) / Math.max(texts.length, 1));
  const rarities = terms.map((_, at) => idf(texts.length, texts.filter(({ counts }) => counts[at]).length));
  const scores = new Map<string, number>();
  for (const [at, { id }] of documents.entries()) {
    const text = texts[at];
    if (!text) continue;
    const around = texts.filter((other) => other.session === text.session && !other.isExpired);
    const score = scoreAmong(text, around, rarities, average);
    if (score > 0) scores.set(id, score);
  }
  return scores;
}
