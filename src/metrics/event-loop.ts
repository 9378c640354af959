/**
 * How late the event loop is, measured all the while. Each reading is about the time since the one before it, so that a
 * bad minute is seen and then over.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** How often it looks. What it finds contains this interval, which is taken off. */
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
