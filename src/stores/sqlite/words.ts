/**
 * The words index: which items of a space contain a term.
 *
 * A posting's row id is key × 1024 + min(length, 1023), so that items can be ranked by BM25 without reading them: each
 * term is one list, and a term that occurs twice or more in an item is in a second list ("term*2"). That ranking only
 * chooses candidates; the reader scores them exactly from the words stored with the item. Deleting needs the very
 * tokens that were inserted, which is why items keep their words.
 */
import { b, k1 } from "../../retrieval/words/bm25.js";
import { unpackWords } from "./codec.js";
import type { Database, Statement } from "./driver.js";

const LENGTH_BITS = 1024;

const rowId = (key: number, length: number): number => key * LENGTH_BITS + Math.min(length, LENGTH_BITS - 1);

/** The tokens of one item: every term with its space in front, and the "twice or more" mark. */
function tokens(space: number, packed: string): string {
  const prefix = `${space.toString(36)}:`;
  let text = "";
  for (const [term, count] of unpackWords(packed)) {
    text += `${prefix}${term} `;
    if (count > 1) text += `${prefix}${term}*2 `;
  }
  return text;
}

/** A query that matches exactly one token. Terms contain no quotes. */
const exactly = (space: number, term: string): string => `"${space.toString(36)}:${term}"`;

export interface Indexed {
  readonly key: number;
  readonly space: number;
  readonly words: string;
  readonly length: number;
}

export class WordWriter {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #delete: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)");
    this.#delete = database.prepare("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)");
  }

  insert({ key, space, words, length }: Indexed): void {
    if (words !== "") this.#insert.run(rowId(key, length), tokens(space, words));
  }

  remove({ key, space, words, length }: Indexed): void {
    if (words !== "") this.#delete.run(rowId(key, length), tokens(space, words));
  }

  /**
   * Whether a removed word leaves the index at once (0.4–0.9 ms an item) or as a mark that the next merge acts on
   * (0.02 ms an item, then about 1 µs for every item in the index).
   */
  setImmediate(immediate: boolean): void {
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('secure-delete', ${immediate ? 1 : 0})`);
  }

  /** Starts to merge all segments into one. */
  beginMerge(): void {
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('merge', -${MERGE_PAGES})`);
  }

  /** Does a slice of the merge; false when there is nothing left to do. */
  continueMerge(): boolean {
    const changes = (): number => Number(this.#database.prepare("SELECT total_changes() AS n").get()?.["n"]);
    const before = changes();
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('merge', ${MERGE_PAGES})`);
    return changes() - before >= 2; // as the FTS5 manual tells to find the end
  }

  clear(): void {
    this.#database.exec("INSERT INTO words (words) VALUES ('delete-all')");
  }
}

const MERGE_PAGES = 64;

/** A term of a query in one space. */
export interface TermLists {
  readonly term: string;
  /** How many items of the space contain it. */
  readonly containing: number;
  readonly idf: number;
}

export class WordReader {
  readonly #database: Database;
  readonly #count: Statement;
  readonly #rankings = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
    database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)");
    this.#count = database.prepare("SELECT doc FROM temp.vocabulary WHERE term = ?");
  }

  containing(space: number, term: string): number {
    return Number(this.#count.get(`${space.toString(36)}:${term}`)?.["doc"] ?? 0);
  }

  /**
   * The keys of the most promising items that contain any of the terms, by BM25 with counts cut at two.
   * `where` narrows them by a condition on `item`; `newestOnly` reads that many postings of each list at most.
   */
  candidates(
    space: number,
    lists: readonly TermLists[],
    averageLength: number,
    where: { readonly sql: string; readonly values: readonly (string | number | null)[] } | undefined,
    limit: number,
    newestOnly?: number,
  ): number[] {
    const cap = newestOnly === undefined ? "" : `ORDER BY rowid DESC LIMIT ${newestOnly}`;
    const lengthPart = `${k1} * (${1 - b} + ${b} * (rowid & ${LENGTH_BITS - 1}) / ?)`;
    const once = `SELECT rowid AS posting, ? * ${k1 + 1} / (1 + ${lengthPart}) AS weight FROM words WHERE words MATCH ? ${cap}`;
    const twice = `SELECT rowid, ? * (2 * ${k1 + 1} / (2 + ${lengthPart}) - ${k1 + 1} / (1 + ${lengthPart})) FROM words WHERE words MATCH ? ${cap}`;
    const union = lists.map(() => `SELECT * FROM (${once}) UNION ALL SELECT * FROM (${twice})`).join(" UNION ALL ");
    const ranked = `SELECT posting / ${LENGTH_BITS} AS key, sum(weight) AS score FROM (${union}) GROUP BY posting`;
    const sql = where
      ? `SELECT ranked.key AS key FROM (${ranked}) AS ranked JOIN item ON item.key = ranked.key WHERE ${where.sql} ORDER BY score DESC, ranked.key DESC LIMIT ?`
      : `SELECT key FROM (${ranked}) ORDER BY score DESC, key DESC LIMIT ?`;
    const average = Math.max(averageLength, 1);
    const values = lists.flatMap(({ term, idf }) => [
      idf,
      average,
      exactly(space, term),
      idf,
      average,
      average,
      exactly(space, `${term}*2`),
    ]);
    let statement = this.#rankings.get(sql);
    if (!statement) {
      if (this.#rankings.size >= RANKINGS_KEPT) this.#rankings.clear();
      statement = this.#database.prepare(sql);
      this.#rankings.set(sql, statement);
    }
    return statement.all(...values, ...(where?.values ?? []), limit).map((row) => Number(row["key"]));
  }
}

/** Prepared rankings, one per number of terms and form of filter. */
const RANKINGS_KEPT = 64;
