/**
 * HybridBuffer: chunks and embeds each round once, slice by slice. The vectors go to the VectorCache, where they are
 * searchable at once, and to the RoundQueue, from which they are written in batches.
 *
 * Invariants:
 * - An item leaves the cache and the queue only when the store has answered for it. It stays readable throughout and is
 *   embedded once.
 * - No lock is held across an await: a flush that hangs delays no query, no add and no later transfer.
 * - Memory is bounded: beyond `maxBytes`, a transfer waits for the flush.
 */
import { backOff } from "../../back-off.js";
import type { Clock } from "../../clock.js";
import type { EmbedderDescription } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import { HoldfastError } from "../../errors.js";
import { FLUSH_REASONS, type FlushReason } from "../../events/event.js";
import type { Events } from "../../events/events.js";
import type { ChunkStrategy } from "../../retrieval/chunks/strategy.js";
import { spaceKey } from "../../space-key.js";
import type { IndexWrite, Lane, PendingItem } from "../../stores/indexing.js";
import type { Store } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { Meter } from "../meter.js";
import { requireServed } from "../other-model.js";
import type { DueLane } from "../round-buffer.js";
import type { CommitResult, RepeatableCommits } from "./commits.js";
import { EventBatcher } from "./event-batcher.js";
import { flushGroups } from "./flush-groups.js";
import type { Fate, Outdated } from "./in-flight.js";
import type { Leases } from "./leases.js";
import { Parking } from "./parking.js";
import { RoundQueue, roundsOf } from "./round-queue.js";
import { type Transferred, Transfers } from "./transfers.js";
import { bytesOf, type CachedItem, VectorCache } from "./vector-cache.js";

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;

export interface HybridThresholds {
  readonly maxSize: number;
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly forceMs: number;
}

/** What one session has in the HybridBuffer. */
export interface QueuedSession {
  readonly items: number;
  readonly rounds: number;
  readonly chunks: number;
  readonly bytes: number;
  /** When the oldest item was added to the memory. */
  readonly oldestAt: number;
}

export interface HybridBufferOptions extends HybridThresholds {
  readonly store: Store;
  readonly commits: RepeatableCommits;
  readonly leases: Leases;
  readonly embedder: GuardedEmbedder;
  readonly strategy: ChunkStrategy;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly events?: Events | undefined;
  /** True while more is being transferred. Leases are then kept, because they are about to be needed again. */
  readonly isBusy: () => boolean;
  /** Called when items of the lane become pending again: new ones arrived, or embedded ones are outdated. */
  readonly onWaiting: (lane: Lane) => void;
  /**
   * Called when embedded items of a lane cannot be written, because another process holds the lane or it was renamed.
   */
  readonly onLost: () => void;
  /** Called when a flush fails. The next call of `flush` repeats it. */
  readonly onFailure: (error: HoldfastError) => void;
}

export interface HybridBufferStats {
  readonly chunkCount: number;
  readonly itemCount: number;
  readonly roundCount: number;
  readonly bytes: number;
  /** How long the oldest item has waited to be written; absent if none waits. */
  readonly oldestMs?: number;
  /** When vectors are written: the options in force. */
  readonly thresholds: HybridThresholds;
  /** Whether embedding waits until vectors are written. */
  readonly isFull: boolean;
  readonly flushOperations: number;
  readonly flushTriggers: { readonly [reason in FlushReason]: number };
  readonly itemsWritten: number;
  /** Items that were embedded, but edited, forgotten or taken over before they were written. */
  readonly itemsDropped: number;
  readonly itemsParked: number;
  /** Why the last flush failed; absent once another one has succeeded. */
  readonly flushError?: string;
}

