/**
 * The search thread's side of the file: `Store.search`, on its own connection.
 *
 * A search is one synchronous call on one snapshot (`#rank`). Only the loading of vectors into memory happens before
 * it, in pages, between other calls.
 */
import { setImmediate as otherCalls, setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../../errors.js";
import { type Candidate, fuse, NEAREST } from "../../../retrieval/fusion.js";
import { scoreOf } from "../../../retrieval/vectors/codes.js";
import type { ItemScore } from "../../../retrieval/vectors/nearest.js";
import { Question } from "../../../retrieval/vectors/quantise.js";
import { exactMatches, type Lookup } from "../../../retrieval/words/lookups.js";
import type { Level } from "../../../types.js";
import type { MirrorStats } from "../../indexing.js";
import { type FreshScore, type Ranked, type SearchRequest, type SearchResult, WORDS_MIN } from "../../search.js";
import { type VectorTable, VectorTables } from "../embedding/vector-table.js";
import { retryBusy, Statements, snapshot } from "../file/connection.js";
import type { Database } from "../file/driver.js";
import { readSpace, type SpaceRow, spaceRef } from "../rows/codec.js";
import { Headers, type ItemHeader } from "../rows/item-reader.js";
import { Registry } from "../rows/registry.js";
import { SearchScope, visibleIn } from "../rows/scope.js";
import { WordReader } from "../words/word-reader.js";
import { MirrorFeed } from "./mirror-feed.js";
import { Mirrors } from "./mirrors.js";
import { VectorFile } from "./vector-file.js";
import { type Scanned, VectorSearch } from "./vector-search.js";
import { WordSearch } from "./word-search.js";

/** A search that still lacks a space's mirror after this many loads scans the space in the file instead. */
const LOADS_MAX = 3;

export interface SearcherOptions {
  readonly busyTimeoutMs: number;
  /** The memory budget for the vectors of searched spaces, in bytes. */
  readonly mirrorBytes: number;
  /** Memory is short: a space whose vectors do not fit is searched by words only, and not in the file. */
  readonly isConstrained?: boolean;
}

/** What a search has to do without: vectors that are still loading, or for which there is no memory. */
type Missing = "loading" | "memory" | undefined;

/** A ranking, or the spaces whose vectors must be loaded first. */
type Step = SearchResult | { readonly missing: readonly SpaceRow[]; readonly table: VectorTable };

export class Searcher {
  readonly #busyTimeoutMs: number;
  readonly #isConstrained: boolean;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #registry: Registry;
  readonly #headers: Headers;
  readonly #words: WordReader;
  readonly #tables: VectorTables;
  readonly #file: VectorFile;
  readonly #mirrors: Mirrors;
  readonly #feed: MirrorFeed;

  constructor(database: Database, { busyTimeoutMs, mirrorBytes, isConstrained = false }: SearcherOptions) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#isConstrained = isConstrained;
    this.#database = database;
    try {
      this.#statements = new Statements(this.#database);
      this.#registry = new Registry(this.#database);
      this.#headers = new Headers(this.#statements);
      this.#words = new WordReader(this.#database);
      this.#tables = new VectorTables(this.#database);
      this.#mirrors = new Mirrors(mirrorBytes); // first: its kernel needs memory most when memory is short
      this.#file = new VectorFile(this.#database);
      this.#feed = new MirrorFeed(this.#database, this.#mirrors);
    } catch (error) {
      this.#database.close(); // possibly an old version: reopened after the writer's migration
      throw error;
    }
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const readyBy = performance.now() + (request.vector?.readyMs ?? 0);
    const scanned = new Map<number, readonly ItemScore[]>();
    let without: Missing;
    for (let attempt = 1; ; attempt++) {
      const step = await this.#snapshot(() => this.#rank(request, scanned, without));
      if ("found" in step) return step;
      const { missing, table } = step;
      const unpin = this.#mirrors.pin(missing.map(({ key }) => key));
      const prepare = async (space: SpaceRow): Promise<void> => {
        if (attempt <= LOADS_MAX && (await this.#load(space, table, readyBy))) return;
        if (this.#isConstrained || this.#mirrors.isRefused) {
          without = "memory";
          return;
        }
        const { numbers } = request.vector as NonNullable<SearchRequest["vector"]>;
        scanned.set(space.key, await this.#scan(space.key, table, numbers));
      };
      try {
        await Promise.all(missing.map(prepare));
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== "loading") throw error;
        without = "loading";
      } finally {
        unpin();
      }
    }
  }

  /**
   * The whole search, on one snapshot: finds candidates by words and by vectors, completes both scores, and ranks them.
   */
  #rank(request: SearchRequest, scanned: Scanned, without: Missing): Step {
    const { spaces, filter, now, terms, lookups, vector, hints } = request;
    const scope = SearchScope.resolve(this.#statements, this.#registry, spaces, filter, now);
    if (!scope) return this.#nothing(request);

    const table = vector && this.#served(vector);
    if (table) this.#feed.catchUp(table);
    const parts = { statements: this.#statements, file: this.#file, mirrors: this.#mirrors };
    const vectors = table && new VectorSearch(parts, scope, table, vector.numbers, scanned);
    const isStored = vectors && !without && !vector?.freshOnly;
    if (isStored && !vector?.outside && vectors.missing.length > 0) {
      const missing = new Set(vectors.missing);
      return { missing: scope.spaces.filter(({ key }) => missing.has(key)), table };
    }

    const started = performance.now();
    const words = new WordSearch(this.#statements, this.#words, scope, terms);
    const byWords = words.best(Math.max(request.limit, WORDS_MIN));
    const exact = this.#exact(scope, lookups);

    const wordsDone = performance.now();
    const near = Math.max(request.limit, NEAREST);
    const fresh = this.#current(vector?.fresh ?? [], scope);
    const stored = !isStored ? [] : vector?.outside ? vectors.outside(vector.outside, near) : vectors.nearest(near);
    const nearest = merge(stored, fresh.scores, near);

    const keys = [...new Set([...byWords.map(keyOf), ...exact.keys(), ...nearest.map(keyOf)])];
    const headers = this.#headers.read(keys, scope.spaces, now, scope.narrowing);
    const wordScores = mapOf([...byWords, ...words.scores(except(keys, byWords))]);
    const completed = vectors && !vector?.freshOnly ? vectors.scores(except(keys, [...nearest, ...fresh.scores])) : [];
    const meanings = mapOf<MeaningScore>([...completed, ...fresh.scores, ...nearest]);

    const ranks = new Map(nearest.map(({ key }, rank) => [key, rank]));
    const isFound = new Set([...byWords.map(keyOf), ...exact.keys()]);
    const candidates = headers.map((header): HeaderCandidate => {
      const { key, role, occurredAt, sessionId } = header; // field by field: a spread is five times slower
      const word = wordScores.get(key);
      const meaning = meanings.get(key);
      return {
        key,
        role,
        occurredAt,
        sessionId,
        words: terms.length > 0 ? (word?.score ?? 0) : undefined,
        meaning: meaning?.score,
        exact: exact.get(key),
        isFar: !isFound.has(key) && (ranks.get(key) ?? 0) >= NEAREST,
        header,
        until: earliest(header.until, word?.until),
        level: meaning?.level ?? "store",
      };
    });
    const ranking = fuse(candidates, hints, request.limit);
    return {
      found: ranking.map(({ candidate, score, why }) => rankedOf(candidate, score, why)),
      candidates: candidates.length,
      isClockBound: candidates.some(({ until }) => until !== undefined),
      outdated: fresh.outdated,
      words: { found: byWords.length, ms: wordsDone - started },
      fresh: fresh.scores.length,
      vectors: {
        found: stored.length,
        ms: performance.now() - wordsDone,
        ...(vector && !table && { missing: "other_space" }),
        ...(without && { missing: without }),
      },
    };
  }

  /** Items that contain identifiers of the question, each with its match score. */
  #exact(scope: SearchScope, lookups: readonly Lookup[]): ReadonlyMap<number, number> {
    if (lookups.length === 0) return new Map();
    const terms = lookups.map(({ term }) => term);
    const bits = scope.spaces.flatMap(({ key }) => [...this.#words.lookUp(key, terms)]);
    const visible = new Set(
      this.#headers
        .read(
          bits.map(([key]) => key),
          scope.spaces,
          scope.now,
          scope.narrowing,
        )
        .map(keyOf),
    );
    const found = bits.flatMap(([key, score]) => (visible.has(key) ? { key, score } : []));
    return new Map([...exactMatches(lookups, found)].map(([{ key }, match]) => [key, match]));
  }

  /**
   * The fresh scores that are still valid and within the scope, best first; and the keys of items that have changed.
   */
  #current(fresh: readonly FreshScore[], scope: SearchScope) {
    if (fresh.length === 0) return { scores: [], outdated: [] };
    const keys = [...new Set(fresh.flatMap(({ key, borrowed }) => [key, ...borrowed.map(keyOf)]))];
    const { sql, values } = visibleIn(scope.spaces, scope.now, false);
    const statement = this.#statements.get(
      `SELECT json_group_array(json_array(item.key, item.version)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
    );
    const rows = JSON.parse(String(statement.get(JSON.stringify(keys), ...values)?.["rows"])) as [number, number][];
    const versions = new Map(rows);
    const isCurrent = ({ key, version }: { key: number; version: number }) => versions.get(key) === version;
    const current = fresh.filter((one) => isCurrent(one) && one.borrowed.every(isCurrent));
    const passing = scope.passing(current.map(keyOf));
    return {
      scores: current.filter(({ key }) => passing.has(key)).sort((a, b) => b.score - a.score || b.key - a.key),
      outdated: fresh.filter((one) => !isCurrent(one)).map(keyOf),
    };
  }

  /** The empty result. If none of the spaces exists, all fresh items are outdated. */
  #nothing({ spaces, vector }: SearchRequest): SearchResult {
    const isGone = this.#registry.findSpaces(spaces).length === 0;
    return isGone && vector ? { ...NOTHING, outdated: vector.fresh.map(keyOf) } : NOTHING;
  }

  mirrorStats(): MirrorStats {
    return this.#mirrors.stats();
  }

  /** How many items contain a token of the word index. */
  postings(token: string): number {
    return this.#words.postings(token);
  }

  /** Removes all forgotten data from memory. */
  sweep(): Promise<void> {
    return this.#snapshot(() => {
      const table = this.#tables.current();
      if (!table) return;
      this.#feed.catchUp(table);
      for (const space of this.#mirrors.spaces) this.#feed.removeWaiting(space, table);
    });
  }

  /** Loads the vectors of the space with the newest item, because it is likely to be queried first. */
  async warm(): Promise<void> {
    const newest = await this.#snapshot(() => {
      const row = this.#statements.get(NEWEST_SPACE).get();
      const table = this.#tables.current();
      if (!row || !table) return undefined;
      this.#feed.catchUp(table);
      return { space: readSpace(row, spaceRef(row["kind"], row["name"])), table };
    });
    if (newest) await this.#load(newest.space, newest.table, Number.POSITIVE_INFINITY);
  }

  leave(): void {
    this.close();
  }

  close(): void {
    this.#mirrors.clear();
    this.#database.close();
  }

  /** The current vector table, if the vector belongs to its space. Requires a snapshot. */
  #served({ space, numbers }: NonNullable<SearchRequest["vector"]>): VectorTable | undefined {
    return numbers.length === space.dimensions ? this.#tables.serving(space) : undefined;
  }

  /**
   * Loads the mirror of a space. Resolves to false if the space cannot have one now. Rejects with `loading` if it takes
   * too long; the load continues in the background.
   */
  async #load(space: SpaceRow, table: VectorTable, readyBy: number): Promise<boolean> {
    const { key, items } = space;
    if (!this.#mirrors.canHold(key, items, items * this.#file.vectorsPerItem())) return false;
    const loading = this.#mirrors.load(key, items, (after) =>
      this.#page(table, () => {
        this.#feed.catchUp(table);
        return this.#file.page(key, after, table);
      }),
    );
    if (readyBy === Number.POSITIVE_INFINITY) return loading;
    const done = new AbortController();
    const tooLong = sleep(Math.max(0, readyBy - performance.now()), undefined, { signal: done.signal }).then(() => {
      throw new HoldfastError("loading", "the vectors of a space are still being loaded into memory");
    });
    return Promise.race([loading, tooLong]).finally(() => done.abort());
  }

  /** Scores all items of a space by scanning it in the file. Other calls run between pages. */
  async #scan(space: number, table: VectorTable, vector: Float32Array): Promise<readonly ItemScore[]> {
    const question = new Question(vector);
    const items: ItemScore[] = [];
    for (let after = 0; ; ) {
      const page = await this.#page(table, () => this.#file.page(space, after, table));
      for (const { key, codes } of page) {
        const score = scoreOf(codes, question);
        if (score !== undefined) items.push({ key, score });
        after = key;
      }
      if (page.length === 0) return items;
      await otherCalls();
    }
  }

  /**
   * Returns nothing if another table is current by now. The search and the mirrors notice the switch on their next
   * snapshot.
   */
  #page<T>(table: VectorTable, read: () => readonly T[]): Promise<readonly T[]> {
    return this.#snapshot(() => (this.#tables.current()?.key === table.key ? read() : []));
  }

  #snapshot<T>(work: () => T): Promise<T> {
    return retryBusy(() => snapshot(this.#database, work), this.#busyTimeoutMs);
  }
}

interface MeaningScore {
  readonly key: number;
  readonly score: number;
  readonly level?: Level;
}

interface HeaderCandidate extends Candidate {
  readonly header: ItemHeader;
  readonly until: number | undefined;
  readonly level: Level;
}

function rankedOf({ header, level, until }: HeaderCandidate, score: number, why: Ranked["why"]): Ranked {
  const { key, id, version } = header;
  return until === undefined ? { key, id, version, score, level, why } : { key, id, version, until, score, level, why };
}

/** The nearest of both lists, best first. A fresh score replaces the stored score of the same item. */
function merge(stored: readonly ItemScore[], fresh: readonly FreshScore[], limit: number): readonly MeaningScore[] {
  if (fresh.length === 0) return stored;
  const merged = new Map<number, MeaningScore>([...stored, ...fresh].map((one) => [one.key, one]));
  return [...merged.values()].sort((a, b) => b.score - a.score || b.key - a.key).slice(0, limit);
}

const keyOf = ({ key }: { readonly key: number }): number => key;

const mapOf = <T extends { readonly key: number }>(scores: readonly T[]): ReadonlyMap<number, T> =>
  new Map(scores.map((score) => [score.key, score]));

function except(keys: readonly number[], known: readonly { readonly key: number }[]): readonly number[] {
  const names = new Set(known.map(keyOf));
  return keys.filter((key) => !names.has(key));
}

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);

const NOTHING: SearchResult = {
  found: [],
  candidates: 0,
  isClockBound: false,
  outdated: [],
  words: { found: 0, ms: 0 },
  fresh: 0,
  vectors: { found: 0, ms: 0 },
};

const NEWEST_SPACE = `SELECT key, id, kind, name, retention_ms, version, items, terms FROM space
  WHERE key = (SELECT space FROM item ORDER BY key DESC LIMIT 1)`;
