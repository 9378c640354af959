/** Time, injected: the library reads no other clock, so that tests can hold it in their hands. */
export interface Clock {
  /** Epoch milliseconds: the time of day, which may be set back or forth. For records, never for waiting. */
  now(): number;
  /** Milliseconds since some moment; only grows, whatever happens to the time of day. For ages and deadlines. */
  passed(): number;
  /** Calls `task` once after `ms`; the returned function cancels it. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  passed: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
