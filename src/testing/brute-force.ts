/**
 * BM25 with neighbours, the slow and obvious way: reads every document of one space and counts every statistic each
 * time.
 */
import { analyse } from "../retrieval/words/analyse.js";
import { idf } from "../retrieval/words/bm25.js";
import { exactTerms, RARE_MAX } from "../retrieval/words/exact.js";
import { averageAmong } from "../retrieval/words/neighbours.js";
import { contentLength } from "../retrieval/words/stop.js";
import { scoreAmong } from "./neighbour-score.js";

export interface BruteForceDocument {
  readonly id: string;
  readonly name?: string;
  readonly content: string;
  /** Documents of one session are neighbours of each other. */
  readonly session?: string;
  readonly sequence?: number;
  /** True if it has expired: it counts in the statistics, but lends nothing. */
  readonly isExpired?: boolean;
}

/** The scores, by id, of the documents that contain any of the terms or borrow one. */
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

/** The terms that each document contains, in the form of `WordsRequest.exact`, by id. */
export function bruteForceLookup(
  documents: readonly BruteForceDocument[],
  terms: readonly string[],
): ReadonlyMap<string, number> {
  const texts = documents.map(({ id, name = "", content }) => {
    return { id, words: new Set([...analyse(`${name} ${content}`).keys(), ...exactTerms(content)]) };
  });
  const found = new Map<string, number>();
  for (const [at, term] of terms.entries()) {
    const containing = texts.filter(({ words }) => words.has(term));
    if (containing.length > RARE_MAX) continue;
    for (const { id } of containing) found.set(id, (found.get(id) ?? 0) + 2 ** (terms.length - 1 - at));
  }
  return found;
}
