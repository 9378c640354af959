/** Waiting for a lock that another connection holds, from JavaScript: no connection waits inside SQLite. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../errors.js";
import { isBusy } from "./driver.js";

/** Repeats `work` while another connection holds the lock, with jitter, until the time is up. */
export async function retryBusy<T>(work: () => T, timeoutMs: number, onRetry?: () => void): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (let wait = 1; ; wait = Math.min(wait * 2, 16)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) {
        throw new HoldfastError("busy", `another process held the store for more than ${timeoutMs} ms`, {
          cause: error,
          hint: "try again; if it lasts, look for a process that keeps a transaction open on the file",
        });
      }
      onRetry?.();
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}
