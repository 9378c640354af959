/** Times of calls and their statistics. */

export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The calls of one run: milliseconds of each, and the total wall time. */
export class Timings {
  readonly calls: number[] = [];
  messages = 0;
  readonly #started = performance.now();
  #totalMs = 0;

  add(ms: number, messages: number): void {
    this.calls.push(ms);
    this.messages += messages;
  }

  end(): void {
    this.#totalMs = performance.now() - this.#started;
  }

  get totalMs(): number {
    return this.#totalMs;
  }

  get perSecond(): number {
    return (this.messages * 1000) / this.#totalMs;
  }

  get msPerMessage(): number {
    return this.#totalMs / this.messages;
  }
}

export function latency(calls: readonly number[]): Latency {
  const sorted = [...calls].sort((a, b) => a - b);
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), p99: at(sorted, 0.99), max: at(sorted, 1) };
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = at(sorted, 0.5);
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[sorted.length / 2 - 1] ?? upper)) / 2;
  return { median, min: at(sorted, 0), max: at(sorted, 1) };
}

/** The value at this quantile of a sorted list. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
