/**
 * QueryBuffer: answers every question from the fastest level that can.
 *
 *   versions  of the question's spaces, read first: a cached entry is valid for exactly these versions
 *   L1        the finished answer, or its ranking: then content is read, but nothing is searched
 *   victims   rankings that L1 evicted
 *   ahead     answers that the SpeculativeBuffer made ahead of time (`prefetch`), under the same rule as L1
 *   search    shared with concurrent equal questions (`rank`)
 *   read      content by key; items that changed after ranking are dropped and replaced by lower-ranked ones
 *
 * Entries are invalidated by version, not by TTL. Every write that changes an answer raises the version of its space,
 * and a space that reuses the name of another has its own id. A search sees at least what was committed when its
 * versions were read. A cached entry is therefore never older than its versions, and a question never joins a search
 * that began before a commit it must see. Answers that change without a write are not cached (`AnswerEntry.isKeepable`).
 */
import type { Clock } from "../../clock.js";
import type { ParsedQuery } from "../../input/query.js";
import type { Presentation, Question } from "../../input/question.js";
import { SingleFlight } from "../../single-flight.js";
import { spaceKey } from "../../space-key.js";
import type { SpaceVersion, Store } from "../../stores/store.js";
import type { Hits, Origin, SpaceRef } from "../../types.js";
import { Meter } from "../meter.js";
import { AnswerCache, type AnswerCacheStats, AnswerEntry, type Answered } from "./answer-cache.js";
import { answerBytes, constrained } from "./budget.js";
import { explain } from "./explanation.js";
import { type AskingScope, answer, readHits } from "./hits.js";
import { isCold, type QueryBufferStats, QueryCounts } from "./query-stats.js";
import type { Ranking } from "./retriever.js";

const NOTHING_KEPT: AnswerCacheStats = {
  ...{ kept: 0, victims: 0, evictions: { kept: 0, victims: 0 } },
  ...{ bytes: 0, maxEntries: 0, maxBytes: 0 },
};

/** Upper bound on rankings per question if its hits keep changing before they are read. */
const RANKINGS_MAX = 3;

export interface QueryBufferOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly meter?: Meter;
  /** Number of questions in L1; 0 turns caching off. */
  readonly cacheSize: number;
  /** Upper bound on the memory of both levels together. */
  readonly maxBytes: number;
  /** Answers made ahead of time, by question. What is served is removed. */
  readonly ahead?: Map<string, AnswerEntry>;
  /**
   * Searches. Returns at least the question's `depth` best items, or all matches. `now` is wall-clock time. Rejects if
   * the signal aborts before the search begins.
   */
  readonly rank: (question: Question, now: number, signal?: AbortSignal) => Promise<Ranking>;
}

/**
 * What became of a prefetch. ready: the entry can be served · known: an answer is there already · busy: questions are
 * in progress · stopped: a question or a write came · unusable: the answer cannot be kept.
 */
export type Prefetched =
  | { readonly outcome: "ready"; readonly entry: AnswerEntry }
  | { readonly outcome: "known" | "busy" | "stopped" | "unusable" };

/** The cache options of a QueryBuffer. */
export const queryCache = ({ cacheSize, maxBytes }: { readonly cacheSize: number; readonly maxBytes: number }) => ({
  cacheSize,
  maxBytes: answerBytes(maxBytes),
});

/** One question in progress. */
interface QueryInProgress {
  readonly place: AskingScope;
  readonly question: Question;
  readonly presentation: Presentation;
  readonly key: string;
  readonly page: string;
}

interface RankedEntry {
  readonly entry: AnswerEntry;
  readonly origin: Origin;
}

export class QueryBuffer {
  readonly #options: QueryBufferOptions;
  /** Absent if caching is off. */
  readonly #cache: AnswerCache | undefined;
  readonly #searches = new SingleFlight<AnswerEntry>();
  readonly #counts: QueryCounts;
  readonly #meter: Meter;
  /** Questions in progress, prefetches aside. */
  #asking = 0;
  /** The searches of prefetches, by flight, while they may be interrupted. */
  readonly #prefetching = new Map<string, AbortController>();
  #searched = 0;
  /** Searches up to this sequence number began before the last `forget`. */
  #cleared = 0;

