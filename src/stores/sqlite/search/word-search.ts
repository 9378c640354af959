/**
 * The word search of one query: candidates from the word index, then exact scores that include neighbours
 * (retrieval/words/neighbours.ts).
 *
 * Candidates are the items that score best by the index alone, and every item within reach of one of them. The result
 * is exact in spaces where the terms match at most `HITS_MIN` items. In larger spaces it omits only items that many
 * others outrank.
 *
 * Only visible items are read, so an expired item contributes no words. A filter restricts the results, not the
 * neighbours: an item that it excludes still leads to its neighbours.
 */
import { Nearest } from "../../../retrieval/vectors/nearest.js";
import { analyse } from "../../../retrieval/words/analyse.js";
import { idf } from "../../../retrieval/words/bm25.js";
import { NeighbourScorer } from "../../../retrieval/words/neighbour-scorer.js";
import { averageAmong, REACH } from "../../../retrieval/words/neighbours.js";
import type { Statements } from "../file/connection.js";
import type { SpaceRow } from "../rows/codec.js";
import type { SearchScope } from "../rows/scope.js";
import { all, type Condition, visibleIn } from "../rows/scope.js";
import { countIn, isUnsure, type Postings, type TermLists, type WordReader } from "../words/word-reader.js";

/**
 * The budget of postings that a search reads to find candidates. Terms too common for the budget only rank items that
 * other terms found. They find items themselves only if nothing else does.
 */
const POSTINGS_MAX = 8_192;
/** The minimum number of matching items that are scored with their neighbours. */
const HITS_MIN = 128;

export interface WordScore {
  readonly key: number;
  readonly score: number;
  /** When the item, or a neighbour that contributes words, expires. */
  readonly until?: number;
}

/** The columns needed to score an item: its position in its session, and its length. */
type WordRow = readonly [
  key: number,
  session: number | null,
  sequence: number | null,
  length: number,
  name: string | null,
  expiresAt: number | null,
];

/** A range of sequences in a session. */
type Span = [session: number, from: number, to: number];

/** The query's terms in one space. */
interface SpaceTerms {
  readonly space: SpaceRow;
  /** The terms that occur in the space, rarest first. */
  readonly lists: readonly TermLists[];
  /** The number of terms that find candidates. The others are so common that they only rank. */
  readonly finding: number;
  readonly postings: Postings;
}

export class WordSearch {
  readonly #statements: Statements;
  readonly #words: WordReader;
  readonly #scope: SearchScope;
  readonly #terms: readonly string[];
  readonly #asked: SpaceTerms[];

  /** Requires one snapshot for the lifetime of the object. */
  constructor(statements: Statements, words: WordReader, scope: SearchScope, terms: readonly string[]) {
    this.#statements = statements;
    this.#words = words;
    this.#scope = scope;
    this.#terms = terms;
    this.#asked = terms.length === 0 ? [] : scope.spaces.map((space) => this.#ask(space));
  }

