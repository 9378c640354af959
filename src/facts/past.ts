/**
 * Searches facts that may no longer hold. They have no items and are in no index; there are few of them, so they are
 * scored one by one, by their words.
 */

import { analyse } from "../retrieval/words/analyse.js";
import { idf, termWeight } from "../retrieval/words/bm25.js";
import { contentLength, contentTerms } from "../retrieval/words/stop.js";
import type { Fact } from "../stores/facts.js";

/** The facts that contain any of the question's words, best first, ties newest first. */
export function rankFacts(facts: readonly Fact[], question: string): readonly Fact[] {
  const terms = contentTerms([...analyse(question).keys()]);
  const documents = facts.map((fact) => {
    const words = analyse(`${fact.category} ${fact.content}`);
    return { fact, words, length: contentLength(words) };
  });
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const rarity = new Map(
    terms.map((term) => [term, idf(documents.length, documents.filter(({ words }) => words.has(term)).length)]),
  );
  return documents
    .map(({ fact, words, length }, at) => {
      const weights = terms.map(
        (term) => (rarity.get(term) ?? 0) * termWeight(words.get(term) ?? 0, length, Math.max(1, average)),
      );
      return { fact, at, score: weights.reduce((sum, weight) => sum + weight, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.at - a.at)
    .map(({ fact }) => fact);
}
