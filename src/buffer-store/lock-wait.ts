/** Waiting for another connection's lock on the caller's thread: the price of a synchronous call, so it is bounded. */
import { HoldfastError } from "../errors.js";
import { isBusy } from "../stores/sqlite/driver.js";

const LONGEST_PAUSE_MS = 16;

/** Repeats `work` while another connection holds the lock, until the time is up. Requires that `work` can be repeated. */
export function waitForLock<T>(work: () => T, timeoutMs: number): T {
  const until = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= until) {
        throw new HoldfastError("busy", `another connection held the buffer for more than ${timeoutMs} ms`, {
          cause: error,
          hint: "try again; if it lasts, look for a process that keeps a transaction open on the file",
        });
      }
      stand(pause * (0.5 + Math.random()));
    }
  }
}

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

/** Stops this thread. */
function stand(ms: number): void {
  Atomics.wait(nobodyWakes, 0, 0, ms);
}