  constructor(options: QueryBufferOptions) {
    this.#options = options;
    const { cacheSize, maxBytes, clock } = options;
    this.#meter = options.meter ?? new Meter(clock);
    this.#counts = new QueryCounts(cacheSize);
    if (cacheSize > 0) this.#cache = new AnswerCache(cacheSize, maxBytes);
  }

  /** Answers a question. The answer is frozen, because callers with equal questions share it. */
  async query(place: AskingScope, query: ParsedQuery): Promise<Hits> {
    const started = performance.now();
    const asked = askedOf(place, query);
    const isRepeat = this.#counts.isRepeat(asked.key);
    this.#asking++;
    try {
      const { hits, origin } = await this.#answer(asked);
      this.#counts.answered(origin, isRepeat);
      this.#meter.queried(performance.now() - started, isCold(origin));
      return hits;
    } finally {
      this.#asking--;
    }
  }

  /**
   * Answers a question ahead of time, at the lowest priority: not while questions are in progress, and until one is
   * searched or something is written (`interrupt`). An equal question that comes meanwhile joins the search.
   */
  async prefetch(place: AskingScope, query: ParsedQuery): Promise<Prefetched> {
    const asked = askedOf(place, query);
    const { key, question, page } = asked;
    const versions = await this.#versions(question);
    const ahead = this.#options.ahead?.get(key);
    if (ahead?.isFor(versions, question.depth) && ahead.answer(page)) return { outcome: "known" };
    if (this.#cache?.find(key, versions, question.depth)) return { outcome: "known" };
    if (this.#asking > 0) return { outcome: "busy" };
    const flight = flightKey(key, versions, question);
    const abort = this.#prefetching.get(flight) ?? new AbortController();
    this.#prefetching.set(flight, abort);
    try {
      const { entry } = await this.#search(asked, versions, abort.signal);
      if (!entry.isKeepable || entry.order <= this.#cleared) return { outcome: "unusable" };
      const { hits, dropped } = await this.#read(asked, entry, "ahead");
      if (dropped > 0 || entry.order <= this.#cleared) return { outcome: "unusable" };
      entry.put(page, hits);
      return { outcome: "ready", entry };
    } catch (error) {
      if (abort.signal.aborted) return { outcome: "stopped" };
      throw error;
    } finally {
      if (this.#prefetching.get(flight) === abort) this.#prefetching.delete(flight);
    }
  }

  /** Stops prefetches in progress, because real work has come. Their searches fail, so no question may join them any more. */
  interrupt(): void {
    for (const [flight, abort] of this.#prefetching) {
      this.#searches.leave(flight);
      abort.abort();
    }
    this.#prefetching.clear();
  }

  /**
   * Drops the cached entries of a space, or all entries. Searches in progress complete, but their results are not
   * cached.
   */
  forget(space?: SpaceRef): void {
    this.#cache?.forget(space && spaceKey(space));
    this.#searches.clear();
    this.#cleared = this.#searched;
  }

  /** Keeps fewer answers while the process is short of memory. */
  constrain(isConstrained: boolean): void {
    const { maxBytes } = this.#options;
    this.#cache?.resize(isConstrained ? constrained(maxBytes) : maxBytes);
  }

  /** Drops everything, including the record of questions asked. */
  clear(): void {
    this.forget();
    this.#counts.clear();
  }

  get stats(): QueryBufferStats {
    return this.#counts.summary(this.#cache?.stats ?? NOTHING_KEPT, this.#meter.queries);
  }

  async #answer(asked: QueryInProgress): Promise<{ readonly hits: Hits; readonly origin: Origin }> {
    const { question, presentation } = asked;
    for (let rankings = 1; ; rankings++) {
      const versions = await this.#versions(question);
      const kept = this.#find(asked, versions);
      const finished = kept?.entry.answer(asked.page);
      if (finished) return { hits: finished, origin: kept?.origin === "ahead" ? "ahead" : "answers" };
      const { entry, origin } = kept ?? (await this.#search(asked, versions));
      const { hits, dropped } = await this.#read(asked, entry, origin);
      const isShort = hits.length < presentation.topK && dropped > 0;
      if (!isShort || rankings === RANKINGS_MAX) return { hits, origin };
    }
  }

  /** An entry for exactly these versions: cached, or made ahead, which then moves into the cache. */
  #find({ key, question }: QueryInProgress, versions: string): RankedEntry | undefined {
    const kept = this.#cache?.find(key, versions, question.depth);
    if (kept) return { entry: kept.entry, origin: kept.level === "victim" ? "victims" : "rankings" };
    const entry = this.#options.ahead?.get(key);
    if (!entry?.isFor(versions, question.depth)) return undefined;
    this.#options.ahead?.delete(key);
    this.#cache?.keep(entry);
    return { entry, origin: "ahead" };
  }

  /** Ranks the question, or joins an equal search in progress. With a signal, it is a prefetch. */
  async #search({ key, question }: QueryInProgress, versions: string, signal?: AbortSignal): Promise<RankedEntry> {
    const flight = flightKey(key, versions, question);
    if (!signal) this.#makeWay(flight);
    const underWay = this.#searches.find(flight);
    const entry = await (underWay ??
      this.#searches.start(flight, async () => {
        const { rank, clock } = this.#options;
        const order = ++this.#searched;
        return new AnswerEntry({ key, versions, order, question, ranking: await rank(question, clock.now(), signal) });
      }));
    if (!signal && entry.isKeepable && entry.order > this.#cleared) this.#cache?.keep(entry);
    return { entry, origin: underWay ? "shared" : "misses" };
  }

  /** A question is about to be searched: it takes over an equal prefetch, and interrupts any other. */
  #makeWay(flight: string): void {
    this.#prefetching.delete(flight);
    this.interrupt();
  }

  async #versions({ spaces }: Question): Promise<string> {
    return (await this.#options.store.versions(spaces)).map(nameOf).join(" ");
  }

  /** Reads concurrent equal answers once, unless they carry an explanation. */
  #read(asked: QueryInProgress, entry: AnswerEntry, origin: Origin): Promise<Answered> {
    const read = () => this.#readAnswer(asked, entry, origin);
    if (asked.presentation.explain) return read();
    return entry.reading.find(asked.page) ?? entry.reading.start(asked.page, read);
  }

