/**
 * A clock in the hands of a test. It knows two times, as a computer does: the time of day, which may be set, and the time
 * that has passed, which only grows. Timers follow the second: setting the time of day fires none and delays none.
 */
import type { Clock } from "../clock.js";

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #passed = 0;
  /** By due time; equal ones in the order they were started. */
  #timers: readonly Timer[] = [];

  constructor(now: number = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  passed(): number {
    return this.#passed;
  }

  after(ms: number, task: () => void): () => void {
    const timer: Timer = { due: this.#passed + Math.max(ms, 0), task };
    this.#timers = [...this.#timers, timer].sort((a, b) => a.due - b.due);
    return () => this.#remove(timer);
  }

  /** Timers that are still waiting. */
  get pending(): number {
    return this.#timers.length;
  }

  /**
   * Lets time pass. Each task that becomes due runs at its own time, also one that another task has started on the way.
   * What a task leaves to promises happens after the caller's next await.
   */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`time does not pass by ${ms} ms; use set() to turn the clock back`);
    const until = this.#passed + ms;
    for (let timer = this.#timers[0]; timer && timer.due <= until; timer = this.#timers[0]) {
      this.#pass(timer.due - this.#passed);
      this.#remove(timer);
      timer.task();
    }
    this.#pass(until - this.#passed);
  }

  /** Sets the time of day, forwards or backwards, as a correction of the system's clock does. */
  set(now: number): void {
    this.#now = now;
  }

  #pass(ms: number): void {
    this.#now += ms;
    this.#passed += ms;
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }
}
