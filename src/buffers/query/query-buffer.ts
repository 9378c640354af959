/**
 * QueryBuffer: answers every question from the fastest level that can.
 *
 *   versions  of the question's spaces, read first: a cached entry is valid for exactly these versions
 *   L1        the finished answer, or its ranking: then content is read, but nothing is searched
 *   victims   rankings that L1 evicted
 *   search    shared with concurrent equal questions (`rank`)
 *   read      content by key; items that changed after ranking are dropped and replaced by lower-ranked ones
 *
 * Entries are invalidated by version, not by TTL. Every write that changes an answer raises the version of its space,
 * and a space that reuses the name of another has its own id. A search sees at least what was committed when its
 * versions were read. A cached entry is therefore never older than its versions, and a question never joins a search
 * that began before a commit it must see. Answers that change without a write are not cached (`Entry.isKeepable`).
 */
import type { Clock } from "../../clock.js";
import type { Presentation, Question } from "../../input/question.js";
import { SingleFlight } from "../../single-flight.js";
import { spaceKey } from "../../space-key.js";
import type { SpaceVersion, Store } from "../../stores/store.js";
import type { Hits, SpaceRef } from "../../types.js";
import type { Meter } from "../meter.js";
import { AnswerCache, type AnswerCacheStats, type Answered, Entry, type FoundEntry } from "./answer-cache.js";
import { answerBytes } from "./budget.js";
import { explain } from "./explanation.js";
import { answer, type Place, readHits } from "./hits.js";
import { type Origin, type QueryBufferStats, QueryCounts } from "./query-stats.js";
import type { Ranking } from "./retriever.js";

const NOTHING_KEPT: AnswerCacheStats = { kept: 0, victims: 0, evictions: { kept: 0, victims: 0 }, bytes: 0 };

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
  /** Searches. Returns at least the question's `depth` best items, or all matches. `now` is wall-clock time. */
  readonly rank: (question: Question, now: number) => Promise<Ranking>;
}

/** The cache options of a QueryBuffer. */
export const queryCache = ({ cacheSize, maxBytes }: { readonly cacheSize: number; readonly maxBytes: number }) => ({
  cacheSize,
  maxBytes: answerBytes(maxBytes),
});

/** One question in progress. */
interface Asked {
  readonly place: Place;
  readonly question: Question;
  readonly presentation: Presentation;
  readonly key: string;
  readonly page: string;
}

interface RankedEntry {
  readonly entry: Entry;
  readonly origin: Origin;
}

export class QueryBuffer {
  readonly #options: QueryBufferOptions;
  /** Absent if caching is off. */
  readonly #cache: AnswerCache | undefined;
  readonly #searches = new SingleFlight<Entry>();
  readonly #counts: QueryCounts;
  #searched = 0;
  /** Searches up to this sequence number began before the last `forget`. */
  #cleared = 0;

  constructor(options: QueryBufferOptions) {
    this.#options = options;
    const { cacheSize, maxBytes } = options;
    this.#counts = new QueryCounts(cacheSize);
    if (cacheSize > 0) this.#cache = new AnswerCache(cacheSize, maxBytes);
  }

  /** Answers a question. The answer is frozen, because callers with equal questions share it. */
  async query(place: Place, question: Question, presentation: Presentation): Promise<Hits> {
    const started = performance.now();
    const asked = {
      place,
      question: deepEnough(question, presentation),
      presentation,
      key: questionKey(question),
      page: pageKey(place, presentation),
    };
    const isRepeat = this.#counts.isRepeat(asked.key);
    const { hits, origin } = await this.#answer(asked);
    const ms = performance.now() - started;
    this.#counts.answered(origin, isRepeat, ms);
    this.#options.meter?.queried(ms);
    return hits;
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

  /** Drops everything, including the record of questions asked. */
  clear(): void {
    this.forget();
    this.#counts.clear();
  }

  get stats(): QueryBufferStats {
    return this.#counts.summary(this.#cache?.stats ?? NOTHING_KEPT);
  }

  async #answer(asked: Asked): Promise<{ readonly hits: Hits; readonly origin: Origin }> {
    const { store } = this.#options;
    const { question, presentation } = asked;
    for (let rankings = 1; ; rankings++) {
      const versions = (await store.versions(question.spaces)).map(nameOf).join(" ");
      const kept = this.#cache?.find(asked.key, versions, question.depth);
      const finished = kept?.entry.answer(asked.page);
      if (finished) return { hits: finished, origin: "answers" };
      const { entry, origin } = kept ? fromCache(kept) : await this.#search(asked, versions);
      const { hits, dropped } = await this.#read(asked, entry, origin);
      const isShort = hits.length < presentation.topK && dropped > 0;
      if (!isShort || rankings === RANKINGS_MAX) return { hits, origin };
    }
  }

  /** Ranks the question, or joins an equal search in progress. */
  async #search({ key, question }: Asked, versions: string): Promise<RankedEntry> {
    const flight = flightKey(key, versions, question);
    const underWay = this.#searches.find(flight);
    if (underWay) return { entry: await underWay, origin: "shared" };
    const order = ++this.#searched;
    const entry = await this.#searches.start(flight, async () => {
      const { rank, clock } = this.#options;
      const made = new Entry({ key, versions, order, question, ranking: await rank(question, clock.now()) });
      if (made.isKeepable && order > this.#cleared) this.#cache?.keep(made);
      return made;
    });
    return { entry, origin: "misses" };
  }

  /** Reads concurrent equal answers once, unless they carry an explanation. */
  #read(asked: Asked, entry: Entry, origin: Origin): Promise<Answered> {
    const read = () => this.#readAnswer(asked, entry, origin);
    if (asked.presentation.explain) return read();
    return entry.reading.find(asked.page) ?? entry.reading.start(asked.page, read);
  }

  async #readAnswer({ place, question, presentation, page }: Asked, entry: Entry, origin: Origin): Promise<Answered> {
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

const fromCache = ({ entry, level }: FoundEntry): RankedEntry => ({
  entry,
  origin: level === "victim" ? "victims" : "rankings",
});

/**
 * Cache keys include all fields by default, so a field added later is included without a change here. The deadline is
 * excluded: a complete ranking is correct for any deadline.
 */
function questionKey({ depth: _depth, deadlineMs: _deadline, ...asked }: Question): string {
  return JSON.stringify(asked);
}

/** Identifies how the answer is presented, and the asking session if that makes a difference. */
function pageKey({ space, session }: Place, presentation: Presentation): string {
  return JSON.stringify(session === undefined ? presentation : [presentation, space, session]);
}

/** Questions with the same key share a search: they see the same state of the store and have the same deadline. */
function flightKey(key: string, versions: string, { depth, deadlineMs }: Question): string {
  return `${versions}|${depth}|${deadlineMs ?? ""}|${key}`;
}
