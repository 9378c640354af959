/**
 * Prefetches: the queue of questions to answer ahead of time, and the answers held.
 *
 * Two searches run at a time, the likeliest guess's first, newest first among equals. `prefetch` refuses while
 * questions are in progress; the queue is tried again after the next call. Each request is counted once as issued per
 * search, and every search ends as served or wasted.
 */
import type { PrefetchOutcome } from "../../events/event.js";
import type { ParsedQuery } from "../../input/query.js";
import type { ParsedScope } from "../../input/scope.js";
import type { PredictorName } from "../../options.js";
import { spaceKey } from "../../space-key.js";
import type { AnswerEntry } from "../query/answer-cache.js";
import type { Prefetched } from "../query/query-buffer.js";
import type { Confidence } from "./confidence.js";
import type { TrackRecord } from "./track-record.js";

/** How often one request is searched. Whatever is written to its spaces outdates its answer. */
const SEARCHES_MAX = 3;
/** A store on another machine answers two searches in the time of one. */
const SEARCHES_AT_ONCE = 2;
/** Requests known at a time; the oldest is cancelled. */
const QUEUE_MAX = 64;

/** A question that a predictor expects. */
export interface Request {
  /** Identifies the session, the text and the options. */
  readonly id: string;
  readonly predictor: PredictorName;
  readonly place: ParsedScope;
  readonly query: ParsedQuery;
  /** That of the guess. If absent, the predictor's. */
  readonly confidence?: Confidence | undefined;
  /** The answer is not held; the search only reads the space into memory. */
  readonly isWarming?: boolean;
}

export interface PrefetchesOptions {
  readonly maxSize: number;
  readonly maxBytes: number;
  readonly records: ReadonlyMap<PredictorName, TrackRecord>;
  readonly prefetch: (place: ParsedScope, query: ParsedQuery) => Promise<Prefetched>;
  /** Whether items are being embedded or written. A search now would soon be outdated; `run` is called again then. */
  readonly isBusy: () => boolean;
  readonly tell: (request: Request, outcome: PrefetchOutcome) => void;
}

interface Slot extends Request {
  state: "queued" | "running" | "done";
  searches: number;
  /** Duration of the newest search. */
  ms: number;
  entry: AnswerEntry | undefined;
  /** The question came during the search, and gets its result. */
  isJoined: boolean;
}

export class Prefetches {
  readonly #options: PrefetchesOptions;
  /** Answers held, by question. The QueryBuffer takes those that it serves. */
  readonly #entries: Map<string, AnswerEntry>;
  /** Oldest first. */
  readonly #slots = new Map<string, Slot>();
  #running = 0;
  #isClosed = false;

  constructor(entries: Map<string, AnswerEntry>, options: PrefetchesOptions) {
    this.#entries = entries;
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += entry.bytes;
    return bytes;
  }

  /** Queues a request, unless it is known. */
  add(request: Request): void {
    if (this.#slots.has(request.id)) return;
    this.#slots.set(request.id, { ...request, state: "queued", searches: 0, ms: 0, entry: undefined, isJoined: false });
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > QUEUE_MAX && oldest !== undefined) this.cancel(oldest);
  }

  /** The question came and was answered, from here if its answer was ready. Returns false if it was not requested. */
  asked(id: string): boolean {
    const slot = this.#slots.get(id);
    if (!slot) return false;
    this.#slots.delete(id);
    const record = this.#recordOf(slot);
    const isTaken = slot.entry !== undefined && this.#entries.get(slot.entry.key) !== slot.entry;
    if (isTaken || (slot.isWarming && slot.state === "done")) {
      record.served(slot.isWarming ? 0 : slot.ms, slot.confidence);
      this.#options.tell(slot, "served");
    } else {
      if (slot.state !== "done") record.late(slot.confidence);
      slot.isJoined = slot.state === "running";
      this.#drop(slot);
    }
    return true;
  }

  /** The question is no longer expected. Returns whether it was searched. `isWrong`: the guess counts as a miss. */
  cancel(id: string, isWrong = true): boolean {
    const slot = this.#slots.get(id);
    if (!slot) return false;
    this.#slots.delete(id);
    this.#drop(slot, isWrong);
    return slot.searches > 0;
  }

