/**
 * Transfers: reads the pending items of the due lanes and embeds one slice of them. An item longer than a slice is
 * unfinished and continues in the next turn of its lane.
 *
 * Guarantees:
 * - A transfer embeds about one slice (`sliceBytes` of the embedder), no matter how much is pending.
 * - Embedding of an edited or forgotten item stops. A call that embeds nothing else is aborted.
 * - Work that fails through no fault of the item is kept. The next transfer of the lane starts with it.
 */
import type { Clock } from "../../clock.js";
import type { EmbedderDescription } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import type { ChunkStrategy } from "../../retrieval/chunks/strategy.js";
import { laneKey } from "../../space-key.js";
import type { Lane, PendingItem, PendingItems } from "../../stores/indexing.js";
import type { Store } from "../../stores/store.js";
import { embedAll, embedSlice, type RunOptions, sliceBytesOf } from "./embedding-run.js";
import { type Fate, InFlight, type Outdated, type Run } from "./in-flight.js";
import type { Leases } from "./leases.js";
import type { SetAside } from "./parking.js";
import type { RoundQueue } from "./round-queue.js";
import { Unfinished } from "./unfinished.js";
import type { CachedItem, VectorCache } from "./vector-cache.js";
import { beginWork, type Work } from "./work.js";

/** Upper bound on items read per transfer; the rest stays on disk. */
const ITEMS_MAX = 256;

export interface TransfersOptions {
  readonly store: Store;
  readonly leases: Leases;
  readonly embedder: GuardedEmbedder;
  readonly strategy: ChunkStrategy;
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly cache: VectorCache;
  readonly queue: RoundQueue;
  readonly accept: (item: CachedItem) => void;
  readonly park: (aside: readonly SetAside[]) => Promise<void>;
}

/** The lanes that a transfer has touched or left unfinished. */
export interface Transferred {
  /** Lanes with more pending items. */
  readonly rest: readonly Lane[];
  /** Lanes with items that were read or embedded. */
  readonly begun: readonly Lane[];
}

export class Transfers {
  readonly #options: TransfersOptions;
  readonly #inFlight = new InFlight();
  readonly #unfinished: Unfinished;
  /** The deadline of a close; undefined while no close is in progress. */
  #finishBy: number | undefined;
  #msPerUnit = 0;

  constructor(options: TransfersOptions) {
    this.#options = options;
    this.#unfinished = new Unfinished(options.maxBytes);
  }

