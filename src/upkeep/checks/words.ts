/**
 * Checks the words index against the items: every item has exactly the postings of its words, and there are no others.
 *
 * The index is read once, term by term. For each item only the number of tokens and a sum of their hashes is kept; a damaged
 * item escapes notice with a probability of 1 in 2³².
 */
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import type { Database, Row } from "../../stores/sqlite/file/driver.js";
import { unpackWords } from "../../stores/sqlite/rows/codec.js";
import { wordsOf } from "../../stores/sqlite/rows/item-row.js";
import { rowId, tokens } from "../../stores/sqlite/words/word-writer.js";
import { count, error, type Finding, ok, REPAIR, repairable, warning } from "../diagnosis.js";
import { number } from "../reading.js";
import type { Look } from "./look.js";

const TERMS_PER_READ = 500;
const ITEMS_PER_READ = 1_000;

export interface WordFaults {
  /** Keys of items without any posting. */
  readonly missing: readonly number[];
  /** Number of items with other postings than their words. */
  readonly wrong: number;
  /** Number of postings that belong to no item. */
  readonly orphans: number;
}

export function checkWords(look: Look, problems: readonly string[]): Finding {
  const { database, deep } = look;
  if (problems.length > 0) return repairable(error("the words index is damaged", REPAIR));
  if (number(database, "SELECT analysis FROM head") !== ANALYSIS_VERSION) {
    return repairable(warning("the text analysis has another version", "open the file once to rebuild the index"));
  }
  const { missing, wrong, orphans } = findWordFaults(database, deep);
  if (missing.length + wrong + orphans === 0) return ok("every item is found by its words");
  const found = [
    missing.length > 0 && `${count(missing.length, "item")} cannot be found by words`,
    wrong > 0 && `${count(wrong, "item")} indexed under the wrong words`,
    orphans > 0 && `postings of ${count(orphans, "item")} that do not exist`,
  ];
  return repairable(error(found.filter(Boolean).join("; "), REPAIR));
}

/** `deep` analyses the text of all items again. Requires a snapshot. */
export function findWordFaults(database: Database, deep: boolean): WordFaults {
  const sums = readIndex(database);
  const missing: number[] = [];
  let wrong = 0;
  for (const row of itemsOf(database)) {
    const { counts, length } = deep ? analysed(row) : stored(row);
    const expected = new TokenSum();
    for (const token of tokens(Number(row["space"]), counts)) expected.add(token);
    const doc = rowId(Number(row["key"]), length);
    const found = sums.get(doc);
    sums.delete(doc);
    if (!found && expected.tokens > 0) missing.push(Number(row["key"]));
    else if (found && !found.equals(expected)) wrong++;
  }
  return { missing, wrong, orphans: sums.size };
}

/** Number of tokens, and an order-independent sum of their hashes. */
class TokenSum {
  tokens = 0;
  #sum = 0;

  add(token: string): void {
    this.addHash(hashOf(token));
  }

  addHash(hash: number): void {
    this.tokens++;
    this.#sum = (this.#sum + hash) | 0;
  }

  equals(other: TokenSum): boolean {
    return this.tokens === other.tokens && this.#sum === other.#sum;
  }
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
}

function readIndex(database: Database): Map<number, TokenSum> {
  database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.postings USING fts5vocab(main, words, instance)");
  const page = database.prepare(
    `SELECT term, json_group_array(doc) AS docs FROM temp.postings WHERE term > ? GROUP BY term ORDER BY term
     LIMIT ${TERMS_PER_READ}`,
  );
  const sums = new Map<number, TokenSum>();
  for (let rows = page.all(""); rows.length > 0; rows = page.all(String(rows.at(-1)?.["term"]))) {
    for (const { term, docs } of rows) {
      const hash = hashOf(String(term));
      for (const doc of JSON.parse(String(docs)) as number[]) sumOf(doc, sums).addHash(hash);
    }
  }
  return sums;
}

function sumOf(doc: number, sums: Map<number, TokenSum>): TokenSum {
  const known = sums.get(doc);
  if (known) return known;
  const sum = new TokenSum();
  sums.set(doc, sum);
  return sum;
}

function* itemsOf(database: Database): Iterable<Row> {
  const page = database.prepare(
    `SELECT key, space, name, content, words, length FROM item WHERE key > ? ORDER BY key LIMIT ${ITEMS_PER_READ}`,
  );
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.["key"]))) yield* rows;
}

const stored = (row: Row) => ({ counts: unpackWords(String(row["words"])), length: Number(row["length"]) });
const analysed = (row: Row) => wordsOf(row["name"] === null ? undefined : String(row["name"]), String(row["content"]));
