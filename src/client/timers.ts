/** Waiting with abort signals, on a clock that tests can replace. */
import { backOff } from "../back-off.js";
import type { Clock } from "../clock.js";

/** The system clock. Unlike the engine's, its timers keep the process alive: a call that waits for a retry is not over. */
export const systemClock: Clock = {
  now: () => Date.now(),
  passed: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

const WAIT_MS = 200;
const WAIT_MS_MAX = 5_000;
const RETRY_AFTER_MS_MAX = 60_000;

/**
 * How long to wait before the next attempt: the server's Retry-After, plus exponential back-off with jitter, so that refused
 * clients do not return all at once. Undefined: too long to keep the caller waiting.
 */
export function waitOf(tries: number, retryAfterMs = 0): number | undefined {
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return undefined;
  return retryAfterMs + backOff(tries, WAIT_MS, WAIT_MS_MAX);
}

/** Resolves after `ms`; rejects with the reason of the first signal that aborts. */
export function pause(clock: Clock, ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = new LinkedAbort(signals);
    const cancel = clock.after(ms, () => {
      abort.release();
      resolve();
    });
    abort.onAbort((reason) => {
      cancel();
      abort.release();
      reject(reason);
    });
  });
}

/** Combines several signals into one that can be released. The first signal to abort counts. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #letGo: (() => void)[] = [];

  constructor(signals: readonly AbortSignal[]) {
    for (const signal of signals) {
      const abort = () => this.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort);
      this.#letGo.push(() => signal.removeEventListener("abort", abort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Calls `task` with the reason, at once if already aborted. */
  onAbort(task: (reason: unknown) => void): void {
    const tell = () => task(this.signal.reason);
    if (this.signal.aborted) tell();
    else this.signal.addEventListener("abort", tell, { once: true });
  }

  /** Removes the listeners, because the signals may outlive this call. */
  release(): void {
    for (const letGo of this.#letGo.splice(0)) letGo();
  }
}
