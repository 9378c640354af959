/**
 * Pipeline: steps 3 to 6 of the write path, in the background after every add.
 *
 *   RoundBuffer (what is due) → HybridBuffer (embed once) → flush (vectors into the store) → outbox (external index)
 *
 * The pipeline may fail or stop at any point. The item table is the journal, so the next process resumes from it. Only
 * one run is active at a time. It processes the due lanes in slices and ends when none are left.
 */
import { backOff } from "../back-off.js";
import { within } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { FlushReason, TransferReason } from "../events/event.js";
import { chunkStrategy } from "../retrieval/chunks/strategy.js";
import { laneKey } from "../space-key.js";
import type { Lane } from "../stores/indexing.js";
import type { SpaceRef } from "../types.js";
import { RepeatableCommits } from "./hybrid/commits.js";
import { HybridBuffer } from "./hybrid/hybrid-buffer.js";
import { Leases } from "./hybrid/leases.js";
import { newOwner } from "./hybrid/owner.js";
import type { Transferred } from "./hybrid/transfers.js";
import { isBorrower } from "./hybrid/vector-cache.js";
import { explained, requireServed } from "./other-model.js";
import type { PipelineOptions, PipelineStats } from "./pipeline-options.js";
import { type DueLane, type Gathered, RoundBuffer } from "./round-buffer.js";
import { Waiter } from "./waiter.js";

/** Sessions transferred per slice, and sessions read from disk per scan. */
const LANES_AT_ONCE = 256;
const LANES_FOUND = 1_024;
/**
 * Upper bound on leases kept after their items are written. A lease is kept because its session may receive more items;
 * beyond this bound (a long backlog of small sessions), idle leases are released.
 */
const LEASES_KEPT_MAX = 1_024;
/** Rows of one session that are read to check whether a threshold is exceeded. */
const GATHERED_ITEMS = 256;
const GATHERED_BYTES = 1024 * 1024;
/** Back-off after a store failure: one second, doubling up to half a minute. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** How long cancelled work may take to stop. */
const GRACE_MS = 1_000;
/**
 * Upper bound on the interval between scans for items left by other processes. A dead process is detected within it,
 * even if leases last longer.
 */
