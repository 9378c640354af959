/**
 * Search by words: candidates from the words index, then exact scores from the words stored with the items, each among
 * its neighbours (retrieval/words/neighbours.ts).
 *
 * Candidates are the best by what the index knows of them alone, and whatever stands within reach of those. So what is
 * found is exact in spaces where the terms hit no more than `HITS_MIN` items, and in larger ones leaves out only what
 * many others are better than.
 *
 * Only what is visible is read, so nothing that has expired lends a word; and every read is held to one space. A filter
 * says what may be found, not what may lend: an item that it leaves out still leads to its neighbours.
 */
import { analyse } from "../../retrieval/words/analyse.js";
import { idf } from "../../retrieval/words/bm25.js";
import { averageAmong, REACH, scoreAmong, type Text } from "../../retrieval/words/neighbours.js";
import type { RowFilter, Scored, WordsRequest } from "../store.js";
import { readScored, SCORED_COLUMNS } from "./codec.js";
import type { Database } from "./driver.js";
import { all, type Condition, type SpaceRow, visibleIn } from "./filter.js";
import type { Registry } from "./registry.js";
import { resolveScope } from "./scope.js";
import { countIn, type TermLists, WordReader } from "./words.js";

/**
 * How many postings a search reads to find candidates. Words so common that they would exceed it rank items that other
 * words have found, but find none themselves, unless nothing else does.
 */
const POSTINGS_MAX = 8_192;
/** So many items that contain a term are looked at with their neighbours, or as many as are asked for. */
const HITS_MIN = 128;

/** An item that leads to candidates: a place in a session, or, outside any, the item itself. */
type Hit =
  | { readonly key: number; readonly session: number; readonly sequence: number }
  | { readonly key: number; readonly session: null; readonly row: WordRow };

/** An item that was read with what the question needs of it. */
interface Candidate extends Text {
  readonly key: number;
  readonly session: number | null;
  /** Whether it is one of those that led here. */
  readonly isHit: boolean;
}

interface Score {
  readonly key: number;
  readonly score: number;
}

/** A question in one space. */
interface Asked {
  readonly space: SpaceRow;
  readonly visible: Condition;
  readonly lists: readonly TermLists[];
  /** The average length of the space's items, by themselves. */
  readonly average: number;
}

export class WordSearch {
  readonly #registry: Registry;
  readonly #words: WordReader;

  constructor(database: Database, registry: Registry) {
    this.#registry = registry;
    this.#words = new WordReader(database);
  }

  /** How many items have a token of the words index. */
  postings(token: string): number {
    return this.#words.postings(token);
  }

