/** Waits for another connection's lock on the caller's thread, for a bounded time. */
import { backOff } from "../../back-off.js";
import { HoldfastError } from "../../errors.js";
import { isBusy } from "../../stores/sqlite/file/driver.js";
import { pause } from "../../stores/sqlite/file/pause.js";

const LONGEST_PAUSE_MS = 16;

/** Repeats `work` while another connection holds the lock, until the timeout. Requires that `work` can be repeated. */
export function waitForLock<T>(work: () => T, timeoutMs: number): T {
  const until = performance.now() + timeoutMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= until) {
        throw new HoldfastError("busy", `another connection held the buffer for more than ${timeoutMs} ms`, {
          cause: error,
          hint: "try again; if this persists, look for a process that keeps a transaction open on the file",
        });
      }
      pause(backOff(attempt, 1, LONGEST_PAUSE_MS));
    }
  }
}
