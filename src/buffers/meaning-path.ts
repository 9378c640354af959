/**
 * MeaningPath: everything behind retrieval by meaning, put together: embedder, Pipeline, search, external index. A memory
 * without an embedding model has none, and works by words alone.
 */
import type { Embedder } from "../embedding/embedder.js";
import { GuardedEmbedder } from "../embedding/guarded.js";
import { HoldfastError } from "../errors.js";
import type { Events } from "../events/events.js";
import type { ResolvedOptions } from "../options.js";
import type { Lane } from "../stores/indexing.js";
import type { Store } from "../stores/store.js";
import type { VectorIndex } from "../stores/vector-index.js";
import { TokenCounter } from "../tokens/counter.js";
import type { Item, SpaceRef } from "../types.js";
import { laneName } from "./lane-name.js";
import { type Meaning, MeaningReader, type MeaningRequest } from "./meaning.js";
import type { Meter } from "./meter.js";
import { otherModel } from "./other-model.js";
import { OutboxDispatcher, type OutboxStats } from "./outbox.js";
import { OuterIndex, type OuterIndexStats } from "./outer-index.js";
import { Pipeline } from "./pipeline.js";
import type { PipelineStats } from "./pipeline-options.js";
import { questionBytes } from "./query/budget.js";
import { EmbeddingCache, type EmbeddingCacheStats } from "./query/embeddings.js";
import type { RoundView } from "./round-buffer.js";

/** How long `close` goes on sending to the external index. What is left is sent by whoever opens the file next. */
const SENDING_MS = 1_000;

/** Vectors of questions are kept for longer than answers: nothing that is written changes them. */
const VECTORS_PER_ANSWER = 8;

export interface MeaningParts {
  readonly store: Store;
  readonly options: ResolvedOptions;
  readonly meter: Meter;
  readonly events?: Events;
  readonly embedder: Embedder;
  /** Given by the caller, who closes it; else it is closed with the memory. */
  readonly isEmbedderShared: boolean;
  readonly index?: VectorIndex;
  readonly isIndexShared: boolean;
}

export interface MeaningStats extends PipelineStats {
  readonly index?: OuterIndexStats & OutboxStats;
}

export class MeaningPath {
  readonly #parts: MeaningParts;
  readonly #embedder: GuardedEmbedder;
  readonly #tokens: TokenCounter;
  readonly #pipeline: Pipeline;
  readonly #questions: EmbeddingCache;
  readonly #reader: MeaningReader;
  readonly #outer: OuterIndex | undefined;
  readonly #outbox: OutboxDispatcher | undefined;