  /** The best items in scope. */
  best(limit: number): WordScore[] {
    const found = this.#asked.flatMap((asked, at) => {
      let hits = this.#hits(asked, limit);
      for (let terms = asked; hits.length === 0 && terms.finding < terms.lists.length; ) {
        terms = this.#widen(terms);
        this.#asked[at] = terms;
        hits = this.#hits(terms, limit);
      }
      return this.#bestOf(this.#score(this.#asked[at] as SpaceTerms, hits, REACH), limit);
    });
    return found.sort(bestFirst).slice(0, limit);
  }

  /** The scores of these items. An item with no term in or around it has no score. */
  scores(keys: readonly number[]): WordScore[] {
    return keys.length === 0
      ? []
      : this.#asked.flatMap((asked) => this.#score(asked, this.#rows(asked.space, keys, undefined), 0));
  }

  #ask(space: SpaceRow): SpaceTerms {
    // If the lists cannot exceed the budget, they are read at once, because counting them first would take as long.
    const areFew = space.items * this.#terms.length <= POSTINGS_MAX;
    const lists = this.#terms
      .map((term) => ({ term, rows: areFew ? this.#words.rows(space.key, term) : undefined }))
      .map((list) => ({ ...list, containing: list.rows?.length ?? this.#words.containing(space.key, list.term) }))
      .filter(({ containing }) => containing > 0)
      .map((list) => ({ ...list, idf: idf(space.items, list.containing) }))
      .sort((a, b) => a.containing - b.containing || (a.term < b.term ? -1 : 1));
    const finding = withinBudget(lists);
    const isAlone = finding === 1 && Number(lists[0]?.containing) > POSTINGS_MAX;
    const postings = this.#words.read(space.key, lists.slice(0, finding), isAlone ? POSTINGS_MAX : undefined);
    return { space, lists, finding, postings };
  }

  /** Lets the next more common term find candidates as well. */
  #widen(asked: SpaceTerms): SpaceTerms {
    const finding = asked.finding + 1;
    return { ...asked, finding, postings: this.#words.read(asked.space.key, asked.lists.slice(0, finding)) };
  }

  /**
   * The items that lead to candidates: the best by their own words, among those that may contribute and those in scope.
   */
  #hits({ space, lists, postings }: SpaceTerms, limit: number): WordRow[] {
    const wanted = Math.max(HITS_MIN, limit);
    const rarities = lists.map((list) => list.idf);
    const ranked = postings.ranked(rarities, Math.max(averageOf(space), 1));
    const hits = new Map<number, WordRow>();
    for (const narrowing of this.#scope.leading) {
      let left = wanted;
      for (let at = 0, count = wanted; at < ranked.size && left > 0; at += count, count *= 4) {
        const keys = ranked.slice(at, at + count).map(({ key }) => key);
        const rows = this.#rows(space, keys, narrowing).slice(0, left);
        for (const row of rows) hits.set(row[0], row);
        left -= rows.length;
      }
      if (ranked.size <= wanted) break; // all hits were read: a narrower condition finds no more
    }
    return [...hits.values()];
  }

  /** The scores of the hits and of all items within `reach` of one. */
  #score(asked: SpaceTerms, hits: readonly WordRow[], reach: number): WordScore[] {
    const outside = hits.filter(([, session]) => session === null);
    const rows = [...outside, ...this.#around(asked.space, spansOf(hits, reach + REACH))];
    const scorer = this.#scorer(asked, rows);
    const wanted = new Set(hits.map(([key]) => key));
    const places = Uint8Array.from(rows, ([key], at) =>
      (reach === 0 || scorer.hasTerms(at)) && wanted.has(key) ? 1 : 0,
    );
    const reached = scorer.reachedFrom(places, reach);
    const rarities = asked.lists.map((list) => list.idf);
    const scores = scorer.scores(rarities, averageAmong(averageOf(asked.space)));
    const expiry = rows.some(([, , , , , expiresAt]) => expiresAt !== null)
      ? scorer.leastAround(Float64Array.from(rows, ([, , , , , expiresAt]) => expiresAt ?? Infinity))
      : undefined;
    const scored: WordScore[] = [];
    for (const [at, [key]] of rows.entries()) {
      if (reached[at] === 0) continue;
      const until = expiry?.[at] ?? Infinity;
      const score = scores[at] as number;
      scored.push(until === Infinity ? { key, score } : { key, score, until });
    }
    return scored;
  }

  /**
   * The counts of the terms in each row: from the index, or from the item's stored words where the index is not exact.
   */
  #scorer({ lists, finding, postings }: SpaceTerms, rows: readonly WordRow[]): NeighbourScorer {
    const scorer = new NeighbourScorer(rows.length, lists.length);
    const names = new NameCounts(lists.map(({ term }) => term));
    const unsure: number[] = [];
    for (const [at, [key, session, sequence, length, name]] of rows.entries()) {
      scorer.place(at, session, sequence, length);
      const counts = postings.countsOf(key);
      if (finding < lists.length || (counts && isUnsure(counts))) unsure.push(at);
      else if (counts) scorer.count(at, counts, names.of(name));
    }
    const words = this.#storedWords(unsure.map((at) => (rows[at] as WordRow)[0]));
    for (const at of unsure) {
      const [key, , , , name] = rows[at] as WordRow;
      const packed = words.get(key) ?? "";
      const counts = lists.map(({ term }) => countIn(packed, term));
      if (counts.some((count) => count > 0)) scorer.count(at, counts, names.of(name));
    }
    return scorer;
  }

  #storedWords(keys: readonly number[]): ReadonlyMap<number, string> {
    if (keys.length === 0) return new Map();
    const rows = this.#statements.get(
      `SELECT json_group_array(json_array(item.key, item.words)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value`,
    );
    return new Map(JSON.parse(String(rows.get(JSON.stringify(keys))?.["rows"])) as [number, string][]);
  }

  /** The best items that pass the filter. */
  #bestOf(scores: readonly WordScore[], limit: number): WordScore[] {
    const { narrowing } = this.#scope;
    const positive = scores.filter(({ score }) => score > 0);
    if (!narrowing) return best(positive, limit);
    const sorted = best(positive, positive.length);
    const found: WordScore[] = [];
    const step = Math.max(HITS_MIN, limit);
    for (let at = 0; at < sorted.length && found.length < limit; at += step) {
      const some = sorted.slice(at, at + step);
      const passing = this.#scope.passing(some.map(({ key }) => key));
      found.push(...some.filter(({ key }) => passing.has(key)));
    }
    return found.slice(0, limit);
  }

  /** Those items that are visible and meet the condition, in the order of the keys. */
  #rows(space: SpaceRow, keys: readonly number[], narrowing: Condition | undefined): WordRow[] {
    if (keys.length === 0) return [];
    const { sql, values } = this.#visible(space, narrowing);
    return this.#read(
      `FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
      JSON.stringify(keys),
      ...values,
    );
  }

  /** All visible items in these ranges, ordered by session and sequence. */
  #around(space: SpaceRow, spans: readonly Span[]): WordRow[] {
    if (spans.length === 0) return [];
    const { sql, values } = this.#visible(space, undefined);
    const rows = this.#read(
      `FROM json_each(?) AS span CROSS JOIN item INDEXED BY item_around ON item.session = span.value ->> 0
         AND item.seq BETWEEN span.value ->> 1 AND span.value ->> 2 WHERE ${sql}`,
      JSON.stringify(spans),
      ...values,
    );
    return rows.sort((a, b) => Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]));
  }

  #read(from: string, ...values: readonly (string | number | null)[]): WordRow[] {
    const statement = this.#statements.get(
      `SELECT json_group_array(json_array(
         item.key, item.session, item.seq, item.length, item.name, item.expires_at)) AS rows ${from}`,
    );
    return JSON.parse(String(statement.get(...values)?.["rows"])) as WordRow[];
  }

  #visible(space: SpaceRow, narrowing: Condition | undefined): Condition {
    const visible = visibleIn([space], this.#scope.now, false);
    return narrowing ? all([visible, narrowing]) : visible;
  }
}

const averageOf = ({ items, terms }: SpaceRow): number => (items > 0 ? terms / items : 0);

const bestFirst = (a: WordScore, b: WordScore): number => b.score - a.score || b.key - a.key;

/** Uses a heap, because about a hundred of thousands of scores are wanted. */
function best(scores: readonly WordScore[], limit: number): WordScore[] {
  const byKey = new Map<number, WordScore>();
  const nearest = new Nearest(Math.min(limit, scores.length));
  for (const one of scores) {
    byKey.set(one.key, one);
    nearest.offer(one.key, one.score);
  }
  return nearest.best().map(({ key }) => byKey.get(key) as WordScore);
}

/** Merged, sorted ranges of sessions that cover every position within `width` of a hit. */
function spansOf(hits: readonly WordRow[], width: number): Span[] {
  const places = hits.flatMap(([, session, sequence]) =>
    session === null || sequence === null ? [] : { session, sequence },
  );
  places.sort((a, b) => a.session - b.session || a.sequence - b.sequence);
  const spans: Span[] = [];
  for (const { session, sequence } of places) {
    const last = spans.at(-1);
    if (last && last[0] === session && sequence - width <= last[2] + 1) last[2] = sequence + width;
    else spans.push([session, sequence - width, sequence + width]);
  }
  return spans;
}

/** How many of the lists, rarest first, fit into the postings budget. At least one, if there is one. */
function withinBudget(lists: readonly TermLists[]): number {
  let postings = 0;
  let count = 0;
  for (const { containing } of lists) {
    postings += containing;
    if (count > 0 && postings > POSTINGS_MAX) break;
    count++;
  }
  return count;
}

/** Caches how often speakers' names contain the terms. */
class NameCounts {
  readonly #terms: readonly string[];
  readonly #names = new Map<string, readonly number[] | undefined>();

  constructor(terms: readonly string[]) {
    this.#terms = terms;
  }

  /** Undefined if the name contains none. */
  of(name: string | null): readonly number[] | undefined {
    if (name === null) return undefined;
    if (!this.#names.has(name)) this.#names.set(name, this.#count(name));
    return this.#names.get(name);
  }

  #count(name: string): readonly number[] | undefined {
    const words = analyse(name);
    const counts = this.#terms.map((term) => words.get(term) ?? 0);
    return counts.some((count) => count > 0) ? counts : undefined;
  }
}