  async #readAnswer(
    { place, question, presentation, page }: QueryInProgress,
    entry: AnswerEntry,
    origin: Origin,
  ): Promise<Answered> {
    const { store, clock } = this.#options;
    const { spaces, filter } = question;
    const { ranking } = entry;
    const now = clock.now();
    const { hits, dropped } = await readHits(store, ranking.found, { spaces, filter, now, place, ...presentation });
    const explanation =
      presentation.explain && (await explain(store, { question, presentation, ranking, hits, origin, now }));
    const said = answer(hits, presentation, { ...ranking, ...(explanation && { explanation }) });
    this.#counts.read(said);
    if (dropped > 0) this.#cache?.drop(entry);
    else if (!presentation.explain) this.#cache?.put(entry, page, said);
    return { hits: said, dropped };
  }
}

const nameOf = (version: SpaceVersion | undefined): string => (version ? `${version.id}@${version.version}` : "-");

/** Raises the depth so that the ranking covers the requested page. */
function deepEnough(question: Question, { offset, topK }: Presentation): Question {
  return question.depth >= offset + topK ? question : { ...question, depth: offset + topK };
}

const askedOf = (place: AskingScope, { question, presentation }: ParsedQuery): QueryInProgress => ({
  place,
  question: deepEnough(question, presentation),
  presentation,
  key: questionKey(question),
  page: pageKey(place, presentation),
});

/**
 * Cache keys include all fields by default, so a field added later is included without a change here. The deadline is
 * excluded: a complete ranking is correct for any deadline.
 */
function questionKey({ depth: _depth, deadlineMs: _deadline, ...asked }: Question): string {
  return JSON.stringify(asked);
}

/** Identifies how the answer is presented, and the asking session if that makes a difference. */
function pageKey({ space, session }: AskingScope, presentation: Presentation): string {
  return JSON.stringify(session === undefined ? presentation : [presentation, space, session]);
}

/** Questions with the same key share a search: they see the same state of the store and have the same deadline. */
function flightKey(key: string, versions: string, { depth, deadlineMs }: Question): string {
  return `${versions}|${depth}|${deadlineMs ?? ""}|${key}`;
}
