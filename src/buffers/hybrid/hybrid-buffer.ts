/**
 * HybridBuffer: a batch of rounds is chunked and embedded once; its vectors go to the VectorCache, where they are
 * searchable now, and to the RoundQueue, from where they are written in batches.
 *
 * Invariants:
 * - An item leaves cache and queue only when the store has answered for it: readable throughout, embedded once.
 * - Nothing is locked across an await: a flush that hangs delays neither a query nor an add nor the next transfer.
 * - What is in here is bounded: beyond `maxBytes` a transfer waits for the flush.
 */
import type { Clock } from "../../clock.js";
import type { EmbedderDescription } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import { HoldfastError } from "../../errors.js";
import type { Events } from "../../events/events.js";
import type { ChunkStrategy } from "../../retrieval/chunks/strategy.js";
import type { IndexWrite, Lane, PendingItem } from "../../stores/indexing.js";
import type { Store } from "../../stores/store.js";
import { isSameSpace } from "../../stores/vector-space.js";
import type { SpaceRef } from "../../types.js";
import { laneName, spaceName } from "../lane-name.js";
import type { Meter } from "../meter.js";
import type { DueLane } from "../round-buffer.js";
import { chunkPending } from "./chunking.js";
import type { CommitResult, RepeatableCommits } from "./commits.js";
import { type ChunkedItem, embedItems } from "./embedding-run.js";
import { flushGroups } from "./flush-groups.js";
import { HybridNews } from "./hybrid-news.js";
import type { Leases } from "./leases.js";
import { Parking, type SetAside } from "./parking.js";
import { RoundQueue } from "./round-queue.js";
import { type Fate, type Outdated, UnderWay } from "./under-way.js";
import { type CachedItem, VectorCache } from "./vector-cache.js";

/** A transfer reads at most so much at once; the rest stays on disk. */
const BATCH_ITEMS = 256;
const BATCH_BYTES = 1024 * 1024;

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;

/** Why vectors were written. through: the buffers are switched off. */
export const FLUSH_REASONS = ["rounds", "bytes", "idle", "forced", "manual", "close", "through"] as const;
export type FlushReason = (typeof FLUSH_REASONS)[number];

export interface HybridBufferOptions {
  readonly store: Store;
  readonly commits: RepeatableCommits;
  readonly leases: Leases;
  readonly embedder: GuardedEmbedder;
  readonly strategy: ChunkStrategy;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly events?: Events | undefined;
  readonly maxSize: number;
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly forceMs: number;
  /** True while more is being transferred: then leases are kept, because they will be needed again at once. */
  readonly isBusy: () => boolean;
  /** Something of the lane waits again: more came meanwhile, or what was embedded is out of date. */
  readonly onWaiting: (lane: Lane) => void;
  /** What was embedded of a lane cannot be written: it is another process's by now, or has another name. */
  readonly onLost: () => void;
  /** A flush failed; it is repeated by whoever calls `flush` next. */
  readonly onFailure: (error: HoldfastError) => void;
}

export interface HybridBufferStats {
  readonly chunkCount: number;
  readonly itemCount: number;
  readonly roundCount: number;
  readonly bytes: number;
  readonly flushOperations: number;
  readonly flushTriggers: { readonly [reason in FlushReason]: number };
  readonly itemsWritten: number;
  /** Embedded, but edited, forgotten or taken over before they were written. */
  readonly itemsDropped: number;
  readonly itemsParked: number;
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
  readonly #underWay = new UnderWay();
  readonly #news: HybridNews;
  /** Undefined until the embedder is loaded. */
  description: EmbedderDescription | undefined;
  #flushing: Promise<void> | undefined;
  #flushNumber = 0;
  #cancelTimer: (() => void) | undefined;
  /** After a flush that failed: not before this, and longer with each failure. */
  #notBefore = 0;
  #retryMs = RETRY_MS;
  #failedReason: FlushReason | undefined;

  constructor(options: HybridBufferOptions) {
    this.#options = options;
    this.#news = new HybridNews(options.events);
    this.#parking = new Parking(options);
  }

