/**
 * The contract of a BufferStore: episodes that wait for their consumer, and the ids that were injected into a prompt.
 * All calls are synchronous; what has returned is done.
 *
 * Invariants:
 * - Entries are in the order of their pushes. A rowid is given once, also after its entry is gone.
 * - Nothing leaves unless somebody says so: `acknowledge`, `deleteByRowids` or `clear`. So entries grow without bound
 *   while nobody does.
 * - A store that is bound to a session sees, counts, leases and removes only that session's entries and injected ids.
 *   One that is not sees the entries of all sessions, and has injected ids of its own.
 * - Of each session, and of the store that is bound to none, the newest 10,000 injected ids are kept.
 */
import type { Clock } from "../clock.js";
import type { WebhookPayload } from "./webhook-payload.js";

export interface BufferStore<Payload = WebhookPayload> {
  /**
   * Keeps a copy of the payload. It must be a JSON value (keys whose value is undefined are left out); what JSON cannot
   * say is refused. As in all content, a lone surrogate and NUL become U+FFFD.
   */
  push(payload: Payload, sessionId: string, sessionKey: string): void;
  /** Oldest first, the leased ones too. */
  getAll(): BufferedEntry<Payload>[];
  count(): number;
  /** Removes all entries, the leased ones too. Injected ids stay. */
  clear(): void;
  /** Removes these entries, whoever has leased them. Those that are not there are passed over. */
  deleteByRowids(rowids: readonly number[]): void;

  /**
   * Takes the oldest entries that nobody has, and hides them from other leases (from nothing else) for `leaseMs`. A
   * consumer that dies loses nothing: the lease ends, and the entries go to the next. So an entry can be handed out
   * twice, and a consumer should know an entry again by its rowid.
   */
  lease(options?: LeaseOptions): LeasedEntry<Payload>[];
  /**
   * The consumer has these safely: they are removed. Passes over those that somebody else has leased since, that were
   * released, or that are gone, and answers how many it removed. A lease that has merely run out still counts: the work
   * is done, and nobody else has begun it.
   */
  acknowledge(leased: readonly Lease[]): number;
  /** Gives these back at once. Answers how many were still this lease's. */
  release(leased: readonly Lease[]): number;

  hasInjectedId(id: string): boolean;
  /** Adding an id again changes nothing, its age neither. */
  addInjectedId(id: string): void;
  clearInjectedIds(): void;

  /** Can be called again. Every other call after it throws `closed`. */
  close(): void;
}

export interface BufferedEntry<Payload = WebhookPayload> {
  readonly rowid: number;
  readonly payload: Payload;
  readonly sessionId: string;
  readonly sessionKey: string;
  /** When it was pushed: epoch milliseconds. */
  readonly at: number;
  /** How often it was leased. */
  readonly attempts: number;
}

/** What tells one lease of an entry from all others. It is plain data, and may be kept or sent elsewhere. */
export interface Lease {
  readonly rowid: number;
  /** The fence: grows with every lease of the entry, so that whoever was overtaken has an old one. */
  readonly fence: number;
}

export interface LeasedEntry<Payload = WebhookPayload> extends BufferedEntry<Payload>, Lease {
  /** Epoch milliseconds: from then on another lease may take it. */
  readonly leasedUntil: number;
}

export interface LeaseOptions {
  /** At most so many: 100 if left out, 1 to 1,000. */
  readonly limit?: number;
  /** 60,000 if left out, at most a day. Longer: a consumer that died is noticed later. Shorter: a slow one is overtaken. */
  readonly leaseMs?: number;
}

export interface BufferStoreOptions {
  /** Binds the store to this session: pushes for others are refused. */
  readonly session?: string;
  /** Dates entries and ends leases; the system's if left out. */
  readonly clock?: Clock;
}

/** Injected ids that are kept of each session; when another comes, the oldest leaves. */
export const INJECTED_IDS_MAX = 10_000;
