/** The words of one space's items, and their BM25 scores from this space's own statistics. */
import { analyse, countTerms } from "../../retrieval/words/analyse.js";
import { idf, settled, termWeight } from "../../retrieval/words/bm25.js";

interface Document {
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

export class Words {
  readonly #documents = new Map<string, Document>();
  /** For each term, the ids of the items that contain it, with how often. */
  readonly #postings = new Map<string, Map<string, number>>();
  #length = 0;

  set(id: string, text: string): void {
    this.delete(id);
    const words = analyse(text);
    const length = countTerms(words);
    this.#documents.set(id, { words, length });
    this.#length += length;
    for (const [term, count] of words) {
      const posting = this.#postings.get(term);
      if (posting) posting.set(id, count);
      else this.#postings.set(term, new Map([[id, count]]));
    }
  }

  delete(id: string): void {
    const document = this.#documents.get(id);
    if (!document) return;
    this.#documents.delete(id);
    this.#length -= document.length;
    for (const term of document.words.keys()) {
      const posting = this.#postings.get(term);
      posting?.delete(id);
      if (posting?.size === 0) this.#postings.delete(term);
    }
  }

  /** The score of every item that contains any of the terms, by id. Requires distinct terms. */
  scores(terms: readonly string[]): ReadonlyMap<string, number> {
    const averageLength = this.#length / this.#documents.size;
    const scores = new Map<string, number>();
    for (const term of terms) {
      const posting = this.#postings.get(term);
      if (!posting) continue;
      const rarity = idf(this.#documents.size, posting.size);
      for (const [id, count] of posting) {
        const length = this.#documents.get(id)?.length ?? 0;
        scores.set(id, (scores.get(id) ?? 0) + rarity * termWeight(count, length, averageLength));
      }
    }
    for (const [id, score] of scores) scores.set(id, settled(score));
    return scores;
  }
}
