/**
 * Exponential back-off with jitter: the delay in milliseconds before the next attempt. `attempt` counts failures from
 * 0. The delay is between half and all of `firstMs` · 2^attempt, capped at `maxMs`. Jitter keeps callers from retrying
 * at the same time.
 */
export function backOff(attempt: number, firstMs: number, maxMs: number, random = Math.random): number {
  return Math.min(firstMs * 2 ** attempt, maxMs) * (0.5 + random() / 2);
}
