/**
 * Continuous measurement of the event loop delay. Each reading covers the time since the previous one, so a slow minute shows
 * up once.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** Sampling interval. Measured delays include it, so it is subtracted. */
const RESOLUTION_MS = 10;

/** Seconds. */
export interface Delay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class EventLoop {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  read(): Delay {
    const histogram = this.#histogram;
    const late = (nanoseconds: number) => Math.max(nanoseconds / 1e9 - RESOLUTION_MS / 1000, 0);
    const delay = {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      max: late(histogram.count === 0 ? 0 : histogram.max),
    };
    histogram.reset();
    return delay;
  }

  stop(): void {
    this.#histogram.disable();
  }
}
