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
import { LRUCache } from "lru-cache";
import type { Near } from "../../retrieval/vectors/nearest.js";
import { idf } from "../../retrieval/words/bm25.js";
import { Crowd } from "../../retrieval/words/crowd.js";
import { averageAmong, REACH } from "../../retrieval/words/neighbours.js";
import type { Estimates, FoundItems } from "../estimates.js";
import type { VectorScored } from "../indexing.js";
import type { RowFilter, Scored, WordsRequest } from "../store.js";
import type { Database } from "./driver.js";
import { type Condition, newestOf, type SpaceRow } from "./filter.js";
import { NameCounts } from "./name-counts.js";
import type { NearestItems } from "./nearest-items.js";
import { isUnsure, type Postings } from "./postings.js";
import { RankedKeys } from "./ranked-keys.js";
import { type Reference, References } from "./references.js";
import type { Registry } from "./registry.js";
import type { Rosters } from "./rosters.js";
import { resolveScope } from "./scope.js";
import { isQuick } from "./small.js";
import { Statements } from "./statements.js";
import { FileRows, RosterRows, type Span, type WordRow, type WordRows } from "./word-rows.js";
import { countIn, type TermLists, WordReader } from "./words.js";

/**
 * How many postings a search reads to find candidates. Words so common that they would exceed it rank items that other
 * words have found, but find none themselves, unless nothing else does.
 */
const POSTINGS_MAX = 8_192;
/** So many items that contain a term are looked at with their neighbours, or as many as are asked for. */
const HITS_MIN = 128;
const READ_KEPT = 4;

/** Items with their scores. */
interface Scores {
  readonly keys: readonly number[];
  readonly scores: readonly number[];
  /** When something that an item has its score from is gone by itself, where that can be. */
  readonly until: ReadonlyMap<number, number>;
}

interface Hits {
  readonly rows: readonly WordRow[];
  /** Whether nothing else has a term, among those that may lend. */
  readonly areAll: boolean;
}

/** A question in one space. */
interface Asked {
  readonly space: SpaceRow;
  readonly rows: WordRows;
  /** The terms that the space contains, the rarest first. */
  readonly lists: readonly TermLists[];
  /** How many of them find; the others are so common that they only rank. */
  readonly finding: number;
  readonly postings: Postings;
  /** The average length of the space's items, by themselves. */
  readonly average: number;
}

export class WordSearch {
  readonly #registry: Registry;
  readonly #words: WordReader;
  readonly #statements: Statements;
  readonly #references: References;
  readonly #rosters: Rosters;
  /** Postings that were read last, by space, its version and the terms: what one arm has found is soon to be scored. */
  readonly #read = new LRUCache<string, Pick<Asked, "lists" | "finding" | "postings">>({ max: READ_KEPT });

  constructor(database: Database, registry: Registry, rosters: Rosters) {
    this.#registry = registry;
    this.#words = new WordReader(database);
    this.#statements = new Statements(database);
    this.#references = new References(this.#statements);
    this.#rosters = rosters;
  }

  /** How many items have a token of the words index. */
  postings(token: string): number {
    return this.#words.postings(token);
  }