  constructor(parts: MeaningParts) {
    this.#parts = parts;
    const { store, options, meter, events, embedder, index } = parts;
    const { clock, buffer } = options;
    this.#embedder = new GuardedEmbedder(embedder, { clock });
    this.#tokens = new TokenCounter(buffer.roundBuffer.tokenModel, clock);
    this.#pipeline = new Pipeline({
      store,
      clock,
      meter,
      events,
      embedder: this.#embedder,
      countTokens: (texts) => this.#tokens.count(texts),
      enabled: buffer.enabled,
      roundBuffer: buffer.roundBuffer,
      hybridBuffer: buffer.hybridBuffer,
      onFlushed: () => this.#outbox?.notify(),
    });
    const { cacheSize, maxBytes } = buffer.query;
    this.#questions = new EmbeddingCache({ max: cacheSize * VECTORS_PER_ANSWER, maxBytes: questionBytes(maxBytes) });
    this.#outer = index && new OuterIndex(store, index);
    this.#outbox = index && this.#dispatcher(index);
    this.#reader = new MeaningReader({
      store,
      clock,
      pipeline: this.#pipeline,
      embedder: this.#embedder,
      questions: this.#questions,
      ...(this.#outer && { outer: this.#outer }),
    });
  }

  #dispatcher(index: VectorIndex): OutboxDispatcher {
    const { store, options } = this.#parts;
    const { commits, leases } = this.#pipeline;
    return new OutboxDispatcher({
      commit: async (write) => {
        const [done] = await commits.commit([write]);
        if (!done || done instanceof HoldfastError) throw done ?? new HoldfastError("store_failed", "no answer");
        return done;
      },
      read: (limit, maxBytes, now) => store.outbox(limit, maxBytes, now),
      vectorSpace: () => store.vectorSpace(),
      index,
      clock: options.clock,
      owner: leases.owner,
      judge: (holder) => leases.isSilent(holder),
    });
  }

  /** Refuses a file that holds another model's vectors; then takes up what waits. */
  async start(): Promise<void> {
    const { store, embedder, index } = this.#parts;
    const vectorSpace = await store.vectorSpace();
    if (vectorSpace && vectorSpace.model !== embedder.model) throw otherModel(vectorSpace.model, embedder.model);
    if (index) await this.#attach(index);
    this.#pipeline.start();
    this.#outbox?.notify();
  }

  /** From now on every change of vectors is queued for the index; what is there already is queued now. */
  async #attach(index: VectorIndex): Promise<void> {
    for (let remaining = true; remaining; ) {
      ({ remaining } = await this.#pipeline.commits.one<"attach">({ op: "attach", index: index.name }));
    }
  }

  /** Rounds were committed. Resolves at once, unless the buffers are switched off. */
  added(lane: Lane, rounds: number): Promise<void> {
    return this.#pipeline.added(lane, rounds);
  }

  /** An item was edited. Resolves as `added` does. */
  async edited(space: SpaceRef, id: string): Promise<void> {
    const { store, options } = this.#parts;
    const lanes = lanesOf(await store.get([space], [id], options.clock.now()));
    await this.#pipeline.edited(space, [id], lanes);
    this.#outbox?.notify();
  }

  /** Items were deleted; `existing` is what was there of them. Resolves as `added` does. */
  async deleted(space: SpaceRef, ids: readonly string[], existing: readonly Item[]): Promise<void> {
    await this.#pipeline.deleted(space, ids, lanesOf(existing));
    this.#outbox?.notify();
  }

  /** The space was forgotten, or one session of it. */
  forgotten(space: SpaceRef, session?: string): void {
    this.#pipeline.forgotten(space, session);
    this.#outbox?.notify();
  }

  /** Parked items wait again. */
  replayed(): void {
    this.#pipeline.rescan();
  }

  search(request: MeaningRequest): Promise<Meaning> {
    return this.#reader.search(request);
  }

  /** Embeds and writes all that waits, here or in the lanes named. */
  async flush(lanes?: readonly Lane[]): Promise<void> {
    await this.#pipeline.drain(lanes, "manual");
  }

  view(lane: Lane): Promise<RoundView> {
    return this.#pipeline.view(lane);
  }

  /** The vectors of questions that are kept. */
  get questions(): EmbeddingCacheStats {
    return this.#questions.stats;
  }

  get stats(): MeaningStats {
    const index = this.#outer && this.#outbox && { ...this.#outer.stats, ...this.#outbox.stats() };
    return { ...this.#pipeline.stats, ...(index && { index }) };
  }

  /** What is not done by the deadline stays pending on disk. */
  async close(deadlineMs: number): Promise<void> {
    const { index, isEmbedderShared, isIndexShared } = this.#parts;
    await this.#pipeline.finish(deadlineMs);
    await this.#outbox?.drain(SENDING_MS);
    await this.#outbox?.close();
    await this.#pipeline.release();
    await this.#tokens.close();
    if (!isEmbedderShared) await this.#embedder.close();
    if (!isIndexShared) await index?.close();
  }
}

function lanesOf(items: readonly Item[]): readonly Lane[] {
  const lanes = items.map(({ space, session }): Lane => (session === undefined ? { space } : { space, session }));
  return [...new Map(lanes.map((lane) => [laneName(lane), lane])).values()];
}
