/**
 * One run of re-embedding: reads what the next vector space misses, embeds it, writes it, until nothing is missing; then
 * switches. Each slice is one short transaction, so adds and queries of all processes go on between.
 *
 * Where something is written all the time there is always an item or two that was changed a moment ago. If that goes on,
 * the switch is made all the same, and those few are pending, as they would be had they come right after it.
 */
import { chunkPending } from "../buffers/hybrid/chunking.js";
import type { RepeatableCommits } from "../buffers/hybrid/commits.js";
import { embedItems } from "../buffers/hybrid/embedding-run.js";
import { retryAfter } from "../buffers/hybrid/parking.js";
import type { CachedItem } from "../buffers/hybrid/vector-cache.js";
import type { Clock } from "../clock.js";
import type { EmbedderDescription } from "../embedding/embedder.js";
import type { GuardedEmbedder } from "../embedding/guarded.js";
import { HoldfastError } from "../errors.js";
import type { ChunkStrategy } from "../retrieval/chunks/strategy.js";
import type { PendingItem } from "../stores/indexing.js";
import type { NextSpace, ReindexingWrite, ReindexWrite, ToReindex } from "../stores/reindexing.js";
import type { Done, Store, Write } from "../stores/store.js";
import type { VectorSpace } from "../types.js";

/** What is embedded at a time and written in one transaction, about 10 ms long. More: more is lost when it is killed. */
const SLICE_ITEMS = 128;
const SLICE_BYTES = 256 * 1024;
/** So many items may be missing at the switch, once it has been so close so many times without getting closer. */
const FEW = 64;
const PATIENCE = 10;
/** How often in a row the embedder may fail without having embedded anything. */
const FAILURES_MAX = 3;

/** How often a commit is tried when the store is busy (for as long as it waits itself, each time), or its thread has died. */
const ATTEMPTS_MAX = 5;
const PASSING: ReadonlySet<string> = new Set(["busy", "outcome_unknown"]);

export interface ReindexReport {
  readonly vectorSpace: VectorSpace;
  /** Items that this call has embedded. */
  readonly embedded: number;
  /** Items that the new model does not take; they are parked. */
  readonly refused: number;
  /** False if the memory had vectors of this model already, and nothing was to be done. */
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
  /** How many were missing after the last slice, and how often that was no fewer than before. */
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

  /** One slice, then the switch if the time has come. True if that is done. */
  async #step(description: EmbedderDescription): Promise<boolean> {
    const { store, signal, clock } = this.#parts;
    signal.throwIfAborted();
    const { space: vectorSpace } = description;
    const limits = { limit: SLICE_ITEMS, maxBytes: SLICE_BYTES };
    const told = await store.toReindex({ vectorSpace, ...limits, now: clock.now() });
    const isAll = told.items.length === 0 && told.range.upTo === told.range.after;
    if (!isAll) await this.#slice(told, description);
    const isClose = this.#stalled >= PATIENCE && this.#remaining <= FEW;
    if (!isAll && this.#remaining > 0 && !isClose) return false;
    const missingMax = isClose ? FEW : 0;
    return (await this.#commit<"switch_space">({ op: "switch_space", vectorSpace, missingMax })).switched;
  }

  /** Embeds and writes. If the embedder fails, what it has done until then is written all the same. */
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
      const parts = { store, strategy, embedder };
      const chunked = await chunkPending(parts, description, items, clock.now(), setAside);
      await embedItems(embedder, chunked, { signal, accept: (item) => done.push(item), setAside });
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

  /** All of these can be repeated: a store that is held by another process, or fails for a moment, does not end the run. */
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

  /** An embedder that is down is waited for, as long as it gets on at all. */
  async #afterFailure(failure: unknown, gotOn: boolean): Promise<void> {
    const { embedder, signal } = this.#parts;
    this.#failures = gotOn ? 1 : this.#failures + 1;
    const isDown = failure instanceof HoldfastError && failure.code === "embedder_failed";
    if (signal.aborted || !isDown || this.#failures >= FAILURES_MAX) throw failure;
    await embedder.whenAvailable();
  }
}