  /** Items that vectors have found, by reference; undefined unless they are as they were then, and at hand. */
  refer(refs: WordsRequest["spaces"], now: number, nearest: NearestItems): FoundItems<VectorScored> | undefined {
    const { keys, scores, parts, estimates, asOf } = nearest;
    const spaces = this.#registry.findSpaces(refs);
    if (newestOf(spaces) !== asOf) return undefined;
    this.#rosters.catchUp();
    const references = new Map<number, Reference>();
    for (const space of spaces) {
      if (!this.#rosters.isAtHand(space)) return undefined;
      for (const found of this.#rows(space, now).references([...keys], undefined)) references.set(found.key, found);
    }
    const found: VectorScored[] = [];
    for (let at = 0; at < keys.length; at++) {
      const scored = references.get(keys[at] as number)?.scored(scores[at] as number);
      if (!scored) return undefined; // it may not be seen any more, and another takes its place
      found.push(Object.assign(scored, { part: parts[at] as number }));
    }
    return Object.assign(found, { asOf, ...(estimates && { estimates }) });
  }

  search(request: WordsRequest): FoundItems<Scored> {
    const { spaces: refs, filter, now, keys } = request;
    const { spaces, condition } = resolveScope(this.#registry, refs, filter, now, false);
    if (!condition) return [];
    this.#rosters.catchUp();
    const narrowing = Object.keys(filter).length > 0 ? condition : undefined;
    return this.#searchIn(spaces, request, keys ? [] : this.#searches(refs, filter, now), narrowing);
  }

  /**
   * The same, if that is quick and all that is read of the items is at hand; else undefined. The first search may read them
   * from the file.
   */
  searchAtHand(request: WordsRequest, isFirst: boolean): FoundItems<Scored> | undefined {
    if (Object.keys(request.filter).length > 0) return undefined; // the file has to judge
    const spaces = this.#registry.findSpaces(request.spaces);
    if (!isQuick(spaces, request.terms.length, isFirst)) return undefined;
    this.#rosters.catchUp();
    const areAtHand = spaces.map((space) => this.#rosters.isAtHand(space)); // of all: each is to be loaded
    return isFirst || !areAtHand.includes(false) ? this.#searchIn(spaces, request, ANY, undefined) : undefined;
  }

  #searchIn(
    spaces: readonly SpaceRow[],
    { terms, limit, now, keys, estimates }: WordsRequest,
    searches: readonly (Condition | undefined)[],
    narrowing: Condition | undefined,
  ): FoundItems<Scored> {
    const known = new KnownScores();
    const found = spaces.flatMap((space) => {
      let asked = this.#ask(space, terms, now);
      if (keys) return this.#scoreKeys(asked, keys, narrowing);
      let hits = this.#hits(asked, searches, limit);
      while (hits.rows.length === 0 && asked.finding < asked.lists.length) {
        asked = this.#widen(asked);
        hits = this.#hits(asked, searches, limit);
      }
      const scores = this.#scores(asked, hits.rows, REACH);
      known.add(scores, hits.areAll);
      return this.#best(asked, scores, narrowing, limit);
    });
    found.sort(bestFirst);
    if (keys) return found;
    const best = found.slice(0, limit);
    return estimates ? Object.assign(best, { estimates: known.estimates(), asOf: newestOf(spaces) }) : best;
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
    const name = `${space.key} ${space.version} ${terms.join(" ")}`;
    const read = this.#read.get(name) ?? this.#readPostings(space, terms);
    this.#read.set(name, read);
    const average = space.items > 0 ? space.terms / space.items : 0;
    return { space, rows: this.#rows(space, now), average, ...read };
  }

  #rows(space: SpaceRow, now: number): WordRows {
    const file = new FileRows(this.#statements, this.#references, space, now);
    const roster = this.#rosters.find(space);
    return roster ? new RosterRows(roster, file, this.#references, space, now) : file;
  }

  #readPostings(space: SpaceRow, terms: readonly string[]): Pick<Asked, "lists" | "finding" | "postings"> {
    // What cannot exceed the budget is read at once: to count it first would take as long.
    const areFew = space.items * terms.length <= POSTINGS_MAX;
    const lists = terms
      .map((term) => ({ term, rows: areFew ? this.#words.rows(space.key, term) : undefined }))
      .map((list) => ({ ...list, containing: list.rows?.length ?? this.#words.containing(space.key, list.term) }))
      .filter(({ containing }) => containing > 0)
      .map((list) => ({ ...list, idf: idf(space.items, list.containing) }))
      .sort((a, b) => a.containing - b.containing || (a.term < b.term ? -1 : 1));
    const finding = withinBudget(lists);
    const isAlone = finding === 1 && Number(lists[0]?.containing) > POSTINGS_MAX;
    const finders = lists.slice(0, finding);
    return { lists, finding, postings: this.#words.read(space.key, finders, isAlone ? POSTINGS_MAX : undefined) };
  }

  /** Takes in the next more common term, because the others have found nothing that may be seen. */
  #widen(asked: Asked): Asked {
    const finding = asked.finding + 1;
    return { ...asked, finding, postings: this.#words.read(asked.space.key, asked.lists.slice(0, finding)) };
  }

  /** What the searches lead to together, each once, and whether that is everything with a term. */
  #hits(asked: Asked, searches: readonly (Condition | undefined)[], limit: number): Hits {
    const { lists, finding, postings, average } = asked;
    const wanted = Math.max(HITS_MIN, limit);
    const ranked = postings.ranked(
      lists.map((list) => list.idf),
      Math.max(average, 1),
    );
    const areAll = finding === lists.length && ranked.size <= wanted;
    const hits = new Map<number, WordRow>();
    for (const narrowing of searches) {
      for (const hit of bestRows(asked.rows, ranked, narrowing, wanted)) hits.set(hit.key, hit);
      if (areAll) break; // a narrower search finds nothing else
    }
    return { rows: [...hits.values()], areAll };
  }

  #scoreKeys(asked: Asked, keys: readonly number[], narrowing: Condition | undefined): Scored[] {
    const hits = asked.rows.find([...new Set(keys)], narrowing);
    const scores = this.#scores(asked, hits, 0);
    const scored = scores.keys.map((key, at) => ({ key, bound: scores.scores[at] as number }));
    return this.#found(asked, scored, scores, narrowing);
  }

  /** The scores of the hits, and of everything that is within `reach` of one. */
  #scores(asked: Asked, hits: readonly WordRow[], reach: number): Scores {
    const outside = hits.filter(({ session }) => session === null);
    const rows = [...outside, ...asked.rows.within(merged(hits, reach + REACH))];
    const crowd = this.#crowd(asked, rows);
    const reached = crowd.reachedFrom(
      placesOf(hits, rows, (at) => reach === 0 || crowd.hasTerms(at)),
      reach,
    );
    const rarities = asked.lists.map((list) => list.idf);
    const scored = crowd.scores(rarities, averageAmong(asked.average));
    const expiry = rows.some(({ expiresAt }) => expiresAt !== null)
      ? crowd.leastAround(Float64Array.from(rows, ({ expiresAt }) => expiresAt ?? Infinity))
      : undefined;
    const keys: number[] = [];
    const scores: number[] = [];
    const until = new Map<number, number>();
    for (let at = 0; at < rows.length; at++) {
      if (reached[at] === 0) continue;
      const { key } = rows[at] as WordRow;
      keys.push(key);
      scores.push(scored[at] as number);
      if (expiry && expiry[at] !== Infinity) until.set(key, expiry[at] as number);
    }
    return { keys, scores, until };
  }

  /** How often each row contains the terms: as the index has it, and where that does not know, as stored with the item. */
  #crowd({ lists, finding, postings }: Asked, rows: readonly WordRow[]): Crowd {
    const crowd = new Crowd(rows.length, lists.length);
    const names = new NameCounts(lists.map(({ term }) => term));
    const unsure: number[] = [];
    for (let at = 0; at < rows.length; at++) {
      const { key, session, sequence, length, name } = rows[at] as WordRow;
      crowd.place(at, session, sequence, length);
      const told = postings.countsOf(key);
      if (finding < lists.length || (told && isUnsure(told))) unsure.push(at);
      else if (told) crowd.count(at, told, names.of(name));
    }
    const words = this.#wordsOf(unsure.map((at) => (rows[at] as WordRow).key));
    for (const at of unsure) {
      const { key, name } = rows[at] as WordRow;
      const packed = words.get(key) ?? "";
      const counts = lists.map(({ term }) => countIn(packed, term));
      if (counts.some((count) => count > 0)) crowd.count(at, counts, names.of(name));
    }
    return crowd;
  }

  #wordsOf(keys: readonly number[]): ReadonlyMap<number, string> {
    if (keys.length === 0) return new Map();
    const rows = this.#statements.get(
      `SELECT json_group_array(json_array(item.key, item.words)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value`,
    );
    return new Map(JSON.parse(String(rows.get(JSON.stringify(keys))?.["rows"])) as [number, string][]);
  }

  /** The best of those that meet the condition. */
  #best(asked: Asked, scores: Scores, narrowing: Condition | undefined, limit: number): Scored[] {
    const step = Math.max(HITS_MIN, limit);
    const ranked = new RankedKeys(scores.keys, scores.scores);
    const found: Scored[] = [];
    for (let at = 0; at < ranked.size && found.length < limit; at += step) {
      const best = ranked.slice(at, at + step).filter(({ bound }) => bound > 0);
      found.push(...this.#found(asked, best, scores, narrowing));
      if (best.length < step) break; // the rest has no words
    }
    return found;
  }

  /** These items by reference, those that meet the condition. */
  #found({ rows }: Asked, scored: readonly Near[], { until }: Scores, narrowing: Condition | undefined): Scored[] {
    const scoreOf = new Map<number, number>();
    for (const { key, bound } of scored) scoreOf.set(key, bound);
    return rows
      .references([...scoreOf.keys()], narrowing)
      .map((reference) => reference.scored(scoreOf.get(reference.key) as number, until.get(reference.key)));
  }
}

/** The scores that a search has made, of all that it has looked at. */
class KnownScores {
  readonly #keys: number[] = [];
  readonly #scores: number[] = [];
  #isWhole = true;

  /** Those that end by themselves are left out: whoever wants them asks for them, and is told when. */
  add({ keys, scores, until }: Scores, areAll: boolean): void {
    this.#isWhole &&= areAll && until.size === 0;
    for (let at = 0; at < keys.length; at++) {
      if (until.has(keys[at] as number)) continue;
      this.#keys.push(keys[at] as number);
      this.#scores.push(scores[at] as number);
    }
  }

  estimates(): Estimates {
    const [keys, most] = [new Float64Array(this.#keys), new Float64Array(this.#scores)];
    return { keys, most, slack: 0, isWhole: this.#isWhole };
  }
}

/** The best that meet the condition; those that do not give way to the next. */
function bestRows(rows: WordRows, ranked: RankedKeys, narrowing: Condition | undefined, wanted: number): WordRow[] {
  const found: WordRow[] = [];
  for (let at = 0, count = wanted; at < ranked.size && found.length < wanted; at += count, count *= 4) {
    const best = ranked.slice(at, at + count).map(({ key }) => key);
    found.push(...rows.find(best, narrowing));
  }
  return found.slice(0, wanted);
}

/** Where the hits stand among the rows: 1 for each, 0 for the others. Only rows that `mayHit` are looked at. */
function placesOf(hits: readonly WordRow[], rows: readonly WordRow[], mayHit: (at: number) => boolean): Uint8Array {
  const wanted = new Set<number>();
  for (const { key } of hits) wanted.add(key);
  const places = new Uint8Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (mayHit(at) && wanted.has((rows[at] as WordRow).key)) places[at] = 1;
  }
  return places;
}

/** Stretches of sessions that hold all places within `width` of a hit once, in order. */
function merged(hits: readonly WordRow[], width: number): Span[] {
  const places = hits.flatMap(({ session, sequence }) =>
    session === null || sequence === null ? [] : { session, sequence },
  );
  places.sort((a, b) => a.session - b.session || a.sequence - b.sequence);
  const spans: [number, number, number][] = [];
  for (const { session, sequence } of places) {
    const last = spans.at(-1);
    if (last && last[0] === session && sequence - width <= last[2] + 1) last[2] = sequence + width;
    else spans.push([session, sequence - width, sequence + width]);
  }
  return spans;
}

/** Anything that may be seen leads to candidates. */
const ANY: readonly undefined[] = [undefined];

const bestFirst = (a: Scored, b: Scored): number => b.score - a.score || b.key - a.key;

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
