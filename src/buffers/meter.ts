/**
 * Meter: latencies and rates, in the seed's terms. It records numbers only, never content.
 *
 * Latencies are kept in histograms of bounded size; rates count the events of the last minute.
 */
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import type { Clock } from "../clock.js";

const MINUTE_MS = 60_000;
/** Upper bound on transfers remembered per minute. The alert threshold is far below it. */
const TRANSFERS_KEPT = 10_000;

/** A summary of latencies, in milliseconds. */
export interface Latency {
  /** Number of samples since the memory was opened. */
  readonly count: number;
  /** The sum of all samples. */
  readonly sum: number;
  /** The median. */
  readonly p50: number;
  /** The 95th percentile. */
  readonly p95: number;
  /** The 99th percentile. */
  readonly p99: number;
  /** The longest. */
  readonly max: number;
}

/** The time that the operations of this process took, in milliseconds. */
export interface Latencies {
  /** From the call to its return, when the messages are durable and searchable by words. */
  readonly add: Latency;
  /** RoundBuffer → HybridBuffer, including embedding. */
  readonly transfer: Latency;
  /** HybridBuffer → store. */
  readonly flush: Latency;
  /** From the question to its hits. */
  readonly query: Latency;
  /** From the call to the assembled context. */
  readonly context: Latency;
  /** From the commit of a message until it is searchable by meaning. */
  readonly meaning: Latency;
}

/** What is measured. cachedQuery: answered without a search · coldQuery: with one, own or shared. */
export const MEASURED = [
  "add",
  "transfer",
  "flush",
  "query",
  "cachedQuery",
  "coldQuery",
  "context",
  "meaning",
] as const;
export type MeasuredName = (typeof MEASURED)[number];

/** Reads latencies of recent times. */
export interface LatencyWatch {
  /** The latencies recorded since the last call, or since the watch began. */
  take(): { readonly [name in MeasuredName]: Latency };
  end(): void;
}

export class Meter {
  readonly #clock: Clock;
  readonly #timings = timings();
  readonly #watches = new Set<AllTimings>();
  #transfers: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  added(ms: number): void {
    this.#record("add", ms);
  }

  transferred(ms: number): void {
    this.#record("transfer", ms);
    this.#transfers.push(this.#clock.passed());
    if (this.#transfers.length > TRANSFERS_KEPT) this.#transfers.shift();
  }

  flushed(ms: number): void {
    this.#record("flush", ms);
  }

  /** `isCold`: the question was answered with a search, own or shared. */
  queried(ms: number, isCold: boolean): void {
    this.#record("query", ms);
    this.#record(isCold ? "coldQuery" : "cachedQuery", ms);
  }

  assembled(ms: number): void {
    this.#record("context", ms);
  }

  /**
   * Records that the item is now searchable by meaning. Edited items do not count, because their age is not the waiting
   * time.
   */
  searchable({ recordedAt, version }: { readonly recordedAt: number; readonly version: number }): void {
    if (version === 1) this.#record("meaning", Math.max(this.#clock.now() - recordedAt, 0));
  }

  #record(name: MeasuredName, ms: number): void {
    this.#timings[name].record(ms);
    for (const watched of this.#watches) watched[name].record(ms);
  }

  /** From now on, records everything a second time, for a reader of recent latencies. */
  watch(): LatencyWatch {
    const watched = timings();
    this.#watches.add(watched);
    return {
      take: () => {
        const recent = summaryOf(watched);
        for (const one of Object.values(watched)) one.reset();
        return recent;
      },
      end: () => void this.#watches.delete(watched),
    };
  }

  /** Transfers in the last minute. */
  get transferRate(): number {
    const since = this.#clock.passed() - MINUTE_MS;
    this.#transfers = this.#transfers.filter((at) => at > since);
    return this.#transfers.length;
  }

  get latencies(): Latencies {
    const { cachedQuery: _, coldQuery: __, ...latencies } = summaryOf(this.#timings);
    return latencies;
  }

  /** The latencies of queries that needed no search, and of those that did. */
  get queries(): { readonly cached: Latency; readonly cold: Latency } {
    const { cachedQuery, coldQuery } = this.#timings;
    return { cached: cachedQuery.summary, cold: coldQuery.summary };
  }
}

type AllTimings = { readonly [name in MeasuredName]: Timings };

const timings = () => Object.fromEntries(MEASURED.map((name) => [name, new Timings()])) as AllTimings;

const summaryOf = (all: AllTimings) =>
  Object.fromEntries(MEASURED.map((name) => [name, all[name].summary])) as { readonly [name in MeasuredName]: Latency };

/** A histogram that records microseconds and reports milliseconds. */
class Timings {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 2 });
  #count = 0;
  #sum = 0;

  record(ms: number): void {
    this.#count++;
    this.#sum += ms;
    this.#histogram.record(Math.min(Math.max(Math.round(ms * 1000), 1), 3_600_000_000));
  }

  reset(): void {
    this.#histogram.reset();
    this.#count = 0;
    this.#sum = 0;
  }

  get summary(): Latency {
    if (this.#count === 0) return { count: 0, sum: 0, p50: 0, p95: 0, p99: 0, max: 0 };
    const at = (percentile: number) => this.#histogram.percentile(percentile) / 1000;
    return {
      count: this.#count,
      sum: this.#sum,
      p50: at(50),
      p95: at(95),
      p99: at(99),
      max: this.#histogram.max / 1000,
    };
  }
}
