/**
 * Pipeline: steps 3 to 6 of the write path, behind every add.
 *
 *   RoundBuffer (what is due) → HybridBuffer (embed once) → flush (vectors into the store) → outbox (external index)
 *
 * It runs in the background and may fail or stop at any point: the journal is the item table, so whoever comes next goes
 * on where it ended. One run at a time takes what is due; when nothing is left, it ends.
 */
import { HoldfastError } from "../errors.js";
import { chunkStrategy } from "../retrieval/chunks/strategy.js";
import type { Lane } from "../stores/indexing.js";
import type { SpaceRef } from "../types.js";
import { within } from "./deadline.js";
import { RepeatableCommits } from "./hybrid/commits.js";
import { type FlushReason, HybridBuffer } from "./hybrid/hybrid-buffer.js";
import { Leases } from "./hybrid/leases.js";
import { newOwner } from "./hybrid/owner.js";
import type { CachedItem } from "./hybrid/vector-cache.js";
import { laneName } from "./lane-name.js";
import { explained, requireServed } from "./other-model.js";
import type { PipelineOptions, PipelineStats } from "./pipeline-options.js";
import { type DueLane, type Gathered, RoundBuffer, type TransferReason } from "./round-buffer.js";
import { Waiter } from "./waiter.js";

/** Sessions taken, and looked for on disk, at a time. */
const LANES_AT_ONCE = 256;
const LANES_FOUND = 1_024;
/** Leases kept after their items are written, because more may come; a long backlog of small sessions is let go of. */
const LEASES_KEPT_MAX = 1_024;
/** Rows of one session that are looked at to see whether a threshold is passed. */
const GATHERED_ITEMS = 256;
const GATHERED_BYTES = 1024 * 1024;
/** A store that fails is tried again after a second, then after twice as long, up to half a minute. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** How long work that was told to stop may take to do so. */
const GRACE_MS = 1_000;
/** How often to look for what others have left, at least: a process that is gone is seen to be gone, however long a lease lasts. */
const POLL_MAX_MS = 5_000;
/** How often a flush looks again for what was edited while it was written. */
const PASSES_MAX = 3;
/** How often parked items are looked at whose time may have come. */
const REPLAY_MS = 30_000;

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #commits: RepeatableCommits;
  readonly #rounds: RoundBuffer;
  readonly #abort = new AbortController();
  readonly leases: Leases;
  readonly hybrid: HybridBuffer;
  #running: Promise<void> | undefined;
  #transferring: ReadonlyMap<string, Lane> = new Map();
  readonly #waiters = new Set<Waiter>();
  #scanDue = true;
  #releaseDue = false;
  #stopped = false;
  #retryMs = RETRY_MS;
  #retry: (() => void) | undefined;
  #cancelPoll: (() => void) | undefined;
  #replayAt = 0;
  #fault: HoldfastError | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { store, clock, meter, embedder, roundBuffer, hybridBuffer, events } = options;
    this.#commits = new RepeatableCommits(store, clock, events);
    const owner = newOwner(clock.now());
    this.leases = new Leases({ commits: this.#commits, clock, owner, leaseMs: hybridBuffer.leaseMs });
    this.#rounds = new RoundBuffer({
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
      commits: this.#commits,
      leases: this.leases,
      ...hybridBuffer,
      strategy: chunkStrategy(hybridBuffer.chunkStrategy),
      isBusy: () => this.#running !== undefined && this.leases.count < LEASES_KEPT_MAX,
      onWaiting: (lane) => this.#rounds.found(lane, "eager"),
      onLost: () => this.rescan(),
      onFailure: (error) => this.#failed(error),
    });
  }

  /** Takes up what earlier processes have left, newest first, and looks from time to time for what others leave. */
  start(): void {
    this.#poll();
    this.#wake();
  }

  /** Rounds were committed to this lane. Resolves at once, unless the buffers are switched off. */
  async added(lane: Lane, rounds: number): Promise<void> {
    if (this.#options.enabled) this.#rounds.added(lane, rounds);
    else await this.drain([lane], "through");
  }

  /**
   * Items of the space were edited: what was embedded of them, and of what borrowed from them in these lanes, is out of
   * date, and waits again. Resolves as `added` does.
   */
  async edited(space: SpaceRef, ids: readonly string[], lanes: readonly Lane[]): Promise<void> {
    const edited = new Set(ids);
    this.hybrid.forget(space, (item) => edited.has(item.id) || isBorrower(item, lanes), "again");
    for (const lane of lanes) await this.added(lane, 1);
  }

  /** Items of the space were deleted: what borrowed from them in these lanes waits again. Resolves as `added` does. */
  async deleted(space: SpaceRef, ids: readonly string[], lanes: readonly Lane[]): Promise<void> {
    const deleted = new Set(ids);
    this.hybrid.forget(space, (item) => deleted.has(item.id), "gone");
    if (this.#options.hybridBuffer.chunkStrategy === "message") return; // it borrows nothing
    this.hybrid.forget(space, (item) => isBorrower(item, lanes), "again");
    for (const lane of lanes) await this.added(lane, 1);
  }

  /** The space was forgotten, or one session of it. */
  forgotten(space: SpaceRef, session?: string): void {
    this.hybrid.forget(space, (item) => session === undefined || item.lane.session === session, "gone");
  }

  /** Transfers and writes what waits in these lanes, or everywhere, before it resolves. Failures are in `stats`. */
  async drain(lanes: readonly Lane[] | undefined, reason: TransferReason & FlushReason): Promise<void> {
    for (let pass = 1; ; pass++) {
      const wanted = lanes ?? [...this.#rounds.lanes, ...(await this.#scan(reason))];
      await this.#transferAll(wanted, reason);
      await this.#flush(reason);
      const isMore = lanes === undefined && this.#scanDue;
      // Some were edited after they were embedded; who edits all the time is not waited for.
      const isBehind = pass < PASSES_MAX && wanted.some((lane) => this.hybrid.isBehind(lane));
      if (!this.#isAble || !(isMore || isBehind)) return;
    }
  }

  /** Resolves when each of these lanes has had its turn, or nothing can be embedded. */
  async #transferAll(lanes: readonly Lane[], reason: TransferReason): Promise<void> {
    const waiter = new Waiter(lanes.map(laneName));
    this.#waiters.add(waiter);
    for (const lane of lanes) this.#rounds.force(lane, reason);
    this.#wake();
    for (const lane of lanes) {
      const name = laneName(lane);
      if (!this.#rounds.has(lane) && !this.#transferring.has(name)) waiter.transferred(name); // there was no room for it
    }
    if (!this.#running) waiter.giveUp();
    await waiter.ended;
    this.#waiters.delete(waiter);
  }

  get #isAble(): boolean {
    return !this.#stopped && !this.#retry && !this.#fault;
  }

  /** What of the session waits, and is neither transferred nor parked. */
  async #gathered(lane: Lane): Promise<Gathered> {
    const request = { lanes: [{ lane }], limit: GATHERED_ITEMS, maxBytes: GATHERED_BYTES };
    const pending = await this.#options.store.pending({ ...request, now: this.#options.clock.now() });
    const items = pending.filter((item) => !this.hybrid.isQueued(item));
    const rounds = new Set(items.map(({ round, key }) => round ?? -key)).size;
    return { rounds, texts: items.map(({ content }) => content) };
  }

  #wake(): void {
    if (this.#running || !this.#isAble) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#rounds.takeOverflow()) this.#scanDue = true;
      if (this.#rounds.isDue)
        this.#wake(); // it came while the run was ending
      else if (this.#releaseDue) void this.#releaseIdle();
      if (!this.#running) for (const waiter of this.#waiters) waiter.giveUp();
    });
  }

  async #run(): Promise<void> {
    try {
      // A turn of the event loop lets every add of the same commit join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      for (let due = await this.#next(); due.length > 0 && !this.#stopped && !this.#fault; due = await this.#next()) {
        await this.#transfer(due);
        this.#flushIfDue(); // not waited for: the next batch is embedded meanwhile
        if (this.leases.count > 2 * LEASES_KEPT_MAX) await this.#releaseIdle();
      }
      this.#retryMs = RETRY_MS;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Writes what has gathered, then what has gathered meanwhile. */
  #flushIfDue(): void {
    const reason = this.hybrid.isFlushDue;
    if (reason && !this.hybrid.isFlushing && !this.#stopped) void this.#flush(reason).then(() => this.#flushIfDue());
  }

  async #next(): Promise<readonly DueLane[]> {
    const due = this.#take();
    if (due.length > 0 || !this.#scanDue) return due;
    await this.requireServed();
    await this.#replay();
    await this.#scan(undefined);
    return this.#take();
  }

  #take(): readonly DueLane[] {
    const due = this.#rounds.take(LANES_AT_ONCE);
    this.#transferring = new Map(due.map(({ lane }) => [laneName(lane), lane]));
    return due;
  }

  async #transfer(due: readonly DueLane[]): Promise<void> {
    const waiters = [...this.#waiters]; // whoever comes later may want more than is read now
    try {
      const rest = new Set((await this.hybrid.transfer(due, this.#abort.signal)).map(laneName));
      for (const { lane, reason } of due) {
        const name = laneName(lane);
        if (!rest.has(name)) for (const waiter of waiters) waiter.transferred(name);
        else if (waiters.some((waiter) => waiter.waitsFor(name))) this.#rounds.force(lane, reason);
        else this.#rounds.found(lane, "eager");
      }
    } catch (error) {
      this.#rounds.putBack(due);
      throw error;
    } finally {
      this.#transferring = new Map();
    }
  }

  /** Looks for sessions with waiting items on disk; those that a living process has are left to it. */
  async #scan(reason: TransferReason | undefined): Promise<readonly Lane[]> {
    const { store, clock } = this.#options;
    this.#scanDue = false;
    const limit = LANES_FOUND + this.hybrid.queuedLanes; // those are pending still, and must not hide the rest
    const waiting = await store.waiting(this.leases.owner.id, limit, clock.now());
    const free = waiting.flatMap(({ lane, items, holder }) => {
      const isDone = this.hybrid.queuedIn(lane) >= items; // all of it is embedded, and waits to be written
      return isDone || (holder && !this.leases.isSilent(holder)) ? [] : [lane];
    });
    if (waiting.length === limit && free.length > 0) this.#scanDue = true;
    if (reason === undefined) for (const lane of [...free].reverse()) this.#rounds.found(lane, "recovery");
    return free;
  }

  /** Takes up parked items whose time has come. */
  async #replay(): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.passed() < this.#replayAt) return;
    this.#replayAt = clock.passed() + REPLAY_MS;
    if ((await store.indexingStats()).parked === 0) return;
    for (let remaining = true; remaining; ) {
      ({ remaining } = await this.#commits.one<"replay">({ op: "replay", which: { due: true } }));
    }
  }

  async #flush(reason: FlushReason): Promise<void> {
    try {
      await this.hybrid.flush(reason);
      this.#options.onFlushed();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Something of the embedder's or the store's failed: nothing is lost, and it is tried again when there is hope. */
  #failed(error: unknown): void {
    if (this.#stopped || (error as Error)?.name === "AbortError") return;
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === "vector_space" || error.code === "closed" || error.code === "config") {
      this.#fault ??= explained(error);
      // What waits is left to those who can embed it. If the store fails as well, the leases end by silence.
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
      void this.#options.embedder.whenAvailable().then(again, () => undefined); // rejects when it is closed
      return;
    }
    const wait = this.#retryMs * (0.75 + Math.random() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
    this.#retry = this.#options.clock.after(wait, () => {
      this.#retry = undefined;
      this.#wake();
      const reason = this.hybrid.isFlushDue;
      if (reason) void this.#flush(reason);
    });
  }

  /** Rejects if the store's vectors are of another model by now; then nothing is embedded here any more. */
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
      this.#wake();
      this.#poll();
    });
  }

  async #releaseIdle(): Promise<void> {
    this.#releaseDue = false;
    try {
      await this.leases.releaseIdle((lane) => this.hybrid.queuedIn(lane) > 0 || this.#transferring.has(laneName(lane)));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The fault because of which nothing is embedded until the memory is opened again. */
  get fault(): HoldfastError | undefined {
    return this.#fault;
  }

  view(lane: Lane) {
    return this.#rounds.view(lane);
  }

  get commits(): RepeatableCommits {
    return this.#commits;
  }

  get stats(): PipelineStats {
    const fault = this.#fault?.message;
    return {
      round: this.#rounds.stats,
      hybrid: this.hybrid.stats,
      embedder: this.#options.embedder.status(),
      transactions: this.#commits.count,
      leases: this.leases.count,
      ...(fault !== undefined && { fault }),
    };
  }

  /** Looks for waiting items on disk: there are some that nobody here has announced. */
  rescan(): void {
    this.#scanDue = true;
    this.#wake();
  }

  /** Transfers what this process has taken in and writes what is embedded; what is not done by the deadline stays on disk. */
  async finish(deadlineMs: number): Promise<void> {
    await within(
      this.#options.clock,
      deadlineMs,
      this.drain([...this.#rounds.lanes, ...this.#transferring.values()], "close"),
    );
    this.#stopped = true;
    this.#retry?.();
    this.#cancelPoll?.();
    this.#rounds.close();
    this.hybrid.stop();
    this.#abort.abort();
    await within(this.#options.clock, GRACE_MS, this.#running ?? Promise.resolve());
  }

  /** Writes what was embedded by the deadline, then lets go of all leases. */
  async release(): Promise<void> {
    await within(this.#options.clock, GRACE_MS, this.#letGo());
    this.leases.stop();
  }

  /** A store that fails keeps it all pending, and the leases end by silence. */
  async #letGo(): Promise<void> {
    if (this.#commits.count === 0) return; // no lease was ever asked for: a file that was refused stays as it is
    try {
      await this.hybrid.flush("close");
      await this.leases.releaseAll();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}

/** Whether the item's chunks carry text of other items, of one of these lanes. */
function isBorrower({ borrowed, lane }: CachedItem, lanes: readonly Lane[]): boolean {
  return borrowed.length > 0 && lanes.some((other) => laneName(other) === laneName(lane));
}
