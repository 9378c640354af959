/**
 * Validity: what a long stream asks again and again. Its key may be revoked by now; or cover other spaces than before,
 * because one was renamed or forgotten: then the name that the stream was opened for may be another's.
 */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Caller } from "./caller.js";

export interface Standing {
  readonly clock: Clock;
  /** As it was when the stream was opened. */
  readonly caller: Caller;
  /** Who the caller is by now. Rejects when its key opens nothing any more. */
  readonly confirm: () => Promise<Caller>;
}

const EVERY_MS = 15_000;

/** Passes on what comes, for as long as the caller may have it. Rejects with `unauthorized` or `forbidden`. */
export async function* whileValid<T>(
  things: AsyncIterable<T>,
  { clock, caller, confirm }: Standing,
): AsyncGenerator<T, void, void> {
  let askedAt = clock.passed();
  for await (const thing of things) {
    if (clock.passed() - askedAt >= EVERY_MS) {
      if (!coversTheSame(caller, await confirm())) throw otherSpaces();
      askedAt = clock.passed();
    }
    yield thing;
  }
}

export const coversTheSame = (one: Caller, other: Caller): boolean =>
  JSON.stringify(one.key?.spaces) === JSON.stringify(other.key?.spaces);

const otherSpaces = (): HoldfastError =>
  new HoldfastError("forbidden", "the key covers other spaces than when this began", {
    hint: "a space was renamed or forgotten meanwhile; begin again",
  });
