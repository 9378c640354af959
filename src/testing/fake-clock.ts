/**
 * A clock controlled by a test. Like a computer, it has two times: the time of day, which may be set, and the elapsed
 * time, which only grows. Timers follow the elapsed time: setting the time of day neither fires nor delays them.
 */
import type { Clock } from "../clock.js";

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #passed = 0;
  /** Sorted by due time; equal ones in order of creation. */
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

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.length;
  }

  /**
   * Lets time pass. Each task that becomes due runs at its own time, including tasks started by other tasks meanwhile.
   * Promise callbacks of a task run after the caller's next await.
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
