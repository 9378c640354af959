/**
 * Reads the word index: which items of a space contain a query's terms, and how often. Does not read the items
 * themselves.
 *
 * The index stores counts up to three exactly, and higher counts as the step they reach: 4, 8, 16 or 32 (`isUnsure`).
 * The exact count is then in the item's stored words. For ranking, a step counts as the highest count it can stand for,
 * an upper bound, so that no item that may be among the best is missed.
 */
import { type ItemScore, Nearest } from "../../../retrieval/vectors/nearest.js";
import { termWeight } from "../../../retrieval/words/bm25.js";
import { RARE_MAX } from "../../../retrieval/words/exact.js";
import type { Database, Statement } from "../file/driver.js";

/** Matches strings that the analysis never produces: they would be several tokens, or a list of counts. */
const NOT_A_TERM = /[\s"*\p{Cc}]|^$/u;

/** A query that matches exactly one token. Terms contain no quotes. */
const exactly = (space: number, term: string): string => `"${space.toString(36)}:${term}"`;

/** Row ids of the word index are key × LENGTHS + length. The length is capped below LENGTHS. */
export const LENGTHS = 1024;

/** The item key in a row id. */
export const keyOf = (row: number): number => Math.floor(row / LENGTHS);

/** The counts from which an item is in an additional list, each with the highest count that it stands for. */
export const STEPS: readonly { readonly from: number; readonly most: number }[] = [
  { from: 2, most: 2 },
  { from: 3, most: 3 },
  { from: 4, most: 7 },
  { from: 8, most: 15 },
  { from: 16, most: 31 },
  { from: 32, most: 256 },
];
const MOST: ReadonlyMap<number, number> = new Map(STEPS.map(({ from, most }) => [from, most]));
const UNSURE = 4;

export class Postings {
  readonly #terms: number;
  /** The index of each item in the arrays below. */
  readonly #places = new Map<number, number>();
  readonly #keys: number[] = [];
  readonly #lengths: number[] = [];
  /** For each item, the count of each term. */
  #counts: Uint8Array;

  constructor(terms: number) {
    this.#terms = terms;
    this.#counts = new Uint8Array(terms * 64);
  }

  /** How many items contain a term. */
  get size(): number {
    return this.#keys.length;
  }

  /** Records that these rows contain the term. */
  add(term: number, rows: readonly number[]): void {
    for (const row of rows) {
      const place = this.#placeOf(row);
      this.#counts[place * this.#terms + term] = 1;
    }
  }

  /** Records that these rows, if they contain the term, contain it at least `count` times. */
  raise(term: number, rows: readonly number[], count: number): void {
    for (const row of rows) {
      const place = this.#places.get(keyOf(row));
      if (place !== undefined) this.#counts[place * this.#terms + term] = count;
    }
  }

  #placeOf(row: number): number {
    const key = keyOf(row);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#keys.length;
    this.#places.set(key, place);
    this.#keys.push(key);
    this.#lengths.push(row % LENGTHS);
    if ((place + 1) * this.#terms > this.#counts.length) this.#grow();
    return place;
  }

  #grow(): void {
    const counts = new Uint8Array(this.#counts.length * 2);
    counts.set(this.#counts);
    this.#counts = counts;
  }

  /** How often the item contains each term. Undefined if it contains none. */
  countsOf(key: number): Uint8Array | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#counts.subarray(place * this.#terms, (place + 1) * this.#terms);
  }

  /** The items ranked by the score of their own words. */
  ranked(rarities: readonly number[], average: number): RankedKeys {
    const scores = new Float64Array(this.size);
    for (let place = 0; place < this.size; place++) {
      let score = 0;
      for (let term = 0; term < this.#terms; term++) {
        const count = this.#counts[place * this.#terms + term];
        if (!count) continue;
        score += (rarities[term] ?? 0) * termWeight(MOST.get(count) ?? count, this.#lengths[place] ?? 0, average);
      }
      scores[place] = score;
    }
    return new RankedKeys(this.#keys, scores);
  }
}

/** Whether a term may occur more often than its count says. */
export function isUnsure(counts: ArrayLike<number>): boolean {
  for (let term = 0; term < counts.length; term++) if (Number(counts[term]) >= UNSURE) return true;
  return false;
}

/**
 * Items ranked by score. There are thousands, and usually only the first hundred are needed, so a heap finds them
 * without sorting.
 */
class RankedKeys {
  readonly #keys: readonly number[];
  readonly #scores: ArrayLike<number>;
  #sorted: readonly ItemScore[] | undefined;

  constructor(keys: readonly number[], scores: ArrayLike<number>) {
    this.#keys = keys;
    this.#scores = scores;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The ranks `from` (inclusive) to `to` (exclusive), best first, ties newest first. */
  slice(from: number, to: number): readonly ItemScore[] {
    if (from === 0) return this.#best(to);
    this.#sorted ??= this.#best(this.size);
    return this.#sorted.slice(from, to);
  }

  #best(count: number): readonly ItemScore[] {
    const best = new Nearest(count);
    for (let place = 0; place < this.size; place++)
      best.offer(this.#keys[place] as number, this.#scores[place] as number);
    return best.best();
  }
}

/** A query term in one space. */
export interface TermLists {
  readonly term: string;
  /** How many items of the space contain it. */
  readonly containing: number;
  readonly idf: number;
}

/** A term with its posting list, if that has been read. */
export interface FindingTerm {
  readonly term: string;
  readonly rows?: readonly number[] | undefined;
}

/**
 * How often a term occurs in stored words ("term" or "term*count", separated by spaces), without parsing all of them.
 */
export function countIn(packed: string, term: string): number {
  for (let at = packed.indexOf(term); at >= 0; at = packed.indexOf(term, at + 1)) {
    if (at > 0 && packed.charCodeAt(at - 1) !== BLANK) continue;
    const end = at + term.length;
    if (end === packed.length) return 1;
    const mark = packed.charCodeAt(end);
    if (mark === BLANK) return 1;
    if (mark === STAR) return Number.parseInt(packed.slice(end + 1, end + 1 + COUNT_DIGITS_MAX), 10);
  }
  return 0;
}

const BLANK = 32;
const STAR = 42;
/** No text has more terms than fit into this many digits. */
const COUNT_DIGITS_MAX = 10;

export class WordReader {
  readonly #count: Statement;
  readonly #all: Statement;
  readonly #newest: Statement;

  constructor(database: Database) {
    database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)");
    this.#count = database.prepare("SELECT doc FROM temp.vocabulary WHERE term = ?");
    // Returns one JSON text: transferring thousands of rows one by one takes longer than reading them.
    this.#all = database.prepare("SELECT json_group_array(rowid) AS rows FROM words WHERE words MATCH ?");
    this.#newest = database.prepare(
      "SELECT json_group_array(rowid) AS rows FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)",
    );
  }

  containing(space: number, term: string): number {
    return NOT_A_TERM.test(term) ? 0 : this.postings(`${space.toString(36)}:${term}`);
  }

  /** How many items contain a token. */
  postings(token: string): number {
    return Number(this.#count.get(token)?.["doc"] ?? 0);
  }

  /** The row ids of all items of a space that contain a term. */
  rows(space: number, term: string): readonly number[] {
    return NOT_A_TERM.test(term) ? [] : this.#rows(exactly(space, term), undefined);
  }

  /** For each item, by key, a bit set of the space's rare terms that it contains. The first term is the highest bit. */
  lookUp(space: number, terms: readonly string[]): ReadonlyMap<number, number> {
    const bits = new Map<number, number>();
    for (const [at, term] of terms.entries()) {
      const containing = this.containing(space, term);
      if (containing === 0 || containing > RARE_MAX) continue;
      for (const row of this.rows(space, term)) {
        bits.set(keyOf(row), (bits.get(keyOf(row)) ?? 0) + 2 ** (terms.length - 1 - at));
      }
    }
    return bits;
  }

  /**
   * The items of a space that contain these terms. If `newest` is given, reads only that many of each list, newest
   * first.
   */
  read(space: number, terms: readonly FindingTerm[], newest?: number): Postings {
    const postings = new Postings(terms.length);
    for (const [at, { term, rows }] of terms.entries()) {
      postings.add(at, rows ?? this.#rows(exactly(space, term), newest));
      for (const { from } of STEPS) {
        const raised = this.#rows(exactly(space, `${term}*${from}`), newest);
        if (raised.length === 0) break;
        postings.raise(at, raised, from);
      }
    }
    return postings;
  }

  #rows(query: string, newest: number | undefined): readonly number[] {
    const row = newest === undefined ? this.#all.get(query) : this.#newest.get(query, newest);
    return JSON.parse(String(row?.["rows"])) as number[];
  }
}
