/**
 * StatsHistory: what a server measured in the last hours, a sample every ten seconds, in memory. It is gone when the
 * server stops; a Prometheus server keeps more (`Metrics`).
 *
 * A sample costs one call of `stats()`, as a scrape of the metrics does. The ring has a fixed size: at most six hours, and
 * less than 400 kB.
 */
import type { LatencyWatch } from "../buffers/meter.js";
import { HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import { type Reading, SERIES, SERIES_NAMES, type SeriesName } from "./series.js";

const EVERY_MS = 10_000;
const SAMPLES_MAX = 2_160;
const DIGITS = 4;

/** The samples of a server, oldest first, one column per series. */
export interface StatsHistory {
  /** The interval of the samples. */
  readonly everyMs: number;
  /** The time of each sample, in epoch milliseconds, ascending. */
  readonly at: readonly number[];
  /** One value per sample. Null: there is none, for instance no latency because nothing was asked in the interval. */
  readonly series: { readonly [name in SeriesName]: readonly (number | null)[] };
}

export class Sampler {
  readonly #memory: Memory;
  readonly #watch: LatencyWatch;
  readonly #at = new Float64Array(SAMPLES_MAX);
  readonly #values = new Float32Array(SAMPLES_MAX * SERIES_NAMES.length);
  /** Number of samples since the start; the ring holds the newest. */
  #count = 0;
  /** The number of the oldest sample that still counts. */
  #first = 0;
  #before: Reading | undefined;
  #cancel: () => void = () => {};
  #isStopped = false;

  /** Takes the first sample after ten seconds. */
  constructor(memory: Memory) {
    this.#memory = memory;
    this.#watch = memory.service.watchLatencies();
    this.#schedule();
  }

  /** The samples after `since`, in epoch milliseconds; all if it is undefined. */
  history(since = -Infinity): StatsHistory {
    const slots: number[] = [];
    for (let number = this.#first; number < this.#count; number++) {
      const slot = number % SAMPLES_MAX;
      if ((this.#at[slot] ?? 0) > since) slots.push(slot);
    }
    const column = (of: number) => slots.map((slot) => shown(this.#values[slot * SERIES_NAMES.length + of]));
    const columns = Object.fromEntries(SERIES_NAMES.map((name, of) => [name, column(of)]));
    return {
      everyMs: EVERY_MS,
      at: slots.map((slot) => this.#at[slot] ?? 0),
      series: columns as unknown as StatsHistory["series"],
    };
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#watch.end();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#memory.service.clock.after(EVERY_MS, () => {
      this.#sample().then(
        () => this.#schedule(),
        (error: unknown) => {
          if (!(error instanceof HoldfastError)) throw error;
          if (error.code === "closed") return this.stop();
          this.#put(undefined); // the store fails: a gap
          this.#schedule();
        },
      );
    });
  }

  async #sample(): Promise<void> {
    const { clock, store } = this.#memory.service;
    const recent = this.#watch.take();
    const [stats, mirrors] = await Promise.all([this.#memory.stats(), store.mirrors?.()]);
    this.#put({ stats, recent, passed: clock.passed(), ...(mirrors && { mirrors }) });
  }

  #put(reading: Reading | undefined): void {
    const now = this.#memory.service.clock.now();
    // The wall clock was set back: earlier samples would lie in the future.
    if (this.#count > 0 && now <= (this.#at[(this.#count - 1) % SAMPLES_MAX] ?? 0)) this.#first = this.#count;
    const slot = this.#count++ % SAMPLES_MAX;
    this.#first = Math.max(this.#first, this.#count - SAMPLES_MAX);
    this.#at[slot] = now;
    for (const [of, name] of SERIES_NAMES.entries()) {
      this.#values[slot * SERIES_NAMES.length + of] = reading ? SERIES[name](reading, this.#before) : NaN;
    }
    this.#before = reading;
  }
}

/** Few digits: the numbers have no more meaning than that, and a full history takes a third of the bytes. */
const shown = (value = NaN): number | null => (Number.isNaN(value) ? null : Number(value.toPrecision(DIGITS)));
