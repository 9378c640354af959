/** When an item that could not be embedded is tried again by itself. */
import type { HoldfastError } from "../../errors.js";

const ATTEMPTS_MAX = 5;
const FIRST_MS = 30_000;

/**
 * A text that the model refuses will be refused again: it waits for `replay` or an edit. Any other failure is tried again
 * after half a minute, then after twice as long, and so on; after some attempts it waits too.
 */
export function retryAfter(error: HoldfastError, attempts: number, now: number): number | undefined {
  if (error.code === "text_refused" || attempts >= ATTEMPTS_MAX) return undefined;
  const wait = FIRST_MS * 2 ** (attempts - 1);
  return now + Math.round(wait * (0.75 + Math.random() / 2));
}
