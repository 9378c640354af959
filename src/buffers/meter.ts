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
  /** From the commit of a message until it is searchable by meaning. */
  readonly meaning: Latency;
}

export class Meter {
  readonly #clock: Clock;
  readonly #add = new Timings();
  readonly #transfer = new Timings();
  readonly #flush = new Timings();
  readonly #query = new Timings();
  readonly #meaning = new Timings();
  #transfers: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  added(ms: number): void {
    this.#add.record(ms);
  }

  transferred(ms: number): void {
    this.#transfer.record(ms);
    this.#transfers.push(this.#clock.passed());
    if (this.#transfers.length > TRANSFERS_KEPT) this.#transfers.shift();
  }

  flushed(ms: number): void {
    this.#flush.record(ms);
  }

  queried(ms: number): void {
    this.#query.record(ms);
  }

  /**
   * Records that the item is now searchable by meaning. Edited items do not count, because their age is not the waiting
   * time.
   */
  searchable({ recordedAt, version }: { readonly recordedAt: number; readonly version: number }): void {
    if (version === 1) this.#meaning.record(Math.max(this.#clock.now() - recordedAt, 0));
  }

  /** Transfers in the last minute. */
  get transferRate(): number {
    const since = this.#clock.passed() - MINUTE_MS;
    this.#transfers = this.#transfers.filter((at) => at > since);
    return this.#transfers.length;
  }

  get transferCount(): number {
    return this.#transfer.count;
  }

  get latencies(): Latencies {
    return {
      add: this.#add.summary,
      transfer: this.#transfer.summary,
      flush: this.#flush.summary,
      query: this.#query.summary,
      meaning: this.#meaning.summary,
    };
  }
}

/** A histogram that records microseconds and reports milliseconds. */
export class Timings {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 2 });
  #count = 0;
  #sum = 0;

  get count(): number {
    return this.#count;
  }

  record(ms: number): void {
    this.#count++;
    this.#sum += ms;
    this.#histogram.record(Math.min(Math.max(Math.round(ms * 1000), 1), 3_600_000_000));
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
