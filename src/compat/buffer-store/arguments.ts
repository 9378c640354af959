/** Validates the arguments of a BufferStore, for every implementation. */
import { type Clock, systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import { parseIdentity } from "../../input/identity.js";
import { parseInteger } from "../../input/integer.js";
import { copyJson } from "../../input/json.js";
import { IDS_MAX } from "../../input/limits.js";
import { invalid, objectWith, tooLarge, wrongType } from "../../input/refusal.js";
import type { Lease } from "./buffer-store.js";

/** A payload as JSON, in UTF-8. */
const PAYLOAD = {
  bytesMax: 64 * 1024 * 1024,
  tooLargeHint: "push it in parts, or push a reference to it; nothing was written",
  dropUndefined: true,
};
const LEASE_KEYS = new Set(["limit", "leaseMs"]);
const LEASE_LIMIT = { usual: 100, max: 1_000 };
const LEASE_MS = { usual: 60_000, max: 24 * 60 * 60 * 1000 };

/** The session that a store is bound to, and its clock. */
export interface Binding {
  readonly session: string | undefined;
  readonly clock: Clock;
}

export interface Pushed {
  /** The payload as JSON. */
  readonly text: string;
  readonly sessionId: string;
  readonly sessionKey: string;
}

/** Requires an object, as `objectWith` returns. */
export function parseBinding({ session, clock }: { readonly [key: string]: unknown }): Binding {
  return {
    session: session === undefined ? undefined : parseIdentity(session, "options.session"),
    clock: (clock as Clock | undefined) ?? systemClock,
  };
}

export function parsePush(payload: unknown, sessionId: unknown, sessionKey: unknown, bound?: string): Pushed {
  const id = parseIdentity(sessionId, "sessionId");
  if (bound !== undefined && id !== bound) {
    const hint = "push to the store of that session, or to an unbound store; nothing was written";
    throw invalid("sessionId", "is not the session that this store is bound to", hint);
  }
  // Not every engine has session keys, so the key may be empty; it is kept verbatim.
  const key = sessionKey === "" ? "" : parseIdentity(sessionKey, "sessionKey");
  return { text: JSON.stringify(copyJson(payload, "payload", PAYLOAD)), sessionId: id, sessionKey: key };
}

export const parseInjectedId = (id: unknown): string => parseIdentity(id, "id");

export function parseRowids(rowids: unknown): readonly number[] {
  return listOf(rowids, "rowids").map((rowid, at) => parseCount(rowid, `rowids[${at}]`));
}

export function parseLease(options: unknown): { readonly limit: number; readonly leaseMs: number } {
  const { limit = LEASE_LIMIT.usual, leaseMs = LEASE_MS.usual } = objectWith(options, LEASE_KEYS, "options");
  return {
    limit: parseInteger(limit, "options.limit", 1, LEASE_LIMIT.max),
    leaseMs: parseInteger(leaseMs, "options.leaseMs", 1, LEASE_MS.max),
  };
}

/** Entries that `lease` returned, or just their rowid and fence. */
export function parseLeases(leased: unknown): readonly Lease[] {
  return listOf(leased, "leased").map((lease, at) => {
    const where = `leased[${at}]`;
    if (typeof lease !== "object" || lease === null) throw wrongType(where, "an entry from lease()", lease);
    const { rowid, fence } = lease as { readonly [key: string]: unknown };
    if (fence === undefined) throw invalid(where, "has no fence", "pass entries from lease(); getAll() leases nothing");
    return { rowid: parseCount(rowid, `${where}.rowid`), fence: parseCount(fence, `${where}.fence`) };
  });
}

function listOf(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(where, "a list", value);
  if (value.length > IDS_MAX) throw tooLarge(where, `${IDS_MAX} entries`, "split it into several calls");
  return Array.from(value); // holes become undefined, which is refused
}

const parseCount = (value: unknown, where: string): number => parseInteger(value, where, 1, Number.MAX_SAFE_INTEGER);

export function closedError(): HoldfastError {
  return new HoldfastError("closed", "the buffer store is closed", { hint: "open another one" });
}
