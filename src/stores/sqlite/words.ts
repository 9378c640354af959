/**
 * The words index: which items of a space contain a term.
 *
 * A posting's row id is key × 1024 + min(length, 1023), so that items can be ranked by BM25 without reading them: each
 * term is one list, and an item in which a term occurs 2, 3, 4, 8, 16 or 32 times is also in the lists "term*2" … up to
 * its count. That ranking is an upper bound (a count is taken for the highest of its step) and only chooses candidates;
 * the search scores them exactly from the words stored with the item. Deleting needs the very tokens that were inserted,
 * which is why items keep their words.
 */
import { b, k1 } from "../../retrieval/words/bm25.js";
import { unpackWords } from "./codec.js";
import type { Database, Statement } from "./driver.js";

const LENGTH_BITS = 1024;

/** The steps of counts that have lists of their own, and the highest count that a step stands for. */
const STEPS: readonly { readonly from: number; readonly highest: number }[] = [
  { from: 2, highest: 2 },
  { from: 3, highest: 3 },
  { from: 4, highest: 7 },
  { from: 8, highest: 15 },
  { from: 16, highest: 31 },
  { from: 32, highest: 256 },
];

const rowId = (key: number, length: number): number => key * LENGTH_BITS + Math.min(length, LENGTH_BITS - 1);