  /** Something was written to the space, or to any: answers are checked, and searched again if they are outdated. */
  outdated(space?: string): void {
    for (const slot of [...this.#slots.values()]) {
      if (slot.state !== "done" || slot.isWarming || !isAbout(slot, space)) continue;
      if (slot.searches < SEARCHES_MAX && this.#confidenceIn(slot).isWorth) slot.state = "queued";
      else this.cancel(slot.id);
    }
  }

  /** Drops all requests and answers about the space, or all. */
  forget(space?: string): void {
    for (const slot of [...this.#slots.values()]) if (isAbout(slot, space)) this.cancel(slot.id, false);
  }

  /** Runs what is queued, until nothing is or a real question is in progress. */
  run(): void {
    if (this.#isClosed) return;
    for (; this.#running < SEARCHES_AT_ONCE; this.#running++)
      void this.#runAll().finally(() => {
        this.#running--;
      });
  }

  /** Drops everything and searches no more. The result of the search in progress is dropped. */
  close(): void {
    this.#isClosed = true;
    this.forget();
  }

  async #runAll(): Promise<void> {
    await Promise.resolve(); // what is queued in the same task is part of this run
    for (let slot = this.#next(); slot && !this.#isClosed && !this.#options.isBusy(); slot = this.#next()) {
      slot.state = "running";
      const started = performance.now();
      const prefetched = await this.#options.prefetch(slot.place, slot.query).catch(() => UNUSABLE);
      const { outcome } = prefetched;
      slot.state = outcome === "busy" || outcome === "stopped" ? "queued" : "done";
      if (outcome === "busy") return;
      if (outcome === "stopped") continue; // if by a question, the next one is busy
      if (outcome === "known") continue;
      slot.searches++;
      slot.ms = performance.now() - started;
      this.#recordOf(slot).issued();
      this.#found(slot, prefetched.outcome === "ready" ? prefetched.entry : undefined);
    }
  }

  #next(): Slot | undefined {
    let best: Slot | undefined;
    for (const slot of this.#slots.values()) {
      if (slot.state !== "queued") continue;
      if (!best || this.#confidenceIn(slot).share >= this.#confidenceIn(best).share) best = slot;
    }
    return best;
  }

  /** Holds the answer of a search, or counts the search as wasted. */
  #found(slot: Slot, entry: AnswerEntry | undefined): void {
    if (slot.isWarming || slot.isJoined) return;
    this.#release(slot);
    const isWanted = this.#slots.get(slot.id) === slot;
    if (!entry || !isWanted) {
      if (isWanted) this.#slots.delete(slot.id);
      this.#waste(slot);
      return;
    }
    slot.entry = entry;
    this.#entries.set(entry.key, entry);
    this.#options.tell(slot, "ready");
    while (this.#entries.size > this.#options.maxSize || this.bytes > this.#options.maxBytes) {
      const least = this.#leastUseful();
      if (!least) return;
      this.cancel(least.id);
    }
  }

  #leastUseful(): Slot | undefined {
    let least: Slot | undefined;
    for (const slot of this.#slots.values()) {
      if (!slot.entry) continue;
      if (!least || this.#confidenceIn(slot).share < this.#confidenceIn(least).share) least = slot;
    }
    return least;
  }

  /** Counts what a slot holds as wasted. */
  #drop(slot: Slot, isWrong = true): void {
    if (slot.isWarming && slot.searches > 0) this.#waste(slot, isWrong);
    else this.#release(slot, isWrong);
  }

  /** Lets go of a slot's answer, unserved. */
  #release(slot: Slot, isWrong = true): void {
    const { entry } = slot;
    if (!entry) return;
    slot.entry = undefined;
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    this.#waste(slot, isWrong);
  }

  #waste(slot: Slot, isWrong = true): void {
    this.#recordOf(slot).wasted(isWrong, slot.confidence);
    this.#options.tell(slot, "wasted");
  }

  #confidenceIn(request: Request): Confidence {
    return request.confidence ?? this.#recordOf(request).confidence;
  }

  #recordOf({ predictor }: Request): TrackRecord {
    const record = this.#options.records.get(predictor);
    if (!record) throw new Error(`no record of ${predictor}`);
    return record;
  }
}

/** A search that fails is no error: the question, if it comes, fails or succeeds by itself. */
const UNUSABLE: Prefetched = { outcome: "unusable" };

const isAbout = ({ query, place }: Request, space: string | undefined): boolean =>
  space === undefined || [place.space, ...query.question.spaces].some((one) => spaceKey(one) === space);
