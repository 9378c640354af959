/** Waiting: under the caller's signals, on a clock that tests can hold in their hands. */
import type { Clock } from "../clock.js";

/** The system's clock. Unlike the engine's its timers keep a process alive: a call that waits to be repeated is not over. */
export const timeOfDay: Clock = {
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
 * How long to wait before the next try: what the server asks for, and a little more that grows and differs, so that all who
 * were turned away do not come back together. Undefined: longer than anyone should be kept waiting.
 */
export function waitOf(tries: number, retryAfterMs = 0): number | undefined {
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return undefined;
  const longest = Math.min(WAIT_MS * 2 ** tries, WAIT_MS_MAX);
  return retryAfterMs + longest * (0.5 + Math.random() / 2);
}

/** Resolves after so long; rejects with the reason of the first signal that aborts. */
export function pause(clock: Clock, ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const guard = new Guard(signals);
    const cancel = clock.after(ms, () => {
      guard.release();
      resolve();
    });
    guard.onAbort((reason) => {
      cancel();
      guard.release();
      reject(reason);
    });
  });
}

/** Several signals as one, of which the first to abort counts, and which can be let go of. */
export class Guard {
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

  /** Calls `task` with the reason, now if it has come to that already. */
  onAbort(task: (reason: unknown) => void): void {
    const tell = () => task(this.signal.reason);
    if (this.signal.aborted) tell();
    else this.signal.addEventListener("abort", tell, { once: true });
  }

  /** The signals are listened to no longer: theirs may live much longer than this call. */
  release(): void {
    for (const letGo of this.#letGo.splice(0)) letGo();
  }
}
