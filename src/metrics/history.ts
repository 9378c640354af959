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
export interface StatsHistory<Name extends SeriesName = SeriesName> {
  /** The interval of the samples. */
  readonly everyMs: number;
  /** The time of each sample, in epoch milliseconds, ascending. */
  readonly at: readonly number[];
  /** One value per sample. Null: there is none, for instance no latency because nothing was asked in the interval. */
  readonly series: { readonly [name in Name]: readonly (number | null)[] };
}

/** Which samples, and which series of them. */
export interface HistoryQuery<Name extends SeriesName = SeriesName> {
  /** Only samples after this time, in epoch milliseconds. */
  readonly since?: number;
  /** Only this series. */
  readonly series?: Name;
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
  #sampling: Promise<void> | undefined;

  /** Takes the first sample after ten seconds. */
  constructor(memory: Memory) {
    this.#memory = memory;
    this.#watch = memory.service.watchLatencies();
    this.#schedule();
  }

  history<Name extends SeriesName = SeriesName>(query: HistoryQuery<Name> = {}): StatsHistory<Name> {
    const { since = -Infinity, series } = query;
    const names = series === undefined ? SERIES_NAMES : [series];
    const slots: number[] = [];
    for (let number = this.#first; number < this.#count; number++) {
      const slot = number % SAMPLES_MAX;
      if ((this.#at[slot] ?? 0) > since) slots.push(slot);
    }
    const column = (of: number) => slots.map((slot) => shown(this.#values[slot * SERIES_NAMES.length + of]));
    const columns = Object.fromEntries(names.map((name) => [name, column(SERIES_NAMES.indexOf(name))]));
    return {
      everyMs: EVERY_MS,
      at: slots.map((slot) => this.#at[slot] ?? 0),
      series: columns as unknown as StatsHistory<Name>["series"],
    };
  }

  stop(): void {
    this.#cancel();
    this.#watch.end();
  }

  /** There is always one timer. A sample that takes longer than the interval replaces the next one. */
  #schedule(): void {
    this.#cancel = this.#memory.service.clock.after(EVERY_MS, () => {
      this.#schedule();
      this.#sampling ??= this.#sample().finally(() => {
        this.#sampling = undefined;
      });
    });
  }

  async #sample(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === "closed") this.stop();
      else this.#put(undefined); // the store fails: a gap
    }
  }

  async #read(): Promise<void> {
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

/** Few digits for what was measured: they have no more meaning, and take a third of the bytes. Counts keep theirs. */
function shown(value = NaN): number | null {
  if (Number.isNaN(value)) return null;
  return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}