/** What analysis never makes: it would be several tokens, or a list of counts. */
const NOT_A_TERM = /[\s"*\p{Cc}]|^$/u;

/** The tokens of one item: every term with its space in front, and with its steps. */
function tokens(space: number, counts: ReadonlyMap<string, number>): string[] {
  const prefix = `${space.toString(36)}:`;
  const list: string[] = [];
  for (const [term, count] of counts) {
    list.push(prefix + term);
    for (const { from } of STEPS) {
      if (count < from) break;
      list.push(`${prefix}${term}*${from}`);
    }
  }
  return list;
}

/** A query that matches exactly one token. Terms contain no quotes. */
const exactly = (space: number, term: string): string => `"${space.toString(36)}:${term}"`;

export interface Indexed {
  readonly key: number;
  readonly space: number;
  readonly words: string;
  readonly length: number;
}

/** A change of the index that waits for the end of its transaction. */
interface Pending {
  readonly rowId: number;
  readonly tokens: string;
  /** insert · remove: out of the index at once · mark: out with the next merge. */
  readonly change: "insert" | "remove" | "mark";
}

/**
 * Writes the index, at the end of the transaction. FTS5 writes out what it has gathered whenever a savepoint is set, so
 * changes made unit by unit would cost a segment each; gathered here, all units of a group make one.
 */
export class WordWriter {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #delete: Statement;
  #pending: Pending[] = [];

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)");
    this.#delete = database.prepare("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)");
  }

  insert(key: number, space: number, counts: ReadonlyMap<string, number>, length: number): void {
    this.#queue("insert", rowId(key, length), tokens(space, counts));
  }

  /**
   * The words of an edited item. While its row id stays the same, only what differs is written: FTS5 with `detail=none`
   * and `secure-delete` loses other items' postings of a token that leaves a row id and comes back to it at once.
   */
  replace(old: Indexed, counts: ReadonlyMap<string, number>, length: number): void {
    const before = rowId(old.key, old.length);
    const after = rowId(old.key, length);
    const gone = new Set(tokens(old.space, unpackWords(old.words)));
    const fresh = tokens(old.space, counts).filter((token) => after !== before || !gone.delete(token));
    this.#queue("remove", before, [...gone]);
    this.#queue("insert", after, fresh);
  }

  /**
   * A word can leave the index at once (0.4–0.9 ms an item) or as a mark that the next merge acts on (0.02 ms an item,
   * then about 1 µs for every item in the index).
   */
  remove({ key, space, words, length }: Indexed, how: "remove" | "mark"): void {
    this.#queue(how, rowId(key, length), tokens(space, unpackWords(words)));
  }

  #queue(change: Pending["change"], rowId: number, tokens: readonly string[]): void {
    if (tokens.length > 0) this.#pending.push({ rowId, tokens: tokens.join(" "), change });
  }

  /** How many changes wait; a unit that fails goes back to where it began. */
  get pending(): number {
    return this.#pending.length;
  }

  undoTo(pending: number): void {
    this.#pending.length = pending;
  }

  /** Makes the pending changes, in order. Requires an open transaction, and no savepoint after it. */
  flush(): void {
    let marking = false;
    for (const { rowId, tokens, change } of this.#pending) {
      if (change !== "insert" && marking !== (change === "mark")) {
        marking = !marking;
        this.#setSecure(!marking);
      }
      const statement = change === "insert" ? this.#insert : this.#delete;
      statement.run(rowId, tokens);
    }
    if (marking) this.#setSecure(true);
    this.#pending = [];
  }

  #setSecure(secure: boolean): void {
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('secure-delete', ${secure ? 1 : 0})`);
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

/** How often a term occurs in the stored form of words ("term" or "term*count" between blanks), without taking it apart. */
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
  readonly #database: Database;
  readonly #count: Statement;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
    database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)");
    this.#count = database.prepare("SELECT doc FROM temp.vocabulary WHERE term = ?");
  }

  containing(space: number, term: string): number {
    return NOT_A_TERM.test(term) ? 0 : this.postings(`${space.toString(36)}:${term}`);
  }

  /** How many items have a token. */
  postings(token: string): number {
    return Number(this.#count.get(token)?.["doc"] ?? 0);
  }

  /**
   * The keys of the items that contain any of the terms, those with the highest bound first, ties newest first. `where`
   * narrows them by a condition on `item`; `newest` reads that many postings of each list at most.
   */
  candidates(
    space: number,
    lists: readonly TermLists[],
    averageLength: number,
    where: { readonly sql: string; readonly values: readonly (string | number | null)[] } | undefined,
    limit: number,
    newest?: number,
  ): number[] {
    const average = Math.max(averageLength, 1);
    const cap = newest === undefined ? "" : `ORDER BY rowid DESC LIMIT ${newest}`;
    const sources: string[] = [];
    const values: (string | number)[] = [];
    // In the order of their steps, so that few shapes of statements have to be prepared.
    const stepped = lists.map((list) => ({ ...list, steps: this.#steps(space, list.term) }));
    stepped.sort((a, b) => a.steps.length - b.steps.length);
    for (const { term, idf, steps } of stepped) {
      let below = 0;
      for (const { from, highest } of [{ from: 1, highest: 1 }, ...steps]) {
        const gain = below === 0 ? weight(highest) : `(${weight(highest)} - ${weight(below)})`;
        sources.push(
          `SELECT * FROM (SELECT rowid AS posting, ? * ${gain} AS gain FROM words WHERE words MATCH ? ${cap})`,
        );
        const token = from === 1 ? term : `${term}*${from}`;
        values.push(idf, ...(below === 0 ? [average] : [average, average]), exactly(space, token));
        below = highest;
      }
    }
    const ranked = `SELECT posting / ${LENGTH_BITS} AS key, sum(gain) AS bound FROM (${sources.join(" UNION ALL ")}) GROUP BY posting`;
    const sql = where
      ? `SELECT ranked.key AS key FROM (${ranked}) AS ranked CROSS JOIN item ON item.key = ranked.key WHERE ${where.sql}
         ORDER BY bound DESC, ranked.key DESC LIMIT ?`
      : `SELECT key FROM (${ranked}) ORDER BY bound DESC, key DESC LIMIT ?`;
    const rows = this.prepared(sql).all(...values, ...(where?.values ?? []), limit);
    return rows.map((row) => Number(row["key"]));
  }

  /** The steps of counts that some item reaches with this term. */
  #steps(space: number, term: string): typeof STEPS {
    const beyond = STEPS.findIndex(({ from }) => this.postings(`${space.toString(36)}:${term}*${from}`) === 0);
    return beyond < 0 ? STEPS : STEPS.slice(0, beyond);
  }

  /** The statement of this text; those that were used last stay prepared. */
  prepared(sql: string): Statement {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.delete(sql);
    this.#prepared.set(sql, statement);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > STATEMENTS_KEPT && oldest !== undefined) this.#prepared.delete(oldest);
    return statement;
  }
}

/** BM25's weight of a count as SQL; its one parameter is the average length. */
const weight = (count: number): string =>
  `(${count * (k1 + 1)} / (${count} + ${k1} * (${1 - b} + ${b} * (rowid & ${LENGTH_BITS - 1}) / ?)))`;

/** Prepared statements, one per shape of query. */
const STATEMENTS_KEPT = 64;