  /** Loads the embedder and makes sure that the store keeps its kind of vectors; `vector_space` if it does not. */
  async ready(): Promise<EmbedderDescription> {
    if (this.description) return this.description;
    const { embedder, store, commits } = this.#options;
    const description = await embedder.describe();
    const { space: vectorSpace } = description;
    const kept = await store.vectorSpace();
    // Mostly it does, and the first question need not wait for a commit.
    if (!kept || !isSameSpace(kept, vectorSpace)) await commits.one<"adopt">({ op: "adopt", vectorSpace });
    this.description = description;
    return description;
  }

  /**
   * Embeds what waits in these lanes, as much as fits a batch; answers with those of which more may wait. Lanes that
   * another process has are left to it.
   */
  async transfer(due: readonly DueLane[], signal: AbortSignal): Promise<readonly Lane[]> {
    const { store, leases, clock, meter, maxBytes } = this.#options;
    const started = clock.passed();
    await this.ready();
    if (this.cache.stats.bytes > maxBytes) await this.flush("bytes");
    const mine = await leases.claim(due.map(({ lane }) => lane));
    if (mine.length === 0) return [];
    const read = await store.pending({
      lanes: mine.map((lane) => ({ lane, after: this.#queue.knownUpTo(lane) })),
      limit: BATCH_ITEMS,
      maxBytes: BATCH_BYTES,
      now: clock.now(),
    });
    const rest = this.#noteRead(mine, read);
    this.#news.begin(due);
    try {
      await this.#embed(read, signal);
    } finally {
      this.#news.end();
    }
    if (read.length > 0) meter.transferred(clock.passed() - started);
    return rest;
  }

  /** Notes how far each lane was read. Answers with those that were not read to their end. */
  #noteRead(lanes: readonly Lane[], read: readonly PendingItem[]): readonly Lane[] {
    const bytes = read.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const last = read.at(-1);
    const isAll = !last || (read.length < BATCH_ITEMS && bytes < BATCH_BYTES);
    const end = isAll ? lanes.length : lanes.findIndex((lane) => laneName(lane) === laneName(last.lane));
    for (const lane of lanes.slice(0, end)) this.#queue.wasRead(lane, Number.POSITIVE_INFINITY);
    if (!isAll) this.#queue.wasRead(last.lane, last.key);
    return lanes.slice(end);
  }

  async #embed(items: readonly PendingItem[], signal: AbortSignal): Promise<void> {
    // A question may be having some of them embedded right now; that is soon done.
    await Promise.allSettled(items.flatMap((item) => this.#underWay.of(item) ?? []));
    const fresh: PendingItem[] = [];
    for (const item of items) {
      const known = this.cache.find(item.lane.space, item.key, item.version);
      if (known) this.#accept(known);
      else fresh.push(item);
    }
    const aside: SetAside[] = [];
    const setAside = (item: PendingItem, error: HoldfastError) => aside.push({ item, error });
    try {
      await this.#underWay.run(fresh, async (lateFor) =>
        embedItems(this.#options.embedder, await this.#chunk(fresh, setAside), {
          signal,
          accept: (item) => {
            const fate = lateFor(item);
            if (fate === undefined) this.#accept(item);
            else if (fate === "again") this.#queue.readAgain(item);
          },
          setAside,
        }),
      );
    } finally {
      if (aside.length > 0) this.#counts.itemsParked += await this.#parking.park(aside);
      this.#arm();
    }
  }

  /** Embeds these items ahead of their batch, because somebody asks. They are kept for the transfer. */
  async embedAhead(items: readonly PendingItem[], signal: AbortSignal): Promise<void> {
    const { embedder, meter, maxBytes } = this.#options;
    if (this.cache.stats.bytes > maxBytes) this.cache.dropRound();
    const setAside = () => {}; // the transfer will meet it again, and park it
    await this.#underWay.run(items, async (lateFor) =>
      embedItems(embedder, await this.#chunk(items, setAside), {
        signal,
        urgent: true,
        accept: (item) => {
          if (lateFor(item) || this.cache.find(item.lane.space, item.key, item.version)) return;
          this.cache.put(item, "round");
          meter.searchable(item);
        },
        setAside,
      }),
    );
  }

  /** Whoever is embedding this item right now. */
  underWay(item: PendingItem): Promise<void> | undefined {
    return this.#underWay.of(item);
  }

  async #chunk(
    items: readonly PendingItem[],
    setAside: (item: PendingItem, error: HoldfastError) => void,
  ): Promise<readonly ChunkedItem[]> {
    if (items.length === 0) return [];
    return chunkPending(this.#options, await this.ready(), items, this.#options.clock.now(), setAside);
  }

  #accept(item: CachedItem): void {
    const { clock, meter } = this.#options;
    if (!this.cache.find(item.lane.space, item.key, item.version)) meter.searchable(item);
    this.#news.accepted(item);
    this.cache.put(item, "hybrid");
    this.#queue.put(item, clock.passed());
    this.#parking.forget(item);
  }

  // Writing.

  /** True when enough has gathered to be written. */
  get isFlushDue(): FlushReason | undefined {
    if (this.#queue.items === 0 || this.#options.clock.passed() < this.#notBefore) return undefined;
    if (this.cache.stats.bytes > this.#options.maxBytes / 2) return "bytes";
    return this.#queue.rounds >= this.#options.maxSize ? "rounds" : undefined;
  }

  /** Writes what is queued. One flush at a time: who comes meanwhile waits for it, then for the one after it. */
  async flush(reason: FlushReason): Promise<void> {
    const next = this.#flushNumber + 1;
    while (this.#flushing) {
      if (this.#flushNumber >= next) return this.#flushing; // it began after this call, so it has all of it
      await this.#flushing.catch(() => undefined); // whoever began it has its error
    }
    if (this.#queue.items === 0) return;
    this.#flushNumber++;
    this.#flushing = this.#flush(reason).then(
      () => this.#ended(undefined, 0),
      (error: unknown) => {
        this.#ended(reason, this.#retryMs * (0.75 + Math.random() / 2));
        throw error;
      },
    );
    await this.#flushing;
  }

  #ended(failed: FlushReason | undefined, waitMs: number): void {
    this.#flushing = undefined;
    this.#failedReason = failed;
    this.#notBefore = this.#options.clock.passed() + waitMs;
    this.#retryMs = waitMs === 0 ? RETRY_MS : Math.min(this.#retryMs * 2, RETRY_MAX_MS);
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
    this.#news.flushed(write.lane, reason, items, written);
    for (const item of items) if (!written.has(item.key)) this.#queue.readAgain(item);
    if (result.released) this.#options.leases.forget(write.lane);
    const isStale = result.written.length < items.length;
    if (isStale || (write.release && !result.released && this.#queue.count(write.lane) === 0)) {
      this.#options.onWaiting(write.lane);
    }
  }

  /** These can no longer be written under this process's lease; whoever has it now embeds them. */
  #drop(items: readonly CachedItem[]): void {
    this.#counts.itemsDropped += items.length;
    this.#remove(items);
    this.#options.onLost();
  }

  #remove(items: readonly CachedItem[]): void {
    this.#queue.remove(items);
    for (const { lane, key, version } of items) this.cache.remove(lane.space, key, version);
  }

  /** Items were edited or forgotten: their vectors leave at once, those on their way too. */
  forget(space: SpaceRef, isOutdated: Outdated, fate: Fate): void {
    const name = spaceName(space);
    this.#underWay.forget((item) => spaceName(item.lane.space) === name && isOutdated(item), fate);
    const dropped = this.cache.drop(space, isOutdated);
    this.#queue.remove(dropped);
    if (fate === "again") for (const item of dropped) this.#queue.readAgain(item);
    this.#counts.itemsDropped += dropped.length;
  }

  /** One timer for both: nothing new for `idleMs`, or something older than `forceMs`. */
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

  /** How many items of the lane wait to be written. */
  queuedIn(lane: Lane): number {
    return this.#queue.count(lane);
  }

  /** Whether something of the lane has to be read again. */
  isBehind(lane: Lane): boolean {
    return this.#queue.isBehind(lane);
  }

  get queuedLanes(): number {
    return this.#queue.lanes;
  }

  isQueued(item: PendingItem): boolean {
    return this.#queue.has(item);
  }

  get stats(): HybridBufferStats {
    const { chunks, items, bytes } = this.cache.stats;
    return {
      chunkCount: chunks,
      itemCount: items,
      roundCount: this.#queue.rounds,
      bytes,
      flushTriggers: { ...this.#flushTriggers },
      ...this.#counts,
    };
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
