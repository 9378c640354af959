/** Idempotency keys: a call with a key is executed once, however often it is made. */
import type { OnceWrite } from "../stores/receipts.js";
import type { SpaceRef } from "../types.js";
import { requestHash } from "./hash.js";

/** The scope of a key: a session, a space, or (neither) the store. */
export interface KeyPlace {
  readonly space?: SpaceRef;
  readonly session?: string | undefined;
}

/** Undefined without a key; the call is then executed each time. Requires that the arguments are parsed. */
export const onceOf = (
  key: string | undefined,
  place: KeyPlace,
  call: string,
  ...given: readonly unknown[]
): OnceWrite | undefined => (key === undefined ? undefined : onceWith(key, place, requestHash(call, given)));

export function onceWith(key: string, { space, session }: KeyPlace, hash: string): OnceWrite {
  return { op: "once", ...(space && { space }), ...(session !== undefined && { session }), key, hash };
}
