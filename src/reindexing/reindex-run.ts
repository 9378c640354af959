/**
 * One run of re-embedding: reads the items that the next vector space lacks, embeds and writes them until none is
 * missing, then switches. Each slice is one short transaction, so adds and queries of all processes continue in
 * between.
 *
 * Under constant writes there are always a few items that changed a moment ago. If that persists, the switch is made
 * anyway, and those few stay pending, as if they had been added right after it.
 */
import type { RepeatableCommits } from "../buffers/hybrid/commits.js";
import { embedAll } from "../buffers/hybrid/embedding-run.js";
import { retryAfter } from "../buffers/hybrid/parking.js";
import type { CachedItem } from "../buffers/hybrid/vector-cache.js";
import { beginWork } from "../buffers/hybrid/work.js";
import type { Clock } from "../clock.js";
import type { EmbedderDescription } from "../embedding/embedder.js";
import type { GuardedEmbedder } from "../embedding/guarded.js";
import { HoldfastError } from "../errors.js";
import type { ChunkStrategy } from "../retrieval/chunks/strategy.js";
import type { PendingItem } from "../stores/indexing.js";
import type { NextSpace, ReindexingWrite, ReindexWrite, ToReindex } from "../stores/reindexing.js";
import type { Done, Store, Write } from "../stores/store.js";
import type { VectorSpace } from "../types.js";

/**
 * What is embedded at a time and written in one transaction of about 10 ms. More: more work is lost if the process is
 * killed.
 */
const SLICE_ITEMS = 128;
const SLICE_BYTES = 256 * 1024;
/** The switch may leave this many items missing, after this many attempts without getting closer. */
const MISSING_MAX = 64;
const STALLED_MAX = 10;
/** How many times in a row the embedder may fail without embedding anything. */
const FAILURES_MAX = 3;

/**
 * How many times a commit is tried if the store is busy (for as long as the store itself waits, each time) or its
 * thread has died.
 */
const ATTEMPTS_MAX = 5;
const PASSING: ReadonlySet<string> = new Set(["busy", "outcome_unknown"]);

/** What a reindex has done. */
export interface ReindexReport {
  /** The kind of vectors that is in use now. */
  readonly vectorSpace: VectorSpace;
  /** Items embedded by this call. */
  readonly embedded: number;
  /** Items that the new model refuses; they are parked. */
  readonly refused: number;
  /** False if the memory already had vectors of this model, so nothing was done. */
  readonly switched: boolean;
}

export interface ReindexParts {
  readonly store: Store;
  readonly commits: RepeatableCommits;
  readonly clock: Clock;
  readonly embedder: GuardedEmbedder;
  readonly strategy: ChunkStrategy;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: NextSpace) => void;
}

export class ReindexRun {
  readonly #parts: ReindexParts;
  #embedded = 0;
  #refused = 0;
  #failures = 0;
  /** The number of missing items after the last slice, and how many times that number did not fall. */
  #remaining = Number.POSITIVE_INFINITY;
  #stalled = 0;

  constructor(parts: ReindexParts) {
    this.#parts = parts;
  }

  async toTheEnd(): Promise<ReindexReport> {
    const { store, embedder, signal, clock } = this.#parts;
    signal.throwIfAborted();
    const description = await embedder.describe();
    const vectorSpace = description.space;
    const { isServed } = await this.#commit<"begin_reindex">({ op: "begin_reindex", vectorSpace });
    if (!isServed) while (!(await this.#step(description)));
    await store.maintain(clock.now(), signal);
    return { vectorSpace, embedded: this.#embedded, refused: this.#refused, switched: !isServed };
  }

  /** One slice, then the switch if it is due. True if the switch is done. */
  async #step(description: EmbedderDescription): Promise<boolean> {
    const { store, signal, clock } = this.#parts;
    signal.throwIfAborted();
    const { space: vectorSpace } = description;
    const limits = { limit: SLICE_ITEMS, maxBytes: SLICE_BYTES };
    const told = await store.toReindex({ vectorSpace, ...limits, now: clock.now() });
    const isAll = told.items.length === 0 && told.range.upTo === told.range.after;
    if (!isAll) await this.#slice(told, description);
    const isClose = this.#stalled >= STALLED_MAX && this.#remaining <= MISSING_MAX;
    if (!isAll && this.#remaining > 0 && !isClose) return false;
    const missingMax = isClose ? MISSING_MAX : 0;
    return (await this.#commit<"switch_space">({ op: "switch_space", vectorSpace, missingMax })).switched;
  }

  /** Embeds and writes. If the embedder fails, what it has embedded so far is still written. */
  async #slice({ items, range }: ToReindex, description: EmbedderDescription): Promise<void> {
    const { store, embedder, strategy, signal, clock } = this.#parts;
    const done: CachedItem[] = [];
    const refused: ReindexWrite["refused"][number][] = [];
    const setAside = ({ key, version }: PendingItem, error: HoldfastError): void => {
      const retryAt = retryAfter(error, 1, clock.now());
      refused.push({ key, version, error: error.message, ...(retryAt !== undefined && { retryAt }) });
    };
    let failure: unknown;
    try {
      const works = await beginWork({ store, strategy }, items, clock.now());
      await embedAll(embedder, description, works, { signal, accept: (item) => done.push(item), setAside });
    } catch (error) {
      failure = error;
    }
    await this.#write(description.space, range, done, refused);
    if (failure !== undefined) await this.#afterFailure(failure, done.length + refused.length > 0);
    else this.#failures = 0;
  }

  async #write(
    vectorSpace: VectorSpace,
    range: ReindexWrite["range"],
    done: readonly CachedItem[],
    refused: ReindexWrite["refused"],
  ): Promise<void> {
    const items = done.map(({ key, version, spans, vectors, borrowed }) => ({
      key,
      version,
      spans,
      vectors,
      borrowed,
    }));
    const { written, next } = await this.#commit<"reindex">({ op: "reindex", vectorSpace, range, items, refused });
    this.#embedded += written.length;
    this.#refused = next.refused;
    this.#stalled = next.remaining < this.#remaining ? 0 : this.#stalled + 1;
    this.#remaining = next.remaining;
    this.#parts.onProgress?.(next);
  }

  /**
   * All of these are idempotent: a store that is locked by another process, or fails temporarily, does not end the run.
   */
  async #commit<Op extends ReindexingWrite["op"]>(
    write: Extract<ReindexingWrite, { op: Op }>,
  ): Promise<Extract<Done, { op: Op }>> {
    const { commits, signal } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        return await commits.one<Op>(write as Extract<Write, { op: Op }>);
      } catch (error) {
        const isPassing = error instanceof HoldfastError && PASSING.has(error.code);
        if (!isPassing || attempt >= ATTEMPTS_MAX || signal.aborted) throw error;
      }
    }
  }

  /** Waits for an embedder that is down, unless it fails too often in a row without embedding anything. */
  async #afterFailure(failure: unknown, madeProgress: boolean): Promise<void> {
    const { embedder, signal } = this.#parts;
    this.#failures = madeProgress ? 1 : this.#failures + 1;
    const isDown = failure instanceof HoldfastError && failure.code === "embedder_failed";
    if (signal.aborted || !isDown || this.#failures >= FAILURES_MAX) throw failure;
    await embedder.whenAvailable();
  }
}
