/**
 * The words of one space's items, and their scores by BM25 among their neighbours, from this space's own statistics.
 * Expired items count for the statistics for as long as they are stored, and lend nothing.
 */
import { analyse } from "../../retrieval/words/analyse.js";
import { idf } from "../../retrieval/words/bm25.js";
import { averageAmong, REACH, scoreAmong, type Text } from "../../retrieval/words/neighbours.js";
import { contentLength } from "../../retrieval/words/stop.js";
import { type Row, searchText } from "./row.js";
import type { Session } from "./space.js";

interface Document {
  readonly row: Row;
  readonly words: ReadonlyMap<string, number>;
  /** The words of the speaker's name, which are among them. */
  readonly name: ReadonlyMap<string, number>;
  readonly length: number;
}

export interface WordScore {
  readonly score: number;
  /** When a neighbour is gone by itself that it has the score from. */
  readonly until: number;
}

export class Words {
  /** By the items' ids. */
  readonly #documents = new Map<string, Document>();
  /** For each term, the ids of the items that contain it. */
  readonly #postings = new Map<string, Set<string>>();
  /** The items of each session, by their sequence. */
  readonly #sessions = new Map<Session, Map<number, Document>>();
  #length = 0;

  set(row: Row): void {
    this.delete(row.id);
    const words = analyse(searchText(row));
    const document = { row, words, name: analyse(row.name ?? ""), length: contentLength(words) };
    this.#documents.set(row.id, document);
    this.#length += document.length;
    for (const term of words.keys()) {
      const posting = this.#postings.get(term);
      if (posting) posting.add(row.id);
      else this.#postings.set(term, new Set([row.id]));
    }
    if (!row.home || row.sequence === undefined) return;
    const session = this.#sessions.get(row.home);
    if (session) session.set(row.sequence, document);
    else this.#sessions.set(row.home, new Map([[row.sequence, document]]));
  }

  delete(id: string): void {
    const document = this.#documents.get(id);
    if (!document) return;
    const { row, words, length } = document;
    this.#documents.delete(id);
    this.#length -= length;
    for (const term of words.keys()) {
      const posting = this.#postings.get(term);
      posting?.delete(id);
      if (posting?.size === 0) this.#postings.delete(term);
    }
    const session = row.home && this.#sessions.get(row.home);
    if (!row.home || !session || row.sequence === undefined) return;
    session.delete(row.sequence);
    if (session.size === 0) this.#sessions.delete(row.home);
  }

  /** The visible items that contain any of the terms, and those that have such a neighbour, by id. */
  find(terms: readonly string[], isVisible: (row: Row) => boolean): ReadonlySet<string> {
    const found = new Set<string>();
    for (const term of terms) {
      for (const id of this.#postings.get(term) ?? []) {
        const document = this.#documents.get(id);
        if (!document || !isVisible(document.row)) continue;
        found.add(id);
        for (const { row } of this.#around(document, isVisible)) found.add(row.id);
      }
    }
    return found;
  }

  /** The score of each of these items, by id. Requires distinct terms. */
  scores(
    ids: Iterable<string>,
    terms: readonly string[],
    isVisible: (row: Row) => boolean,
  ): ReadonlyMap<string, WordScore> {
    const items = this.#documents.size;
    const rarities = terms.map((term) => idf(items, this.#postings.get(term)?.size ?? 0));
    const average = averageAmong(items > 0 ? this.#length / items : 0);
    const scores = new Map<string, WordScore>();
    for (const id of ids) {
      const document = this.#documents.get(id);
      if (!document) continue;
      const lenders = this.#around(document, isVisible);
      const around = lenders.map((neighbour) => textOf(neighbour, terms));
      const score = scoreAmong(textOf(document, terms), around, rarities, average);
      scores.set(id, { score, until: Math.min(...lenders.map(({ row }) => row.expiresAt ?? Infinity)) });
    }
    return scores;
  }

  #around({ row: { home, sequence } }: Document, isVisible: (row: Row) => boolean): readonly Document[] {
    const session = home && this.#sessions.get(home);
    const around: Document[] = [];
    if (!session || sequence === undefined) return around;
    for (let at = sequence - REACH; at <= sequence + REACH; at++) {
      const document = session.get(at);
      if (at !== sequence && document && isVisible(document.row)) around.push(document);
    }
    return around;
  }
}

function textOf({ row, words, name, length }: Document, terms: readonly string[]): Text {
  const counts = terms.map((term) => words.get(term) ?? 0);
  const lent = counts.map((count, at) => count - (name.get(terms[at] ?? "") ?? 0));
  return { sequence: row.sequence, length, counts, lent };
}
