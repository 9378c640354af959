/** Time, injected: the library reads no other clock, so that tests can hold it in their hands. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `task` once after `ms`; the returned function cancels it. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