  /** Embeds a slice of the pending items in these lanes. Lanes leased by another process are skipped. */
  async transfer(wanted: readonly Lane[], description: EmbedderDescription, signal: AbortSignal): Promise<Transferred> {
    const { store, leases, clock, queue } = this.#options;
    const lanes = await leases.claim(wanted);
    for (const lane of wanted) if (leases.fenceOf(lane) === undefined) this.#unfinished.leave(lane);
    if (lanes.length === 0) return { rest: [], begun: [] };
    const bytes = sliceBytesOf(description);
    const continued = lanes.flatMap((lane) => this.#continued(lane));
    let unread: ReadonlySet<string> = new Set();
    let begun: readonly Lane[] = [];
    await this.#inFlight.run(signal, [], async (run) => {
      const page = await store.pending({
        lanes: lanes.map((lane) => ({ lane, after: queue.knownUpTo(lane, this.#unfinished.newest(lane)) })),
        limit: ITEMS_MAX,
        maxBytes: continued.length > 0 ? Math.ceil(bytes / 2) : bytes,
        now: clock.now(),
      });
      unread = new Set(this.#noteRead(lanes, page).map(laneKey));
      begun = [...page.items, ...continued.map(({ item }) => item)].map(({ lane }) => lane);
      await this.#embed(page.items, continued, description, run);
    });
    const rest = lanes.filter((lane) => unread.has(laneKey(lane)) || this.#goesOn(lane));
    return { rest, begun };
  }

  /** The unfinished items of the lane. During a close, items that cannot be finished in time are dropped. */
  #continued(lane: Lane): readonly Work[] {
    const { queue } = this.#options;
    for (const work of this.#unfinished.of(lane)) if (!this.#isInTime(work.unitsLeft)) this.#drop(work);
    if (this.#finishBy === undefined) {
      for (const key of this.#unfinished.takePostponed(lane)) queue.readAgain({ lane, key });
    }
    return this.#unfinished.of(lane);
  }

  #goesOn(lane: Lane): boolean {
    return this.#unfinished.of(lane).length > 0 || (this.#finishBy === undefined && this.#unfinished.count(lane) > 0);
  }

  #isInTime(units: number): boolean {
    return this.#finishBy === undefined || this.#options.clock.passed() + units * this.#msPerUnit <= this.#finishBy;
  }

  /** Records how far each lane was read. Returns the lanes that were not read to their end. */
  #noteRead(lanes: readonly Lane[], { items, more }: PendingItems): readonly Lane[] {
    const { queue } = this.#options;
    const last = items.at(-1);
    const end = last && more ? lanes.findIndex((lane) => laneKey(lane) === laneKey(last.lane)) : lanes.length;
    for (const lane of lanes.slice(0, end)) queue.wasRead(lane, Number.POSITIVE_INFINITY);
    if (last && more) queue.wasRead(last.lane, last.key);
    return lanes.slice(end);
  }

  /** Embeds a slice: newly read items first, then unfinished ones. */
  async #embed(
    items: readonly PendingItem[],
    continued: readonly Work[],
    description: EmbedderDescription,
    run: Run,
  ): Promise<void> {
    const { embedder, clock, accept, park } = this.#options;
    // A query may be embedding some of these items now. That takes only a short time.
    await Promise.allSettled(items.flatMap((item) => this.#inFlight.of(item) ?? []));
    const fresh = await beginWork(this.#options, items, clock.now());
    const works = [...fresh.filter((work) => this.#begins(work, description, run)), ...continued].filter(
      (work) => !work.isOver && !this.#isKnown(work),
    );
    run.embeds(works);
    const aside: SetAside[] = [];
    const options: RunOptions = {
      signal: run.signal,
      accept,
      setAside: (item, error) => aside.push({ item, error }),
    };
    const left = (): number => works.reduce((sum, { unitsLeft }) => sum + unitsLeft, 0);
    const [started, before] = [clock.passed(), left()];
    try {
      await embedSlice(embedder, description, works, sliceBytesOf(description), options);
      const done = before - left();
      if (done > 0) this.#msPerUnit = (clock.passed() - started) / done;
    } finally {
      for (const work of works) {
        if (work.isOver) this.#unfinished.remove(work);
        else this.#unfinished.put(work);
      }
      if (aside.length > 0) await park(aside);
    }
  }

  /** Whether to start this item. Outdated items and those without space or time are not started. */
  #begins({ item, outline }: Work, description: EmbedderDescription, run: Run): boolean {
    const fate = run.lateFor(outline);
    if (fate === "again") this.#options.queue.readAgain(item);
    if (fate !== undefined || this.#unfinished.find(item)) return false;
    const units = item.content.length;
    const isLong = units > sliceBytesOf(description);
    if (this.#isInTime(units) && (!isLong || this.#unfinished.hasRoomFor(units))) return true;
    this.#unfinished.postpone(item);
    return false;
  }

  /** Whether the item is already embedded. If so, its cached vectors are accepted. */
  #isKnown(work: Work): boolean {
    const { lane, key, version } = work.item;
    const known = this.#options.cache.find(lane.space, key, version);
    if (!known) return false;
    work.end();
    this.#unfinished.remove(work);
    this.#options.accept(known);
    return true;
  }

  /** Embeds these items ahead of their batch, for a query. */
  async embedAhead(
    items: readonly PendingItem[],
    description: EmbedderDescription,
    signal: AbortSignal,
    accept: (item: CachedItem) => void,
  ): Promise<void> {
    const { embedder, clock } = this.#options;
    const setAside = () => {}; // the transfer reaches the item again and parks it
    await this.#inFlight.run(signal, items, async (run) => {
      const works = await beginWork(this.#options, items, clock.now());
      const wanted = works.filter(({ outline }) => run.lateFor(outline) === undefined);
      run.embeds(wanted);
      await embedAll(embedder, description, wanted, { signal: run.signal, urgent: true, accept, setAside });
    });
  }

  /** The embedding in progress for this item, if any. */
  inFlight(item: PendingItem): Promise<void> | undefined {
    return this.#inFlight.of(item);
  }

  /** Whether the item is partly embedded. */
  isUnfinished(item: PendingItem): boolean {
    return this.#unfinished.find(item) !== undefined;
  }

  /** Number of unfinished and postponed items in the lane. */
  count(lane: Lane): number {
    return this.#unfinished.count(lane);
  }

  /** Stops embedding outdated items. */
  forget(isOutdated: Outdated, fate: Fate): void {
    const unfinished = this.#unfinished.all.filter((work) => !work.isOver && isOutdated(work.outline));
    for (const work of [...this.#inFlight.forget(isOutdated, fate), ...unfinished]) {
      this.#drop(work);
      if (fate === "again") this.#options.queue.readAgain(work.item);
    }
  }

  /** Drops unfinished items that expired or that another process edited or forgot. Returns the lanes to read again. */
  async review(): Promise<readonly Lane[]> {
    const { store, clock, queue } = this.#options;
    const lanes: Lane[] = [];
    for (const work of this.#unfinished.all) {
      const { lane, key, version } = work.item;
      const [current] = await store.read({ spaces: [lane.space], keys: [key], filter: {}, now: clock.now() });
      if (current?.version === version || work.isOver) continue;
      this.#drop(work);
      queue.readAgain(work.item);
      lanes.push(lane);
    }
    return lanes;
  }

  /** From now on, embeds only what can be finished by this time on the monotonic clock. */
  finishBy(passed: number): void {
    this.#finishBy = passed;
  }

  #drop(work: Work): void {
    work.end();
    this.#unfinished.remove(work);
  }
}
