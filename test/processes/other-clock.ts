/** A clock that shows another time of day than the system's, or runs faster. */
import type { Clock } from "holdfast";

export interface OtherTime {
  /** Added to the time of day. */
  readonly shiftMs?: number;
  /** How many times as fast time passes. */
  readonly speed?: number;
}

export class OtherClock implements Clock {
  /** May be set at any time, as the time of day of a computer may. */
  shiftMs: number;
  readonly #speed: number;
  readonly #since = Date.now();
  readonly #started = performance.now();

  constructor({ shiftMs = 0, speed = 1 }: OtherTime = {}) {
    this.shiftMs = shiftMs;
    this.#speed = speed;
  }

  now(): number {
    return Math.round(this.#since + this.passed() + this.shiftMs);
  }

  passed(): number {
    return (performance.now() - this.#started) * this.#speed;
  }

  after(ms: number, task: () => void): () => void {
    const timer = setTimeout(task, ms / this.#speed);
    timer.unref();
    return () => clearTimeout(timer);
  }
}