  search({ spaces: refs, terms, filter, limit, now, keys }: WordsRequest): Scored[] {
    const { spaces, condition } = resolveScope(this.#registry, refs, filter, now, false);
    if (!condition) return [];
    const searches = keys ? [] : this.#searches(refs, filter, now);
    const found = spaces.flatMap((space) => {
      const asked = this.#ask(space, terms, now);
      if (keys) return this.#scoreKeys(asked, keys, condition);
      return this.#best(this.#scores(asked, this.#hits(asked, searches, limit), REACH), condition, limit);
    });
    found.sort(bestFirst);
    return keys ? found : found.slice(0, limit);
  }

  /**
   * What leads to candidates, as conditions: items of the sessions asked for, or any, because they lend their words to
   * others that pass the filter; and, if it asks for more, those that pass it themselves and may be none of the best.
   */
  #searches(refs: WordsRequest["spaces"], filter: RowFilter, now: number): (Condition | undefined)[] {
    const { sessions, ...rest } = filter;
    const conditionOf = (filter: RowFilter) => resolveScope(this.#registry, refs, filter, now, false).condition;
    const lending = sessions && conditionOf({ sessions });
    return Object.keys(rest).length > 0 ? [lending, conditionOf(filter)] : [lending];
  }

  #ask(space: SpaceRow, terms: readonly string[], now: number): Asked {
    const lists = terms
      .map((term) => ({ term, containing: this.#words.containing(space.key, term) }))
      .filter(({ containing }) => containing > 0)
      .map((list) => ({ ...list, idf: idf(space.items, list.containing) }))
      .sort((a, b) => a.containing - b.containing || (a.term < b.term ? -1 : 1));
    const average = space.items > 0 ? space.terms / space.items : 0;
    return { space, visible: visibleIn([space], now, false), lists, average };
  }

  /** The hits of the searches together, each once. */
  #hits(asked: Asked, searches: readonly (Condition | undefined)[], limit: number): Hit[] {
    const hits = new Map<number, Hit>();
    for (const narrowing of searches) {
      const { found, isAll } = this.#hitsOf(asked, narrowing, Math.max(HITS_MIN, limit));
      for (const hit of found) hits.set(hit.key, hit);
      if (isAll) break; // a narrower search finds nothing else
    }
    return [...hits.values()];
  }

  /** Visible items that contain terms, the best by themselves; more common terms are taken in until there are some. */
  #hitsOf({ space, visible, lists, average }: Asked, narrowing: Condition | undefined, wanted: number) {
    for (let finding = withinBudget(lists); finding <= lists.length && finding > 0; finding++) {
      const finders = lists.slice(0, finding);
      const isAlone = !narrowing && finding === 1 && Number(finders[0]?.containing) > POSTINGS_MAX;
      const newest = isAlone ? POSTINGS_MAX : undefined;
      const keys = this.#words.candidates(space.key, finders, average, narrowing, wanted, newest);
      const found = this.#places(keys, visible);
      if (found.length > 0) return { found, isAll: finding === lists.length && keys.length < wanted };
    }
    return { found: [], isAll: false };
  }

  #scoreKeys(asked: Asked, keys: readonly number[], condition: Condition): Scored[] {
    const hits = this.#places([...new Set(keys)], all([asked.visible, condition]));
    return this.#read(this.#scores(asked, hits, 0), condition);
  }

  /** Where the items are that meet the condition. */
  #places(keys: readonly number[], condition: Condition): Hit[] {
    if (keys.length === 0) return [];
    const rows = this.#words.prepared(
      `SELECT item.key, item.session, item.seq, item.length, iif(item.session IS NULL, item.words, NULL) AS words
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${condition.sql}`,
    );
    return rows.all(JSON.stringify(keys), ...condition.values).map((row) => {
      const key = Number(row["key"]);
      if (row["session"] !== null) return { key, session: Number(row["session"]), sequence: Number(row["seq"]) };
      return { key, session: null, row: [key, null, null, Number(row["length"]), String(row["words"]), null] };
    });
  }

  /** The scores of the hits, and of everything that is within `reach` of one. */
  #scores(asked: Asked, hits: readonly Hit[], reach: number): Score[] {
    const rarities = asked.lists.map((list) => list.idf);
    const average = averageAmong(asked.average);
    const texts = this.#window(asked, hits, reach + REACH);
    const scores: Score[] = [];
    for (const [at, text] of texts.entries()) {
      let from = at;
      let to = at + 1;
      while (areNear(texts[from - 1], text, REACH)) from--;
      while (areNear(texts[to], text, REACH)) to++;
      const around = texts.slice(from, to);
      if (!text.isHit && !around.some((other) => other.isHit && areNear(other, text, reach))) continue;
      scores.push({ key: text.key, score: scoreAmong(text, around, rarities, average) });
    }
    return scores;
  }

  /** The hits with all that is visible within `width` of them, in the order of sessions and sequences. */
  #window({ lists, visible }: Asked, hits: readonly Hit[], width: number): Candidate[] {
    const counter = new Counter(
      lists.map(({ term }) => term),
      new Set(hits.map(({ key }) => key)),
    );
    const alone = hits.flatMap((hit) => (hit.session === null ? [counter.read(hit.row)] : []));
    const spans = merged(hits, width);
    if (spans.length === 0) return alone;
    // As one text: to hand over thousands of rows one by one takes longer than to read them.
    const rows = this.#words.prepared(
      `SELECT json_group_array(json_array(item.key, item.session, item.seq, item.length, item.words, item.name)) AS rows
       FROM json_each(?) AS span CROSS JOIN item INDEXED BY item_seq ON item.session = span.value ->> 0
         AND item.seq BETWEEN span.value ->> 1 AND span.value ->> 2
       WHERE ${visible.sql}`,
    );
    const read = rows.get(JSON.stringify(spans), ...visible.values)?.["rows"];
    const texts = (JSON.parse(String(read)) as WordRow[]).map((row) => counter.read(row));
    texts.sort((a, b) => Number(a.session) - Number(b.session) || Number(a.sequence) - Number(b.sequence));
    return [...texts, ...alone];
  }

  /** The best of those that meet the condition. */
  #best(scores: readonly Score[], condition: Condition, limit: number): Scored[] {
    const step = Math.max(HITS_MIN, limit);
    const ranked = scores.filter(({ score }) => score > 0).sort(bestFirst);
    const found: Scored[] = [];
    for (let at = 0; at < ranked.length && found.length < limit; at += step) {
      found.push(...this.#read(ranked.slice(at, at + step), condition));
    }
    return found;
  }

  /** The items by reference, those that meet the condition. */
  #read(scores: readonly Score[], condition: Condition): Scored[] {
    if (scores.length === 0) return [];
    const scoreOf = new Map(scores.map(({ key, score }) => [key, score]));
    const rows = this.#words.prepared(
      `SELECT ${SCORED_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value
       JOIN space ON space.key = item.space LEFT JOIN session ON session.key = item.session WHERE ${condition.sql}`,
    );
    const found = rows.all(JSON.stringify([...scoreOf.keys()]), ...condition.values);
    return found.map((row) => readScored(row, scoreOf.get(Number(row["key"])) ?? 0));
  }
}