const POLL_MAX_MS = 5_000;
/** Upper bound on passes in which a flush looks for items edited while it was writing. */
const PASSES_MAX = 3;
/** How often parked items are checked for a due retry. */
const REPLAY_MS = 30_000;

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly rounds: RoundBuffer;
  readonly #abort = new AbortController();
  readonly commits: RepeatableCommits;
  readonly leases: Leases;
  readonly hybrid: HybridBuffer;
  #running: Promise<void> | undefined;
  readonly #waiters = new Set<Waiter>();
  #scanDue = true;
  #releaseDue = false;
  #stopped = false;
  #failures = 0;
  #retrying: string | undefined;
  #retry: (() => void) | undefined;
  #cancelPoll: (() => void) | undefined;
  #replayAt = 0;
  /** If set, why nothing is embedded until the memory is reopened. */
  fault: HoldfastError | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { store, clock, meter, embedder, roundBuffer, hybridBuffer, events } = options;
    this.commits = new RepeatableCommits(store, clock, events);
    const owner = newOwner(clock.now());
    this.leases = new Leases({ commits: this.commits, clock, owner, leaseMs: hybridBuffer.leaseMs });
    this.rounds = new RoundBuffer({
      clock,
      ...roundBuffer,
      gathered: (lane) => this.#gathered(lane),
      countTokens: options.countTokens,
      onDue: () => this.#wake(),
    });
    this.hybrid = new HybridBuffer({
      store,
      clock,
      meter,
      embedder,
      events,
      commits: this.commits,
      leases: this.leases,
      ...hybridBuffer,
      strategy: chunkStrategy(hybridBuffer.chunkStrategy),
      isBusy: () => this.#running !== undefined && this.leases.count < LEASES_KEPT_MAX,
      onWaiting: (lane) => this.rounds.found(lane, "eager"),
      onLost: () => this.rescan(),
      onFailure: (error) => this.#failed(error),
    });
  }

  /** Resumes items left by earlier processes, newest first, and starts polling for items that other processes leave. */
  start(): void {
    this.#poll();
    this.#wake();
  }

  /** Records rounds committed to this lane. Resolves at once, unless the buffers are turned off. */
  async added(lane: Lane, rounds: number): Promise<void> {
    if (this.#options.enabled) this.rounds.added(lane, rounds);
    else await this.drain([lane], "through");
  }

  /**
   * Records edited items of the space. Their embeddings are outdated, and so are those of items in these lanes that
   * borrowed text from them; both become pending again. Resolves like `added`.
   */
  async edited(space: SpaceRef, ids: readonly string[], lanes: readonly Lane[]): Promise<void> {
    const edited = new Set(ids);
    this.hybrid.forget(space, (item) => edited.has(item.id) || isBorrower(item, lanes), "again");
    for (const lane of lanes) await this.added(lane, 1);
  }

  /**
   * Records deleted items of the space. Items in these lanes that borrowed text from them become pending again.
   * Resolves like `added`.
   */
  async deleted(space: SpaceRef, ids: readonly string[], lanes: readonly Lane[]): Promise<void> {
    const deleted = new Set(ids);
    this.hybrid.forget(space, (item) => deleted.has(item.id), "gone");
    if (this.#options.hybridBuffer.chunkStrategy === "message") return; // this strategy borrows no text
    this.hybrid.forget(space, (item) => isBorrower(item, lanes), "again");
    for (const lane of lanes) await this.added(lane, 1);
  }

  /** Records that the space, or one session of it, was forgotten. */
  forgotten(space: SpaceRef, session?: string): void {
    this.hybrid.forget(space, (item) => session === undefined || item.lane.session === session, "gone");
  }

  /**
   * Transfers and writes everything that waits in these lanes, or in all lanes, before it resolves. `stats` reports
   * failures.
   */
  async drain(lanes: readonly Lane[] | undefined, reason: TransferReason & FlushReason): Promise<void> {
    for (let pass = 1; ; pass++) {
      const wanted = lanes ?? [...this.rounds.lanes, ...(await this.#scan(reason))];
      await this.transferAll(wanted, reason);
      await this.flush(reason);
      const isMore = lanes === undefined && this.#scanDue;
      // Items were edited after they were embedded. Bounded, so that constant edits cannot block this.
      const isBehind = pass < PASSES_MAX && wanted.some((lane) => this.hybrid.isBehind(lane));
      if (!this.#isAble || !(isMore || isBehind)) return;
    }
  }

  /** Resolves when each of these lanes has been transferred, or when nothing can be embedded. */
  async transferAll(lanes: readonly Lane[], reason: TransferReason): Promise<void> {
    const waiter = new Waiter(lanes.map(laneKey));
    this.#waiters.add(waiter);
    for (const lane of lanes) this.rounds.force(lane, reason);
    this.#wake();
    for (const lane of lanes) {
      const name = laneKey(lane);
      if (!this.rounds.has(lane)) waiter.transferred(name); // the round buffer had no space for it
    }
    if (!this.#running) waiter.giveUp();
    await waiter.ended;
    this.#waiters.delete(waiter);
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.hybrid.isFlushing;
  }

  get #isAble(): boolean {
    return !this.#stopped && !this.#retry && !this.fault;
  }

  /** The items of the session that are pending, and neither transferred nor parked. */
  async #gathered(lane: Lane): Promise<Gathered> {
    const request = { lanes: [{ lane }], limit: GATHERED_ITEMS, maxBytes: GATHERED_BYTES };
    const pending = await this.#options.store.pending({ ...request, now: this.#options.clock.now() });
    const items = pending.items.filter((item) => !this.hybrid.isQueued(item));
    const rounds = new Set(items.map(({ round, key }) => round ?? -key)).size;
    return { rounds, texts: items.map(({ content }) => content) };
  }

  #wake(): void {
    if (this.#running || !this.#isAble) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.rounds.takeOverflow()) this.#scanDue = true;
      if (this.rounds.isDue)
        this.#wake(); // became due while the run was ending
      else if (this.#releaseDue) void this.#releaseIdle();
      if (!this.#running) for (const waiter of this.#waiters) waiter.giveUp();
      this.#options.onRest?.();
    });
  }

  async #run(): Promise<void> {
    try {
      // Yield to the event loop once, so that all adds of the same commit join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      for (let due = await this.#next(); due.length > 0 && !this.#stopped && !this.fault; due = await this.#next()) {
        await this.#transfer(due);
        this.#flushIfDue(); // not awaited: the next batch is embedded in the meantime
        if (this.leases.count > 2 * LEASES_KEPT_MAX) await this.#releaseIdle();
      }
      this.#failures = 0;
      this.#retrying = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Flushes if a flush is due, and again if another becomes due meanwhile. */
  #flushIfDue(): void {
    const reason = this.hybrid.isFlushDue;
    if (reason && !this.hybrid.isFlushing && !this.#stopped) void this.flush(reason).then(() => this.#flushIfDue());
  }

  async #next(): Promise<readonly DueLane[]> {
    const due = this.rounds.take(LANES_AT_ONCE);
    if (due.length > 0 || !this.#scanDue) return due;
    await this.requireServed();
    await this.#replay();
    await this.#scan(undefined);
    return this.rounds.take(LANES_AT_ONCE);
  }

  async #transfer(due: readonly DueLane[]): Promise<void> {
    const waiters = [...this.#waiters]; // a later waiter may need more than this transfer reads
    let left: Transferred = { rest: due.map(({ lane }) => lane), begun: [] };
    try {
      left = await this.hybrid.transfer(due, this.#abort.signal);
    } finally {
      this.rounds.settle(due, left.rest, left.begun);
    }
    const rest = new Set(left.rest.map(laneKey));
    for (const { lane } of due) {
      const name = laneKey(lane);
      if (!rest.has(name)) for (const waiter of waiters) waiter.transferred(name);
    }
  }

  /** Finds sessions with pending items on disk. Sessions leased by a live process are skipped. */
  async #scan(reason: TransferReason | undefined): Promise<readonly Lane[]> {
    const { store, clock } = this.#options;
    this.#scanDue = false;
    const limit = LANES_FOUND + this.hybrid.queuedLanes; // those are still pending and must not displace the rest
    const waiting = await store.waiting(this.leases.owner.id, limit, clock.now());
    const free = waiting.flatMap(({ lane, items, holder }) => {
      const isDone = this.hybrid.queuedIn(lane) >= items; // all of it is embedded and waits to be written
      return isDone || (holder && !this.leases.isSilent(holder)) ? [] : [lane];
    });
    if (waiting.length === limit && free.length > 0) this.#scanDue = true;
    if (reason === undefined) for (const lane of [...free].reverse()) this.rounds.found(lane, "recovery");
    return free;
  }

  /** Makes parked items pending again when their retry is due. */
  async #replay(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.passed() < this.#replayAt) return;
    this.#replayAt = clock.passed() + REPLAY_MS;
    if ((await store.indexingStats()).parked === 0) return;
    for (let remaining = true; remaining; ) {
      ({ remaining } = await this.commits.one<"replay">({ op: "replay", which: { due: true } }));
    }
  }

  /** Writes what is embedded. A flush that fails is repeated later. */
  async flush(reason: FlushReason): Promise<void> {
    try {
      await this.hybrid.flush(reason);
      this.#options.onFlushed();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Handles a failure of the embedder or the store. Nothing is lost; the work is retried when it may succeed. */
  #failed(error: unknown): void {
    if (this.#stopped || (error as Error)?.name === "AbortError") return;
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === "vector_space" || error.code === "closed" || error.code === "config") {
      this.fault ??= explained(error);
      // Leave pending items to processes that can embed them. If the store fails too, the leases expire.
      if (error.code === "vector_space") this.leases.releaseIdle(() => false).catch(() => undefined);
      return;
    }
    if (this.#retry) return;
    if (error.code === "embedder_failed") {
      const again = () => {
        this.#retry = undefined;
        this.#wake();
      };
      this.#retry = () => {};
      void this.#options.embedder.whenAvailable().then(again, () => undefined); // rejects when the embedder is closed
      return;
    }
    this.#retrying = error.message;
    this.#retry = this.#options.clock.after(backOff(this.#failures++, RETRY_MS, RETRY_MAX_MS), () => {
      this.#retry = undefined;
      this.#wake();
      const reason = this.hybrid.isFlushDue;
      if (reason) void this.flush(reason);
    });
  }

  /** Rejects if the store's vectors now belong to another model. This process then stops embedding. */
  async requireServed(): Promise<void> {
    await requireServed(this.#options.store, this.hybrid.description?.space).catch((error: unknown) => {
      this.#failed(error);
      throw error;
    });
  }

  #poll(): void {
    const everyMs = Math.min(this.#options.hybridBuffer.leaseMs / 2, POLL_MAX_MS);
    this.#cancelPoll = this.#options.clock.after(everyMs, () => {
      this.#scanDue = true;
      this.#releaseDue = true;
      this.hybrid.review().catch((error: unknown) => this.#failed(error));
      this.#wake();
      this.#poll();
    });
  }

  async #releaseIdle(): Promise<void> {
    this.#releaseDue = false;
    try {
      await this.leases.releaseIdle((lane) => this.hybrid.queuedIn(lane) > 0 || this.rounds.isTaken(lane));
    } catch (error) {
      this.#failed(error);
    }
  }

  view(lane: Lane) {
    return this.rounds.view(lane);
  }

  get stats(): PipelineStats {
    const fault = this.fault?.message;
    return {
      round: this.rounds.stats,
      hybrid: this.hybrid.stats,
      embedder: this.#options.embedder.status(),
      transactions: this.commits.count,
      leases: this.leases.count,
      ...(this.#retrying !== undefined && { retrying: this.#retrying }),
      ...(fault !== undefined && { fault }),
    };
  }

  /** Scans the disk for pending items that were not announced in this process. */
  rescan(): void {
    this.#scanDue = true;
    this.#wake();
  }

  /**
   * Transfers what this process has accepted and writes what is embedded. Work that is not done by the deadline stays
   * on disk, and work that cannot be done by then is not awaited.
   */
  async finish(deadlineMs: number): Promise<void> {
    const { clock } = this.#options;
    this.hybrid.finishBy(clock.passed() + deadlineMs);
    await within(clock, deadlineMs, this.drain(this.rounds.lanes, "close"));
    this.#stopped = true;
    this.#retry?.();
    this.#cancelPoll?.();
    this.rounds.close();
    this.hybrid.stop();
    this.#abort.abort();
    await within(clock, GRACE_MS, this.#running ?? Promise.resolve());
  }

  /** Writes what was embedded by the deadline, then releases all leases. */
  async release(): Promise<void> {
    await within(this.#options.clock, GRACE_MS, this.#letGo());
    this.leases.stop();
  }

  /** If the store fails, everything stays pending and the leases expire. */
  async #letGo(): Promise<void> {
    if (this.commits.count === 0) return; // no lease was ever acquired: a rejected file stays unchanged
    try {
      await this.hybrid.flush("close");
      await this.leases.releaseAll();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}
