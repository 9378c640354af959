/**
 * The word index: which items of a space contain a term.
 *
 * A posting's row id is key × 1024 + min(length, 1023), so that BM25 can rank items without reading them. Each term has
 * one list; an item in which a term occurs 2, 3, 4, 8, 16 or 32 times or more is also in the lists "term*2" … up to its
 * count. A delete needs exactly the tokens that were inserted, so items store their words.
 */

import type { Database, Row, Statement } from "../file/driver.js";
import { unpackWords } from "../rows/codec.js";
import { LENGTHS, STEPS } from "./word-reader.js";

export const rowId = (key: number, length: number): number => key * LENGTHS + Math.min(length, LENGTHS - 1);

/** The tokens of one item: every term, prefixed with its space, and its steps. */
export function tokens(space: number, counts: ReadonlyMap<string, number>): string[] {
  const prefix = `${space.toString(36)}:`;
  const list: string[] = [];
  for (const [term, count] of counts) {
    list.push(prefix + term);
    for (const { from } of STEPS) if (count >= from) list.push(`${prefix}${term}*${from}`);
  }
  return list;
}

export interface Indexed {
  readonly key: number;
  readonly space: number;
  readonly words: string;
  readonly length: number;
}

/** How words leave the index. remove: immediately · mark: with the next merge. */
export type How = "remove" | "mark";

/** A queued change of the index, written at the end of its transaction. */
interface Pending {
  readonly rowId: number;
  readonly tokens: string;
  readonly count: number;
  readonly change: "insert" | How;
}

/** The most tokens of one item that are removed immediately: each takes 10 to 200 µs, a mark takes 1 µs. */
const AT_ONCE_MAX = 2_000;

/**
 * Writes the index at the end of the transaction. FTS5 flushes its buffer at every savepoint, so changes written unit
 * by unit would cost one segment each. Queued here, all units of a group produce one segment.
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
   * Replaces the words of an edited item. If the row id stays the same, only the difference is written: with
   * `detail=none` and `secure-delete`, FTS5 loses other items' postings of a token that is removed from a row id and at
   * once added back. Returns how the old words leave the index.
   */
  replace(old: Indexed, counts: ReadonlyMap<string, number>, length: number): How {
    const before = rowId(old.key, old.length);
    const after = rowId(old.key, length);
    const gone = new Set(tokens(old.space, unpackWords(old.words)));
    const fresh = tokens(old.space, counts).filter((token) => after !== before || !gone.delete(token));
    const how = this.#queueRemoval("remove", before, [...gone]);
    this.#queue("insert", after, fresh);
    return how;
  }

  /**
   * Removes the words of an item. Removing them immediately takes 0.4–0.9 ms per item. A mark takes 0.02 ms per item,
   * plus about 1 µs per item in the index at the next merge. An item with many words always leaves marks. Returns which
   * one it was.
   */
  remove({ key, space, words, length }: Indexed, how: How): How {
    return this.#queueRemoval(how, rowId(key, length), tokens(space, unpackWords(words)));
  }

  #queueRemoval(wanted: How, rowId: number, tokens: readonly string[]): How {
    const how = tokens.length > AT_ONCE_MAX ? "mark" : wanted;
    this.#queue(how, rowId, tokens);
    return how;
  }

  #queue(change: Pending["change"], rowId: number, tokens: readonly string[]): void {
    const count = tokens.length;
    if (count > 0) this.#pending.push({ rowId, tokens: tokens.join(" "), count, change });
  }

  /** How many tokens `flush` will remove immediately. This takes most of the time of a forgetting transaction. */
  get leavingAtOnce(): number {
    return this.#pending.reduce((sum, { change, count }) => (change === "remove" ? sum + count : sum), 0);
  }

  /** The number of queued changes. A unit that fails truncates the queue to the length at its start. */
  get pending(): number {
    return this.#pending.length;
  }

  undoTo(pending: number): void {
    this.#pending.length = pending;
  }

  /** Writes the queued changes, in order. Requires an open transaction, and no savepoint after it. */
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
   * Whether the index is split into many segments and none of them holds most of it. Every query looks into each
   * segment for each word: 18 segments take three times as long as one. A merge costs 3 µs per item, so it is
   * worthwhile only after enough items have been added since the last one.
   */
  isScattered(): boolean {
    const row = this.#segments.get() as Row;
    return Number(row["segments"]) > SEGMENTS_MAX && Number(row["largest"]) * 3 < Number(row["pages"]) * 2;
  }

  /** Starts to merge all segments into one. */
  beginMerge(): void {
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('merge', -${MERGE_PAGES})`);
  }

  /** Merges one slice. Returns false if nothing is left to do. */
  continueMerge(): boolean {
    const changes = (): number => Number(this.#database.prepare("SELECT total_changes() AS n").get()?.["n"]);
    const before = changes();
    this.#database.exec(`INSERT INTO words (words, rank) VALUES ('merge', ${MERGE_PAGES})`);
    return changes() - before >= 2; // the FTS5 manual's test for the end of a merge
  }

  clear(): void {
    this.#database.exec("INSERT INTO words (words) VALUES ('delete-all')");
  }
}

const MERGE_PAGES = 64;
const SEGMENTS_MAX = 4;