/** What is read of an item to score it. */
type WordRow = readonly [
  key: number,
  session: number | null,
  sequence: number | null,
  length: number,
  words: string,
  name: string | null,
];

/** Counts a question's terms in the words of items. */
class Counter {
  readonly #terms: readonly string[];
  readonly #hits: ReadonlySet<number>;
  /** By speaker's name, how often it contains each term. */
  readonly #names = new Map<string, readonly number[]>();

  constructor(terms: readonly string[], hits: ReadonlySet<number>) {
    this.#terms = terms;
    this.#hits = hits;
  }

  read([key, session, sequence, length, words, name]: WordRow): Candidate {
    const counts = this.#count(words);
    const lent = name === null || counts.length === 0 ? counts : this.#without(name, counts);
    return { key, session, sequence: sequence ?? undefined, length, counts, lent, isHit: this.#hits.has(key) };
  }

  #count(words: string): readonly number[] {
    let counts: number[] = NONE;
    for (const [at, term] of this.#terms.entries()) {
      const count = countIn(words, term);
      if (count === 0) continue;
      if (counts === NONE) counts = this.#terms.map(() => 0);
      counts[at] = count;
    }
    return counts;
  }

  #without(name: string, counts: readonly number[]): readonly number[] {
    let named = this.#names.get(name);
    if (!named) {
      const words = analyse(name);
      named = this.#terms.map((term) => words.get(term) ?? 0);
      this.#names.set(name, named);
    }
    return counts.map((count, at) => count - (named[at] ?? 0));
  }
}

const NONE: number[] = [];

/** Whether two items stand in one session, so far apart at most. */
function areNear(one: Candidate | undefined, other: Candidate, distance: number): boolean {
  if (!one || one.session === null || one.session !== other.session) return false;
  return Math.abs(Number(one.sequence) - Number(other.sequence)) <= distance;
}

/** Stretches of sessions, [session, from, to], that hold all places within `width` of a hit once. */
function merged(hits: readonly Hit[], width: number): (readonly [number, number, number])[] {
  const places = hits.filter((hit) => hit.session !== null);
  places.sort((a, b) => a.session - b.session || a.sequence - b.sequence);
  const spans: [number, number, number][] = [];
  for (const { session, sequence } of places) {
    const last = spans.at(-1);
    if (last && last[0] === session && sequence - width <= last[2] + 1) last[2] = sequence + width;
    else spans.push([session, sequence - width, sequence + width]);
  }
  return spans;
}

const bestFirst = (a: Score, b: Score): number => b.score - a.score || b.key - a.key;

/** How many of the lists, rarest first, fit into the budget of postings; one at least, if there is one. */
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
