/**
 * MeaningPath: all parts of retrieval by meaning: embedder, Pipeline, vector search, external index. A memory without
 * an embedding model has no MeaningPath and searches by words only.
 */
import type { Embedder } from "../embedding/embedder.js";
import { GuardedEmbedder } from "../embedding/guarded.js";
import { EmbeddingCache, type EmbeddingCacheStats } from "../embedding/question-cache.js";
import { HoldfastError } from "../errors.js";
import type { Events } from "../events/events.js";
import type { ResolvedOptions } from "../options.js";
import { laneKey } from "../space-key.js";
import type { Lane } from "../stores/indexing.js";
import type { Store } from "../stores/store.js";
import type { VectorIndex } from "../stores/vector-index.js";
import { TokenCounter } from "../tokens/counter.js";
import type { Item, Page, SpaceRef } from "../types.js";
import { ExternalIndex, type ExternalIndexStats } from "./external-index.js";
import type { QueuedSession } from "./hybrid/hybrid-buffer.js";
import type { Meter } from "./meter.js";
import { otherModel } from "./other-model.js";
import { OutboxDispatcher, type OutboxStats } from "./outbox.js";
import { Pipeline } from "./pipeline.js";
import type { PipelineStats } from "./pipeline-options.js";
import { questionBytes } from "./query/budget.js";
import { QuestionVectors } from "./query/question-vectors.js";
import type { GatheringSession, RoundView } from "./round-buffer.js";

/** How long `close` keeps sending to the external index. The next process that opens the file sends the rest. */
const SENDING_MS = 1_000;

/** Question vectors are cached longer than answers, because no write invalidates them. */
const VECTORS_PER_ANSWER = 8;

export interface MeaningParts {
  readonly store: Store;
  readonly options: ResolvedOptions;
  readonly meter: Meter;
  readonly events?: Events;
  readonly embedder: Embedder;
  /** If true, the caller supplied the embedder and closes it. Otherwise it is closed with the memory. */
  readonly isEmbedderShared: boolean;
  readonly index?: VectorIndex;
  readonly isIndexShared: boolean;
  /** Called when items were embedded, and when vectors were written, which gives their spaces new versions. */
  readonly onProgress?: () => void;
}

/** Statistics of everything behind the write path: RoundBuffer, HybridBuffer, embedder and external index. */
export interface MeaningStats extends PipelineStats {
  /** The external vector index, if there is one. */
  readonly index?: ExternalIndexStats & OutboxStats;
}

/** A session with items in the RoundBuffer, the HybridBuffer or both. Without `session`: items outside any session. */
export interface BufferedSession extends Lane {
  /** What waits to be embedded. */
  readonly round?: GatheringSession;
  /** What is embedded and waits to be written. */
  readonly hybrid?: QueuedSession;
}

