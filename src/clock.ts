/** Clock: injected time. The library reads no other clock, so tests control time. */
export interface Clock {
  /** Epoch milliseconds. Wall-clock time may be set backwards or forwards: use it for records, never for waiting. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary origin, independent of wall-clock time. Use it for ages and deadlines. */
  passed(): number;
  /** Calls `task` once after `ms`; the returned function cancels it. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  passed: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

const FOREVER_MS = 0x7fff_ffff;

/** Keeps the process alive while a caller waits for the work: timers of the clock, such as those between retries, do not. */
export async function keepingAlive<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, FOREVER_MS);
  try {
    return await work;
  } finally {
    clearInterval(alive);
  }
}

/** A time limit shared by several steps. Late work continues, but its result is not awaited. */
export class Deadline {
  readonly #passed: Promise<undefined> | undefined;
  #hasPassed = false;
  #cancel: () => void = () => {};

  /** Without `ms` there is no limit. */
  constructor(clock: Clock, ms?: number) {
    if (ms === undefined) return;
    this.#passed = new Promise((resolve) => {
      this.#cancel = clock.after(ms, () => {
        this.#hasPassed = true;
        resolve(undefined);
      });
    });
  }

  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** The result of `work`, or undefined if it is late. An error after the deadline is dropped. */
  within<T>(work: Promise<T>): Promise<T | undefined> {
    if (!this.#passed) return work;
    work.catch(() => undefined); // a rejection in time reaches the caller through the race; a later one is ignored
    return Promise.race([work, this.#passed]);
  }

  /** Stops the timer. */
  clear(): void {
    this.#cancel();
  }
}

const DEFER_MS = 1;
const DEFERRED_MAX = 64;

/**
 * DeferredTasks: tasks that run after their caller's next step, together. They never hold up the caller, and do not keep
 * the process alive. Of more than `DEFERRED_MAX` tasks, the oldest are dropped: a busy process has no time for them.
 */
export class DeferredTasks {
  readonly #clock: Clock;
  readonly #tasks: (() => void)[] = [];
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(task: () => void): void {
    this.#tasks.push(task);
    if (this.#tasks.length > DEFERRED_MAX) this.#tasks.shift();
    this.#cancel ??= this.#clock.after(DEFER_MS, () => this.run());
  }

  /** Runs the waiting tasks now. */
  run(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const one of this.#tasks.splice(0)) one();
  }

  /** Drops the tasks that have not run. */
  cancel(): void {
    this.#cancel?.();
    this.#tasks.length = 0;
  }
}

/** Waits for work that should end soon, up to a time limit. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const deadline = new Deadline(clock, ms);
  await deadline.within(work);
  deadline.clear();
}
