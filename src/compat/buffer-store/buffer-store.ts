/**
 * The contract of a BufferStore: episodes that wait for their consumer, and ids that were injected into a prompt. All calls
 * are synchronous.
 *
 * Invariants:
 * - Entries are in the order of their pushes. A rowid is never reused.
 * - Entries are removed only by `acknowledge`, `deleteByRowids` or `clear`. Without these calls, they grow without bound.
 * - A store that is bound to a session sees, counts, leases and removes only that session's entries and injected ids. An
 *   unbound store sees the entries of all sessions, and has its own injected ids.
 * - The newest 10,000 injected ids are kept per session, and for the unbound store.
 */
import type { Clock } from "../../clock.js";
import type { WebhookPayload } from "./webhook-payload.js";

/** A durable queue of episodes, and a set of ids that were injected into a prompt. */
export interface BufferStore<Payload = WebhookPayload> {
  /** The session that it is bound to, if any. */
  readonly session: string | undefined;

  /**
   * Stores a copy of the payload. It must be a JSON value (keys with the value undefined are omitted); anything JSON cannot
   * represent is refused. As in all content, lone surrogates and NUL become U+FFFD.
   */
  push(payload: Payload, sessionId: string, sessionKey: string): void;
  /** Oldest first, including leased entries. */
  getAll(): BufferedEntry<Payload>[];
  /** Number of entries, including leased ones. */
  count(): number;
  /** Removes all entries, including leased ones. Injected ids are kept. */
  clear(): void;
  /** Removes these entries, even if they are leased. Missing ones are ignored. */
  deleteByRowids(rowids: readonly number[]): void;

  /**
   * Takes the oldest entries that are not leased, and hides them from other leases (but from nothing else) for `leaseMs`. If a
   * consumer dies, its lease ends and the entries go to the next one. So an entry can be delivered twice, and a consumer
   * should deduplicate by rowid.
   */
  lease(options?: LeaseOptions): LeasedEntry<Payload>[];
  /**
   * Removes entries that the consumer has processed. Ignores those that were leased again, released or removed since, and
   * returns how many it removed. An expired lease still counts: the work is done, and no one else has started it.
   */
  acknowledge(leased: readonly Lease[]): number;
  /** Releases these at once. Returns how many still belonged to this lease. */
  release(leased: readonly Lease[]): number;

  /** Whether the id was added and is still kept. */
  hasInjectedId(id: string): boolean;
  /**
   * Returns whether the id is new: of several callers, in whatever process, one gets true. Adding an id again changes nothing,
   * not even its age.
   */
  addInjectedId(id: string): boolean;
  /** Removes all injected ids. */
  clearInjectedIds(): void;

  /** Idempotent. Every other call after it throws `closed`. */
  close(): void;
}

/** An entry that waits for its consumer. */
export interface BufferedEntry<Payload = WebhookPayload> {
  /** Identifies the entry in its store; never used again. */
  readonly rowid: number;
  /** The value that was pushed. */
  readonly payload: Payload;
  /** The session for which it was pushed. */
  readonly sessionId: string;
  /** The key of that session, as its pusher named it. */
  readonly sessionKey: string;
  /** When it was pushed: epoch milliseconds. */
  readonly at: number;
  /** Number of leases so far. */
  readonly attempts: number;
}

/** Identifies one lease of an entry. It is plain data and can be stored or sent. */
export interface Lease {
  /** The entry that is leased. */
  readonly rowid: number;
  /** The fencing token: it grows with every lease of the entry, so an expired holder has an old one. */
  readonly fence: number;
}

/** An entry that this consumer has leased. */
export interface LeasedEntry<Payload = WebhookPayload> extends BufferedEntry<Payload>, Lease {
  /** Epoch milliseconds. From then on the entry can be leased again. */
  readonly leasedUntil: number;
}

/** How much to lease, and for how long. */
export interface LeaseOptions {
  /** Maximum number of entries, 1 to 1,000. Default: 100. */
  readonly limit?: number;
  /** Default: 60,000; at most a day. Longer: a dead consumer is noticed later. Shorter: a slow one is overtaken. */
  readonly leaseMs?: number;
}

/** The options of a BufferStore. */
export interface BufferStoreOptions {
  /** Binds the store to this session: pushes for others are refused. */
  readonly session?: string;
  /** Dates entries and ends leases. Default: the system clock. */
  readonly clock?: Clock;
}

/** Injected ids kept per session; the oldest is evicted. */
export const INJECTED_IDS_MAX = 10_000;
