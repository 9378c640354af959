/**
 * QueryBuffer: the way of every question, from the fastest level to the slowest.
 *
 *   versions  of the question's spaces, read first: what is kept answers for these versions and for no others
 *   L1        the finished answer, or the ranking it can be made of: content is read, nothing is searched
 *   victims   rankings that L1 had no room for
 *   search    with whoever asks the same at this moment (`rank`)
 *   read      content by key; what has changed since it was found is dropped, its place filled from the ranking
 *
 * Versions, not timers, keep it true: whatever changes an answer gives its space a commit number that no space had
 * before. A search sees what was committed when its versions were read, or more; so what is kept is never older than it
 * says, and a question never joins a search that began before something it must see. What would change by itself is not
 * kept (`Entry.isKeepable`).
 */
import type { Clock } from "../../clock.js";
import type { Presentation, Question } from "../../input/question.js";
import type { Store } from "../../stores/store.js";
import type { Hits, SpaceRef } from "../../types.js";
import { spaceName } from "../lane-name.js";
import type { Meter } from "../meter.js";
import { type Answered, Entry } from "./entry.js";
import { EntryCache, type EntryCacheStats, type FoundEntry } from "./entry-cache.js";
import { explain } from "./explanation.js";
import { Flights } from "./flights.js";
import { answer, readHits } from "./hits.js";
import { type Origin, type QueryBufferStats, QueryCounts } from "./query-stats.js";
import { flightKey, type Place, pageKey, questionKey } from "./question-key.js";
import type { Ranking } from "./ranking.js";
import { Repeats } from "./repeats.js";

const NOTHING_KEPT: EntryCacheStats = { kept: 0, victims: 0, evictions: { kept: 0, victims: 0 }, bytes: 0 };

/** How often a question is ranked in all if what it found keeps changing before it is read. */
const RANKINGS_MAX = 3;
/** Questions whose repetition is noticed, for each that is cached; and at most, which is 1 MB. */
const REPEATS_PER_ENTRY = 10;
const REPEATS_MAX = 10_000;

export interface QueryBufferOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly meter?: Meter;
  /** Questions in L1; 0 keeps nothing. */
  readonly cacheSize: number;
  /** What L1 and the victims may weigh together. Hashes of questions asked before stand beside it. */
  readonly maxBytes: number;
  /** The search: the question's `depth` best items at least, or all there are. `now` is the time of day. */
  readonly rank: (question: Question, now: number) => Promise<Ranking>;
}

/** One question on its way. */
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
  /** Absent if nothing is kept. */
  readonly #cache: EntryCache | undefined;
  readonly #repeats: Repeats | undefined;
  readonly #searches = new Flights<Entry>();
  readonly #counts = new QueryCounts();
  #searched = 0;
  /** Searches up to this one began before the last `clear`. */
  #cleared = 0;

  constructor(options: QueryBufferOptions) {
    this.#options = options;
    const { cacheSize, maxBytes } = options;
    if (cacheSize === 0) return;
    this.#cache = new EntryCache(cacheSize, maxBytes);
    this.#repeats = new Repeats(Math.min(cacheSize * REPEATS_PER_ENTRY, REPEATS_MAX));
  }

  /** The answer to a question, frozen: others may get the very same. */
  async query(place: Place, question: Question, presentation: Presentation): Promise<Hits> {
    const started = performance.now();
    const asked = {
      place,
      question: deepEnough(question, presentation),
      presentation,
      key: questionKey(question),
      page: pageKey(place, presentation),
    };
    const isRepeat = this.#cache?.knows(asked.key) || this.#repeats?.isRepeat(asked.key) || false;
    const { hits, origin } = await this.#answer(asked);
    const ms = performance.now() - started;
    this.#counts.answered(origin, isRepeat, ms);
    this.#options.meter?.queried(ms);
    return hits;
  }

  /** Forgets what was found in a space, or everything. What is under way ends, and is not kept. */
  forget(space?: SpaceRef): void {
    this.#cache?.forget(space && spaceName(space));
    this.#searches.clear();
    this.#cleared = this.#searched;
  }

  /** Forgets everything, also which questions were asked. */
  clear(): void {
    this.forget();
    this.#repeats?.clear();
  }

  get stats(): QueryBufferStats {
    const kept = this.#cache?.stats ?? NOTHING_KEPT;
    return this.#counts.summary({ ...kept, bytes: kept.bytes + (this.#repeats?.bytes ?? 0) });
  }

  async #answer(asked: Asked): Promise<{ readonly hits: Hits; readonly origin: Origin }> {
    const { store } = this.#options;
    const { question, presentation } = asked;
    for (let rankings = 1; ; rankings++) {
      const versions = (await store.versions(question.spaces)).join(" ");
      const kept = this.#cache?.find(asked.key, versions, question.depth);
      const finished = kept?.entry.answer(asked.page);
      if (finished) return { hits: finished, origin: "answers" };
      const { entry, origin } = kept ? fromCache(kept) : await this.#search(asked, versions);
      const { hits, dropped } = await this.#read(asked, entry, origin);
      const isShort = hits.length < presentation.topK && dropped > 0;
      if (!isShort || rankings === RANKINGS_MAX) return { hits, origin };
    }
  }

  /** Ranks the question, together with those who ask the same now. */
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

  /** Equal answers are read once, unless they say how they came about. */
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
    const explanation = await explain(store, { question, presentation, ranking, hits, origin, now });
    const said = answer(hits, presentation, { ...ranking, ...(explanation && { explanation }) });
    this.#counts.read(said);
    if (dropped > 0) this.#cache?.drop(entry);
    else if (!presentation.explain) this.#cache?.put(entry, page, said);
    return { hits: said, dropped };
  }
}

/** The page must be within what is ranked. */
function deepEnough(question: Question, { offset, topK }: Presentation): Question {
  return question.depth >= offset + topK ? question : { ...question, depth: offset + topK };
}

const fromCache = ({ entry, level }: FoundEntry): RankedEntry => ({
  entry,
  origin: level === "victim" ? "victims" : "rankings",
});
