/**
 * The words index: which items of a space contain a term.
 *
 * A posting's row id is key × 1024 + min(length, 1023), so that items can be ranked by BM25 without reading them: each
 * term is one list, and an item in which a term occurs 2, 3, 4, 8, 16 or 32 times is also in the lists "term*2" … up to
 * its count. Deleting needs the very tokens that were inserted, which is why items keep their words.
 */
import { unpackWords } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import { LENGTHS, Postings, STEPS } from "./postings.js";

export const rowId = (key: number, length: number): number => key * LENGTHS + Math.min(length, LENGTHS - 1);

/** What analysis never makes: it would be several tokens, or a list of counts. */
const NOT_A_TERM = /[\s"*\p{Cc}]|^$/u;

/** The tokens of one item: every term with its space in front, and with its steps. */
export function tokens(space: number, counts: ReadonlyMap<string, number>): string[] {
  const prefix = `${space.toString(36)}:`;
  const list: string[] = [];
  for (const [term, count] of counts) {
    list.push(prefix + term);
    for (const { from } of STEPS) if (count >= from) list.push(`${prefix}${term}*${from}`);
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
  readonly #segments: Statement;
  #pending: Pending[] = [];

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)");
    this.#delete = database.prepare("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)");
    this.#segments = database.prepare(
      `SELECT count(*) AS segments, max(pages) AS largest, sum(pages) AS pages
       FROM (SELECT count(*) AS pages FROM words_idx GROUP BY segid)`,
    );
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

  /**
   * Whether the index lies in many segments, none of which is most of it. Each is looked into for each word of a question:
   * 18 of them take three times as long as one. To merge them costs 3 µs an item, so that much has to have come since.
   */
  isScattered(): boolean {
    const row = this.#segments.get() as Row;
    return Number(row["segments"]) > SEGMENTS_MAX && Number(row["largest"]) * 3 < Number(row["pages"]) * 2;
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
const SEGMENTS_MAX = 4;

/** A term of a query in one space. */
export interface TermLists {
  readonly term: string;
  /** How many items of the space contain it. */
  readonly containing: number;
  readonly idf: number;
}

/** A term whose list is to be read, or has been. */
export interface FindingTerm {
  readonly term: string;
  readonly rows?: readonly number[] | undefined;
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
  readonly #count: Statement;
  readonly #all: Statement;
  readonly #newest: Statement;

  constructor(database: Database) {
    database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)");
    this.#count = database.prepare("SELECT doc FROM temp.vocabulary WHERE term = ?");
    // As one text: to hand over thousands of rows one by one takes longer than to read them.
    this.#all = database.prepare("SELECT json_group_array(rowid) AS rows FROM words WHERE words MATCH ?");
    this.#newest = database.prepare(
      "SELECT json_group_array(rowid) AS rows FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)",
    );
  }

  containing(space: number, term: string): number {
    return NOT_A_TERM.test(term) ? 0 : this.postings(`${space.toString(36)}:${term}`);
  }

  /** How many items have a token. */
  postings(token: string): number {
    return Number(this.#count.get(token)?.["doc"] ?? 0);
  }

  /** The row ids of all items of a space that contain a term. */
  rows(space: number, term: string): readonly number[] {
    return NOT_A_TERM.test(term) ? [] : this.#rows(exactly(space, term), undefined);
  }

  /** Which items of a space contain these terms; of each list the newest only, if so many are given. */
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
