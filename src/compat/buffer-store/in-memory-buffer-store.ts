/** A BufferStore in memory. It stores payloads as JSON, so that later changes do not affect them. */
import { objectWith } from "../../input/refusal.js";
import {
  type Binding,
  closedError,
  parseBinding,
  parseInjectedId,
  parseLease,
  parseLeases,
  parsePush,
  parseRowids,
} from "./arguments.js";
import {
  type BufferedEntry,
  type BufferStore,
  type BufferStoreOptions,
  INJECTED_IDS_MAX,
  type Lease,
  type LeasedEntry,
  type LeaseOptions,
} from "./buffer-store.js";
import { type Hold, isHeld } from "./hold.js";
import type { WebhookPayload } from "./webhook-payload.js";

interface Kept {
  readonly text: string;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly at: number;
  readonly attempts: number;
  readonly hold?: Hold;
}

const KEYS = new Set(["session", "clock"]);

/** A BufferStore that keeps nothing on disk. */
export class InMemoryBufferStore<Payload = WebhookPayload> implements BufferStore<Payload> {
  readonly #binding: Binding;
  /** By rowid, oldest first. */
  readonly #entries = new Map<number, Kept>();
  /** Oldest first. */
  readonly #injected = new Set<string>();
  #lastRowid = 0;
  #isClosed = false;

  constructor(options: BufferStoreOptions = {}) {
    this.#binding = parseBinding(objectWith(options, KEYS, "options"));
  }

  get session(): string | undefined {
    return this.#binding.session;
  }

  push(payload: Payload, sessionId: string, sessionKey: string): void {
    this.#assertOpen();
    const pushed = parsePush(payload, sessionId, sessionKey, this.#binding.session);
    this.#entries.set(++this.#lastRowid, { ...pushed, at: this.#binding.clock.now(), attempts: 0 });
  }

  getAll(): BufferedEntry<Payload>[] {
    this.#assertOpen();
    return [...this.#entries].map(([rowid, kept]) => read<Payload>(rowid, kept));
  }

  count(): number {
    this.#assertOpen();
    return this.#entries.size;
  }

  clear(): void {
    this.#assertOpen();
    this.#entries.clear();
  }

  deleteByRowids(rowids: readonly number[]): void {
    this.#assertOpen();
    for (const rowid of parseRowids(rowids)) this.#entries.delete(rowid);
  }

  lease(options: LeaseOptions = {}): LeasedEntry<Payload>[] {
    this.#assertOpen();
    const { limit, leaseMs } = parseLease(options);
    const now = this.#binding.clock.now();
    const leased: LeasedEntry<Payload>[] = [];
    for (const [rowid, kept] of this.#entries) {
      if (leased.length === limit) break;
      if (kept.hold && isHeld(kept.hold, now)) continue;
      const hold = { until: now + leaseMs, ms: leaseMs };
      const taken = { ...kept, attempts: kept.attempts + 1, hold };
      this.#entries.set(rowid, taken);
      leased.push({ ...read<Payload>(rowid, taken), fence: taken.attempts, leasedUntil: hold.until });
    }
    return leased;
  }

  acknowledge(leased: readonly Lease[]): number {
    this.#assertOpen();
    const held = parseLeases(leased).filter((lease) => this.#findHeld(lease) && this.#entries.delete(lease.rowid));
    return held.length;
  }

  release(leased: readonly Lease[]): number {
    this.#assertOpen();
    let released = 0;
    for (const lease of parseLeases(leased)) {
      const kept = this.#findHeld(lease);
      if (!kept) continue;
      const { hold: _, ...free } = kept;
      this.#entries.set(lease.rowid, free);
      released++;
    }
    return released;
  }

  hasInjectedId(id: string): boolean {
    this.#assertOpen();
    return this.#injected.has(parseInjectedId(id));
  }

  addInjectedId(id: string): boolean {
    this.#assertOpen();
    const parsed = parseInjectedId(id);
    if (this.#injected.has(parsed)) return false;
    this.#injected.add(parsed);
    const [oldest] = this.#injected;
    if (this.#injected.size > INJECTED_IDS_MAX && oldest !== undefined) this.#injected.delete(oldest);
    return true;
  }

  clearInjectedIds(): void {
    this.#assertOpen();
    this.#injected.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.#entries.clear();
    this.#injected.clear();
  }

  /** The entry, if the lease is its latest and was not released. */
  #findHeld({ rowid, fence }: Lease): Kept | undefined {
    const kept = this.#entries.get(rowid);
    return kept?.hold && kept.attempts === fence ? kept : undefined;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

function read<Payload>(rowid: number, { text, sessionId, sessionKey, at, attempts }: Kept): BufferedEntry<Payload> {
  return { rowid, payload: JSON.parse(text) as Payload, sessionId, sessionKey, at, attempts };
}
