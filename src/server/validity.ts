/**
 * Authorization of long streams, checked again at intervals. By then a key may be revoked, or cover other spaces because one
 * was renamed or forgotten; the name that the stream was opened for may belong to someone else.
 */

import type { Caller } from "../calls/caller.js";
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";

export interface StreamCaller {
  readonly clock: Clock;
  /** The caller when the stream was opened. */
  readonly caller: Caller;
  /** Authenticates the caller again. Rejects when its key is no longer valid. */
  readonly confirm: () => Promise<Caller>;
}

/** How often a stream's key is checked again. Also the interval of heartbeats. */
export const RECHECK_MS = 15_000;

/** Yields items while the caller is authorized. Rejects with `unauthorized` or `forbidden`. */
export async function* whileAuthorized<T>(
  things: AsyncIterable<T>,
  { clock, caller, confirm }: StreamCaller,
): AsyncGenerator<T, void, void> {
  let checkedAt = clock.passed();
  for await (const thing of things) {
    if (clock.passed() - checkedAt >= RECHECK_MS) {
      if (!coversSameSpaces(caller, await confirm())) throw otherSpaces();
      checkedAt = clock.passed();
    }
    yield thing;
  }
}

/**
 * Checks the caller at intervals, for streams that may be silent: calls `onValid` each time, and `end` once the caller is no
 * longer authorized. The returned function stops it.
 */
export function recheck(
  { clock, caller, confirm }: StreamCaller,
  end: () => void,
  onValid: () => void = () => {},
): () => void {
  let isOver = false;
  let cancel = (): void => {};
  const schedule = (): void => {
    cancel = clock.after(RECHECK_MS, () => {
      confirm().then((now) => {
        if (isOver) return;
        if (!coversSameSpaces(caller, now)) return end();
        onValid();
        schedule();
      }, end);
    });
  };
  schedule();
  return () => {
    isOver = true;
    cancel();
  };
}

const coversSameSpaces = (one: Caller, other: Caller): boolean =>
  JSON.stringify(one.key?.spaces) === JSON.stringify(other.key?.spaces);

const otherSpaces = (): HoldfastError =>
  new HoldfastError("forbidden", "the spaces that this key covers have changed", {
    hint: "a space was renamed or forgotten in the meantime; start over",
  });