export class MeaningPath {
  readonly #parts: MeaningParts;
  readonly #embedder: GuardedEmbedder;
  readonly #tokens: TokenCounter;
  readonly #pipeline: Pipeline;
  readonly #questions: EmbeddingCache;
  /** The vectors of questions. */
  readonly vectors: QuestionVectors;
  readonly #external: ExternalIndex | undefined;
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
      onFlushed: () => {
        this.#outbox?.notify();
        parts.onProgress?.();
      },
      onRest: parts.onProgress,
    });
    const { cacheSize, maxBytes } = buffer.query;
    this.#questions = new EmbeddingCache({ max: cacheSize * VECTORS_PER_ANSWER, maxBytes: questionBytes(maxBytes) });
    this.#external = index && new ExternalIndex(store, index);
    this.#outbox = index && this.#dispatcher(index);
    this.vectors = new QuestionVectors({
      store,
      clock,
      pipeline: this.#pipeline,
      embedder: this.#embedder,
      cache: this.#questions,
      ...(this.#external && { external: this.#external }),
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

  /** Rejects a file that holds another model's vectors, then resumes pending work. */
  async start(): Promise<void> {
    const { store, embedder, index } = this.#parts;
    const vectorSpace = await store.vectorSpace();
    if (vectorSpace && vectorSpace.model !== embedder.model) throw otherModel(vectorSpace.model, embedder.model);
    if (index) await this.#attach(index);
    this.#pipeline.start();
    this.#outbox?.notify();
  }

  /** Queues the existing vectors for the index. From now on, every change of vectors is queued too. */
  async #attach(index: VectorIndex): Promise<void> {
    for (let remaining = true; remaining; ) {
      ({ remaining } = await this.#pipeline.commits.one<"attach">({ op: "attach", index: index.name }));
    }
  }

  /** Records committed rounds. Resolves at once, unless the buffers are turned off. */
  added(lane: Lane, rounds: number): Promise<void> {
    return this.#pipeline.added(lane, rounds);
  }

  /** Records an edited item. Resolves like `added`. */
  async edited(space: SpaceRef, id: string): Promise<void> {
    const { store, options } = this.#parts;
    const lanes = lanesOf(await store.get([space], [id], options.clock.now()));
    await this.#pipeline.edited(space, [id], lanes);
    this.#outbox?.notify();
  }

  /** Records deleted items; `existing` are those of them that existed. Resolves like `added`. */
  async deleted(space: SpaceRef, ids: readonly string[], existing: readonly Item[]): Promise<void> {
    await this.#pipeline.deleted(space, ids, lanesOf(existing));
    this.#outbox?.notify();
  }

  /** Records that the space, or one session of it, was forgotten. */
  forgotten(space: SpaceRef, session?: string): void {
    this.#pipeline.forgotten(space, session);
    this.#outbox?.notify();
  }

  /** Records that points may have been stored or forgotten. */
  pointsChanged(): void {
    this.#outbox?.notify();
  }

  /** Resumes parked items that were made pending again. */
  replayed(): void {
    this.#pipeline.rescan();
  }

  /** Embeds and writes everything pending, in these lanes or in all. */
  async flush(lanes?: readonly Lane[]): Promise<void> {
    await this.#pipeline.drain(lanes, "manual");
  }

  /** Embeds what is pending in this lane. */
  async transfer(lane: Lane): Promise<void> {
    await this.#pipeline.transferAll([lane], "manual");
  }

  /** Writes what is embedded. */
  async write(): Promise<void> {
    await this.#pipeline.flush("manual");
  }

  /** Drops the cached questions of a space, or all. */
  forget(space?: SpaceRef): void {
    this.#questions.forget(space);
  }

  /** Keeps nothing that only saves time, while the process is short of memory. */
  constrain(isConstrained: boolean): void {
    this.#questions.constrain(isConstrained);
  }

  /** Whether items are being embedded or written. */
  get isBusy(): boolean {
    return this.#pipeline.isBusy;
  }

  /** The version of each item of the space whose vectors are in memory and not yet written, by id. */
  embedded(space: SpaceRef): ReadonlyMap<string, number> {
    return this.#pipeline.hybrid.cache.versions(space);
  }

  view(lane: Lane): Promise<RoundView> {
    return this.#pipeline.view(lane);
  }

  /** The sessions with items in the RoundBuffer or the HybridBuffer. */
  get sessions(): readonly BufferedSession[] {
    const sessions = new Map<string, BufferedSession>();
    const put = (lane: Lane, part: Partial<BufferedSession>): void => {
      const name = laneKey(lane);
      sessions.set(name, { ...lane, ...sessions.get(name), ...part });
    };
    for (const [lane, round] of this.#pipeline.rounds.sessions) put(lane, { round });
    for (const [lane, hybrid] of this.#pipeline.hybrid.sessions) put(lane, { hybrid });
    return [...sessions.values()];
  }

  /** Statistics of the cached question vectors. */
  get questions(): EmbeddingCacheStats {
    return this.#questions.stats;
  }

  get stats(): MeaningStats {
    const index = this.#external && this.#outbox && { ...this.#external.stats, ...this.#outbox.stats() };
    return { ...this.#pipeline.stats, ...(index && { index }) };
  }

  /** Closes all parts. Work that is not done by the deadline stays pending on disk. */
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

/** Corrects what a list says of waiting items: some have vectors in memory, and without a model none is embedded. */
export function withEmbedded(page: Page<Item>, space: SpaceRef, meaning: MeaningPath | undefined): Page<Item> {
  if (!page.items.some(isWaiting)) return page;
  const versions = meaning?.embedded(space);
  const items = page.items.map((item): Item => {
    if (!isWaiting(item)) return item;
    if (!versions) return { ...item, embedding: { state: "off" } };
    return versions.get(item.id) === item.version ? { ...item, embedding: { state: "embedded" } } : item;
  });
  return { ...page, items };
}

const isWaiting = ({ embedding }: Item): boolean => embedding?.state === "waiting";

function lanesOf(items: readonly Item[]): readonly Lane[] {
  const lanes = items.map(({ space, session }): Lane => (session === undefined ? { space } : { space, session }));
  return [...new Map(lanes.map((lane) => [laneKey(lane), lane])).values()];
}
