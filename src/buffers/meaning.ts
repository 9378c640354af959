/**
 * Search by meaning: the question's vector against every level that may hold an answer.
 *
 * The order matters: the tail is embedded, then the VectorCache is searched, and only then is the store asked. What is
 * flushed meanwhile has been seen in the cache; asked the other way round, it could be missed in both.
 */
import type { Clock } from "../clock.js";
import type { EmbedderDescription } from "../embedding/embedder.js";
import type { GuardedEmbedder } from "../embedding/guarded.js";
import { embedQuestion, type QuestionVector } from "../embedding/question.js";
import { HoldfastError } from "../errors.js";
import type { RowFilter, Scored, Store } from "../stores/store.js";
import type { Level, SpaceRef, VectorSpace } from "../types.js";
import type { CacheHit } from "./hybrid/vector-cache.js";
import type { OuterIndex } from "./outer-index.js";
import type { Pipeline } from "./pipeline.js";
import { embedTail } from "./tail.js";

/** How long a question waits for its vector, once the model is loaded. */
const QUESTION_MS = 5_000;

export interface MeaningRequest {
  readonly text: string;
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
}

export interface MeaningHit extends Scored {
  readonly level: Level;
}

export interface Meaning {
  readonly hits: readonly MeaningHit[];
  /** Some items, or the end of the question, could not be taken into account. */
  readonly partial: boolean;
  /** Why there are no hits at all, if the embedder could not be asked. */
  readonly degraded?: string;
}

export interface MeaningReaderOptions {
  readonly store: Store;
  readonly pipeline: Pipeline;
  readonly embedder: GuardedEmbedder;
  readonly clock: Clock;
  readonly outer?: OuterIndex;
}

export class MeaningReader {
  readonly #options: MeaningReaderOptions;

  constructor(options: MeaningReaderOptions) {
    this.#options = options;
  }

  async search(request: MeaningRequest): Promise<Meaning> {
    const { pipeline } = this.#options;
    if (pipeline.fault) return { hits: [], partial: true, degraded: pipeline.fault.message };
    try {
      const description = await pipeline.hybrid.ready();
      const question = this.#embedQuestion(description, request.text);
      const [asked, left] = await Promise.all([question, this.#embedTail(request, question)]);
      if (!asked) return { hits: [], partial: false };
      const { vector, cut } = asked;
      const cached = await this.#searchCache(request, vector);
      const stored = await this.#searchStore(request, vector, description.space);
      const hits = new Map<number, MeaningHit>();
      for (const hit of stored) hits.set(hit.key, { ...hit, level: "store" });
      for (const hit of cached) hits.set(hit.key, hit); // the younger level wins
      const best = [...hits.values()].sort((a, b) => b.score - a.score || b.key - a.key);
      return { hits: best.slice(0, request.limit), partial: left || cut };
    } catch (error) {
      if (!(error instanceof HoldfastError) || !UNABLE.has(error.code)) throw error;
      return { hits: [], partial: true, degraded: error.message };
    }
  }

  /** A question is not kept waiting by an embedder that hangs. */
  async #embedQuestion(description: EmbedderDescription, text: string): Promise<QuestionVector | undefined> {
    const { embedder, clock } = this.#options;
    const abort = new AbortController();
    const cancel = clock.after(QUESTION_MS, () => abort.abort(noAnswer()));
    try {
      return await embedQuestion(embedder, description, text, abort.signal);
    } finally {
      cancel();
    }
  }

  #embedTail({ spaces, filter, now }: MeaningRequest, question: Promise<unknown>): Promise<boolean> {
    const { store, pipeline, clock } = this.#options;
    return embedTail({ store, hybrid: pipeline.hybrid, clock }, { spaces, filter, now }, question);
  }

  /**
   * The nearest of the VectorCache that the question may see. They are checked here, before the best are chosen: else
   * those that a filter keeps out, or that other processes have edited or forgotten, would take the others' places.
   */
  async #searchCache(
    { spaces, filter, limit, now }: MeaningRequest,
    vector: Float32Array,
  ): Promise<readonly CacheHit[]> {
    const { store, pipeline } = this.#options;
    const { cache } = pipeline.hybrid;
    const nearest = cache.search(spaces, vector);
    const hits: CacheHit[] = [];
    for (let at = 0, count = limit; at < nearest.length && hits.length < limit; at += count, count *= 4) {
      const slice = nearest.slice(at, at + count);
      const items = await store.read({ spaces, filter, now, keys: slice.map(({ key }) => key) });
      const versions = new Map(items.map(({ key, version }) => [key, version]));
      for (const hit of slice) {
        const version = versions.get(hit.key);
        if (version === hit.version) hits.push(hit);
        else if (version !== undefined || Object.keys(filter).length === 0)
          cache.remove(hit.space, hit.key, hit.version); // out of date
      }
    }
    return hits.slice(0, limit);
  }

  async #searchStore(
    { spaces, filter, limit, now }: MeaningRequest,
    vector: Float32Array,
    vectorSpace: VectorSpace,
  ): Promise<readonly Scored[]> {
    const { store, outer } = this.#options;
    const request = { spaces, vectorSpace, vector, filter, limit, now };
    return (await outer?.search(request)) ?? store.searchVectors(request);
  }
}

const noAnswer = (): HoldfastError =>
  new HoldfastError("embedder_failed", `the embedder did not answer a question within ${QUESTION_MS} ms`);

/** Without these the question is answered by words, and says so. */
const UNABLE: ReadonlySet<string> = new Set(["embedder_failed", "text_refused", "vector_space"]);