export class HybridBuffer {
  readonly #options: HybridBufferOptions;
  readonly cache = new VectorCache();
  readonly #queue = new RoundQueue();
  readonly #flushTriggers = Object.fromEntries(FLUSH_REASONS.map((reason) => [reason, 0])) as {
    [reason in FlushReason]: number;
  };
  readonly #counts = { flushOperations: 0, itemsWritten: 0, itemsDropped: 0, itemsParked: 0 };
  readonly #parking: Parking;
  readonly #transfers: Transfers;
  readonly #batcher: EventBatcher;
  /** Undefined until the embedder is loaded. */
  description: EmbedderDescription | undefined;
  /** Number of items transferred. */
  #accepted = 0;
  #flushing: Promise<void> | undefined;
  #flushNumber = 0;
  #cancelTimer: (() => void) | undefined;
  /** Back-off after a failed flush: no flush before this time. The delay grows with each failure. */
  #notBefore = 0;
  #failures = 0;
  #failedReason: FlushReason | undefined;
  #flushError: string | undefined;

  constructor(options: HybridBufferOptions) {
    this.#options = options;
    this.#batcher = new EventBatcher(options.events);
    this.#parking = new Parking(options);
    this.#transfers = new Transfers({
      ...options,
      cache: this.cache,
      queue: this.#queue,
      accept: (item) => this.#accept(item),
      park: async (aside) => {
        this.#counts.itemsParked += await this.#parking.park(aside);
      },
    });
  }

  /**
   * Loads the embedder. Rejects with `vector_space` if the store holds vectors of another model. Commits nothing,
   * because queries call it too: a store without vectors adopts the vector space of the first vectors written to it.
   */
  async ready(): Promise<EmbedderDescription> {
    if (this.description) return this.description;
    const description = await this.#options.embedder.describe();
    await requireServed(this.#options.store, description.space);
    this.description = description;
    return description;
  }

  /** Embeds a slice of the pending items in these lanes and reports what is left. */
  async transfer(due: readonly DueLane[], signal: AbortSignal): Promise<Transferred> {
    const { clock, meter } = this.#options;
    const [started, accepted] = [clock.passed(), this.#accepted];
    const description = await this.ready();
    if (this.#isFull) await this.flush("bytes");
    const lanes = due.map(({ lane }) => lane);
    this.#batcher.begin(due);
    try {
      return await this.#transfers.transfer(lanes, description, signal);
    } finally {
      this.#batcher.end();
      this.#arm();
      if (this.#accepted > accepted) meter.transferred(clock.passed() - started);
    }
  }

  /** Embeds these items ahead of their batch, for a query. The vectors are kept for the transfer. */
  async embedAhead(items: readonly PendingItem[], signal: AbortSignal): Promise<void> {
    const { meter } = this.#options;
    if (this.#isFull) this.cache.dropRound();
    const accept = (item: CachedItem): void => {
      if (this.cache.find(item.lane.space, item.key, item.version)) return;
      this.cache.put(item, "round");
      meter.searchable(item);
    };
    const description = this.description ?? (await this.ready());
    await this.#transfers.embedAhead(items, description, signal, accept);
  }

  /** The embedding in progress for this item, if any. */
  inFlight(item: PendingItem): Promise<void> | undefined {
    return this.#transfers.inFlight(item);
  }

  /** Drops half-embedded items that are no longer current. */
  async review(): Promise<void> {
    for (const lane of await this.#transfers.review()) this.#options.onWaiting(lane);
  }

  /** From now on, embeds only what can be finished by this time on the monotonic clock. */
  finishBy(passed: number): void {
    this.#transfers.finishBy(passed);
  }

  #accept(item: CachedItem): void {
    const { clock, meter } = this.#options;
    this.#accepted++;
    if (!this.cache.find(item.lane.space, item.key, item.version)) meter.searchable(item);
    this.#batcher.accepted(item);
    this.cache.put(item, "hybrid");
    this.#queue.put(item, clock.passed());
    this.#parking.forget(item);
  }

  // Writing.

  /** The reason to flush now, or undefined if too little is queued. */
  get isFlushDue(): FlushReason | undefined {
    if (this.#queue.items === 0 || this.#options.clock.passed() < this.#notBefore) return undefined;
    if (this.cache.stats.bytes > this.#options.maxBytes / 2) return "bytes";
    return this.#queue.rounds >= this.#options.maxSize ? "rounds" : undefined;
  }

  /**
   * Writes the queued items. One flush runs at a time; a call made during a flush waits for it and then for the next
   * one.
   */
  async flush(reason: FlushReason): Promise<void> {
    const next = this.#flushNumber + 1;
    while (this.#flushing) {
      if (this.#flushNumber >= next) return this.#flushing; // it started after this call, so it covers everything
      await this.#flushing.catch(() => undefined); // the caller that started it gets its error
    }
    if (this.#queue.items === 0) return;
    this.#flushNumber++;
    this.#flushing = this.#flush(reason).then(
      () => {
        this.#flushError = undefined;
        this.#ended(undefined, 0);
      },
      (error: unknown) => {
        this.#flushError = error instanceof Error ? error.message : String(error);
        this.#ended(reason, backOff(this.#failures, RETRY_MS, RETRY_MAX_MS));
        throw error;
      },
    );
    await this.#flushing;
  }

  #ended(failed: FlushReason | undefined, waitMs: number): void {
    this.#flushing = undefined;
    this.#failedReason = failed;
    this.#notBefore = this.#options.clock.passed() + waitMs;
    this.#failures = failed === undefined ? 0 : this.#failures + 1;
    this.#arm();
  }

  get isFlushing(): boolean {
    return this.#flushing !== undefined;
  }

  async #flush(reason: FlushReason): Promise<void> {
    const { commits, leases, clock, meter } = this.#options;
    const { space } = await this.ready();
    const started = clock.passed();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const queued = this.#queue.snapshot(started);
    for (const { lane, items } of queued) if (leases.fenceOf(lane) === undefined) this.#drop(items);
    for (const group of flushGroups(queued, leases, space, !this.#options.isBusy())) {
      const results = await commits.commit(group.map(({ write }) => write));
      for (const [at, { write, items }] of group.entries()) this.#settle(write, items, results[at], reason);
    }
    this.#counts.flushOperations++;
    this.#flushTriggers[reason]++;
    meter.flushed(clock.passed() - started);
  }

  #settle(
    write: IndexWrite,
    items: readonly CachedItem[],
    result: CommitResult | undefined,
    reason: FlushReason,
  ): void {
    if (result instanceof HoldfastError) throw result;
    if (result?.op !== "index") throw new HoldfastError("store_failed", "the store gave no answer for this write");
    if (result.fenced) {
      this.#options.leases.forget(write.lane);
      this.#drop(items);
      return;
    }
    this.#counts.itemsWritten += result.written.length;
    this.#counts.itemsDropped += items.length - result.written.length;
    this.#remove(items);
    const written = new Set(result.written);
    this.#batcher.flushed(write.lane, reason, items, written);
    for (const item of items) if (!written.has(item.key)) this.#queue.readAgain(item);
    if (result.released) this.#options.leases.forget(write.lane);
    const isStale = result.written.length < items.length;
    if (isStale || (write.release && !result.released && this.queuedIn(write.lane) === 0)) {
      this.#options.onWaiting(write.lane);
    }
  }

  /** Drops items that can no longer be written under this process's lease. The current lease holder embeds them. */
  #drop(items: readonly CachedItem[]): void {
    this.#counts.itemsDropped += items.length;
    this.#remove(items);
    this.#options.onLost();
  }

  #remove(items: readonly CachedItem[]): void {
    this.#queue.remove(items);
    for (const { lane, key, version } of items) this.cache.remove(lane.space, key, version);
  }

  /** Drops the vectors of edited or forgotten items at once, including those still being embedded. */
  forget(space: SpaceRef, isOutdated: Outdated, fate: Fate): void {
    const name = spaceKey(space);
    this.#transfers.forget((item) => spaceKey(item.lane.space) === name && isOutdated(item), fate);
    const dropped = this.cache.drop(space, isOutdated);
    this.#queue.remove(dropped);
    if (fate === "again") for (const item of dropped) this.#queue.readAgain(item);
    this.#counts.itemsDropped += dropped.length;
  }

  /** Sets one timer for both conditions: nothing new for `idleMs`, or an item older than `forceMs`. */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const times = this.#queue.times;
    if (!times || this.#flushing) return;
    const { clock, idleMs, forceMs } = this.#options;
    const [idle, forced] = [times.newest + idleMs, times.oldest + forceMs];
    const reason = this.#failedReason ?? (forced < idle ? "forced" : "idle");
    const at = this.#failedReason ? this.#notBefore : Math.min(idle, forced);
    this.#cancelTimer = clock.after(Math.max(at - clock.passed(), 0), () => {
      this.flush(reason).catch((error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error;
        this.#options.onFailure(error);
      });
    });
  }

  /** Number of the lane's items held here: partly embedded, or waiting to be written. */
  queuedIn(lane: Lane): number {
    return this.#queue.count(lane) + this.#transfers.count(lane);
  }

  /** Whether some of the lane's items must be read again. */
  isBehind(lane: Lane): boolean {
    return this.#queue.isBehind(lane);
  }

  get #isFull(): boolean {
    return this.cache.stats.bytes > this.#options.maxBytes;
  }

  get queuedLanes(): number {
    return this.#queue.lanes;
  }

  isQueued(item: PendingItem): boolean {
    return this.#queue.has(item) || this.#transfers.isUnfinished(item);
  }

  get stats(): HybridBufferStats {
    const { chunks, items, bytes } = this.cache.stats;
    const { clock, maxSize, maxBytes, idleMs, forceMs } = this.#options;
    const oldest = this.#queue.times?.oldest;
    return {
      chunkCount: chunks,
      itemCount: items,
      roundCount: this.#queue.rounds,
      bytes,
      ...(oldest !== undefined && { oldestMs: clock.passed() - oldest }),
      thresholds: { maxSize, maxBytes, idleMs, forceMs },
      isFull: this.#isFull,
      flushTriggers: { ...this.#flushTriggers },
      ...this.#counts,
      ...(this.#flushError !== undefined && { flushError: this.#flushError }),
    };
  }

  /** The sessions with items that wait to be written. */
  get sessions(): readonly (readonly [Lane, QueuedSession])[] {
    return this.#queue.all.map(({ lane, items }) => [
      lane,
      {
        items: items.length,
        rounds: roundsOf(items),
        chunks: items.reduce((sum, { spans }) => sum + spans.length, 0),
        bytes: items.reduce((sum, item) => sum + bytesOf(item), 0),
        oldestAt: items.reduce((oldest, { recordedAt }) => Math.min(oldest, recordedAt), Infinity),
      },
    ]);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
