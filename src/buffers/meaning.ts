/**
 * Search by meaning: the question's vector against every level that may hold an answer.
 *
 * The order matters: the tail is embedded, then the VectorCache is searched, and only then is the store asked. What is
 * flushed meanwhile has been seen in the cache; asked the other way round, it could be missed in both.
 *
 * RAM gives references only. What it finds counts if the store still knows it in the same version and the question may
 * see it (`check`); so nothing that was edited or forgotten elsewhere is ever found.
 */
import type { Clock } from "../clock.js";
import type { EmbedderDescription } from "../embedding/embedder.js";
import type { GuardedEmbedder } from "../embedding/guarded.js";
import { embedQuestion, meanVector, type QuestionVector } from "../embedding/question.js";
import { HoldfastError } from "../errors.js";
import type { Estimates } from "../stores/estimates.js";
import type { RowFilter, Scored, Store } from "../stores/store.js";
import type { Level, SourceReport, SpaceRef } from "../types.js";
import type { Borrowed } from "./hybrid/vector-cache.js";
import { explained } from "./other-model.js";
import type { OuterIndex } from "./outer-index.js";
import type { Pipeline } from "./pipeline.js";
import type { EmbeddingCache } from "./query/embeddings.js";
import { notAsked, Stopwatch } from "./query/source.js";
import { embedTail } from "./tail.js";

/** How long a question waits for its vector, once the model is loaded. */
const QUESTION_MS = 5_000;
/** How long it waits for the store to load the vectors of a space. */
const READY_MS = 150;
/** The share of its own time that it waits, if it says how long it can: the rest is for what else there is to answer with. */
const READY_SHARE = 0.5;

export interface WeightedText {
  readonly text: string;
  readonly weight: number;
}

export interface MeaningRequest {
  readonly texts: readonly WeightedText[];
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
  /** How long the answer may take. */
  readonly deadlineMs?: number | undefined;
  /** Ask RAM only. */
  readonly bufferOnly: boolean;
  /** Those of these items that exist and that the question may see. */
  readonly check: (keys: readonly number[]) => Promise<ReadonlyMap<number, Scored>>;
}

export interface MeaningHit extends Scored {
  /** The store, if nothing is said. */
  readonly level?: Level;
}

export interface Meaning {
  readonly hits: readonly MeaningHit[];
  /** What the store knows of items that are not among them, and as of when it was searched. */
  readonly estimates?: Estimates | undefined;
  readonly asOf?: number | undefined;
  /** Some items, or the end of the question, could not be taken into account. */
  readonly partial: boolean;
  /** Why there are no hits at all, if the embedder could not be asked. */
  readonly degraded?: string;
  readonly sources: readonly SourceReport[];
  /** The cosines of items that something else has found; undefined if the file has vectors of another model by now. */
  readonly score: (found: readonly FoundOtherwise[]) => Promise<MeaningScores | undefined>;
}

export interface FoundOtherwise {
  readonly item: Scored;
  /** With a lower cosine it is of no interest. */
  readonly floor: number;
}

/** Cosines by key. Items without vectors have none. */
export interface MeaningScores {
  readonly scored: ReadonlyMap<number, { readonly score: number; readonly level: Level }>;
  /** Those that do not reach their floor. */
  readonly below: ReadonlySet<number>;
}

export const NO_SCORES: MeaningScores = { scored: new Map(), below: new Set() };

export interface MeaningReaderOptions {
  readonly store: Store;
  readonly pipeline: Pipeline;
  readonly embedder: GuardedEmbedder;
  readonly questions: EmbeddingCache;
  readonly clock: Clock;
  readonly outer?: OuterIndex;
}

/** A question with its vector. */
interface Asked extends MeaningRequest {
  readonly vector: Float32Array;
  readonly description: EmbedderDescription;
}

export class MeaningReader {
  readonly #options: MeaningReaderOptions;

  constructor(options: MeaningReaderOptions) {
    this.#options = options;
  }

  async search(request: MeaningRequest): Promise<Meaning> {
    const { pipeline } = this.#options;
    if (pipeline.fault) return unable(pipeline.fault.message);
    try {
      const description = await pipeline.hybrid.ready();
      const question = this.#embedQuestion(description, request.texts);
      const watch = new Stopwatch();
      const [embedded, tail] = await Promise.all([question, this.#embedTail(request, question)]);
      const round =
        tail.items > 0 ? watch.report("round", tail.items) : notAsked("round", "nothing waits to be embedded");
      if (!embedded) return nothing([round, notAsked("hybrid", NO_TEXT), notAsked("meaning", NO_TEXT)]);
      const asked = { ...request, vector: embedded.vector, description };
      const found = await this.#searchLevels(asked, [round], tail.isLeft || embedded.cut);
      // What was missed because the file was re-embedded meanwhile, is seen here; what was found in it, was not missed.
      if (found.asOf === undefined || found.hits.length === 0) await pipeline.requireServed();
      return found;
    } catch (error) {
      if (!(error instanceof HoldfastError) || !UNABLE.has(error.code)) throw error;
      return unable(explained(error).message);
    }
  }

  async #searchLevels(asked: Asked, before: readonly SourceReport[], isPartial: boolean): Promise<Meaning> {
    const hybrid = await this.#searchCache(asked);
    const stored = await this.#searchStore(asked);
    const hits: readonly MeaningHit[] = stored.hits;
    return {
      estimates: stored.estimates,
      asOf: stored.asOf,
      hits: hybrid.hits.length === 0 ? hits : merged(hits, hybrid.hits).slice(0, asked.limit),
      partial: isPartial || stored.isLoading,
      sources: [...before, hybrid.report, ...stored.reports],
      score: (found) => this.#score(asked, found),
    };
  }

  /** A question is not kept waiting by an embedder that hangs. */
  async #embedQuestion(
    description: EmbedderDescription,
    texts: readonly WeightedText[],
  ): Promise<QuestionVector | undefined> {
    const { embedder, clock, questions } = this.#options;
    const abort = new AbortController();
    const cancel = clock.after(QUESTION_MS, () => abort.abort(noAnswer()));
    try {
      const vectors = await Promise.all(
        texts.map(({ text }) => {
          const embed = () => embedQuestion(embedder, description, text, abort.signal);
          return questions.get(description.space, text, embed, abort.signal);
        }),
      );
      const known = vectors.flatMap((vector, at) => (vector ? [{ ...vector, weight: texts[at]?.weight ?? 1 }] : []));
      const [first] = known;
      if (!first || known.length === 1) return first;
      return { vector: meanVector(known), cut: known.some(({ cut }) => cut) };
    } finally {
      cancel();
    }
  }

  /** Beside the question; after it, if the embedder is on trial: then one call alone is let through, and that is it. */
  async #embedTail({ spaces, filter, now }: MeaningRequest, question: Promise<unknown>) {
    const { store, pipeline, clock, embedder } = this.#options;
    if (embedder.status().circuit !== "closed") await question;
    return embedTail({ store, hybrid: pipeline.hybrid, clock }, { spaces, filter, now }, question);
  }

  /**
   * The nearest of the VectorCache that the question may see. They are checked here, before the best are chosen: else
   * those that a filter keeps out, or that other processes have edited or forgotten, would take the others' places.
   */
  async #searchCache(asked: Asked): Promise<{ readonly hits: readonly MeaningHit[]; readonly report: SourceReport }> {
    const { spaces, filter, limit, vector, check } = asked;
    const { cache } = this.#options.pipeline.hybrid;
    const watch = new Stopwatch();
    const nearest = cache.search(spaces, vector);
    if (nearest.length === 0) return { hits: [], report: notAsked("hybrid", "it holds nothing of these spaces") };
    const hits: MeaningHit[] = [];
    for (let at = 0, count = limit; at < nearest.length && hits.length < limit; at += count, count *= 4) {
      const slice = await this.#current(asked, nearest.slice(at, at + count));
      const known = await check(slice.map(({ key }) => key));
      for (const hit of slice) {
        const item = known.get(hit.key);
        if (item?.version === hit.version) hits.push({ ...item, score: hit.score, level: hit.level });
        else if (item || Object.keys(filter).length === 0) cache.remove(hit.space, hit.key, hit.version); // out of date
      }
    }
    return { hits: hits.slice(0, limit), report: watch.report("hybrid", hits.length) };
  }

  /** Without those that carry text of others which has changed since. */
  async #current<T extends { readonly borrowed: Borrowed }>(
    { spaces, now }: MeaningRequest,
    found: readonly T[],
  ): Promise<readonly T[]> {
    const keys = [...new Set(found.flatMap(({ borrowed }) => borrowed.map(({ key }) => key)))];
    if (keys.length === 0) return found;
    const lenders = await this.#options.store.read({ spaces, keys, filter: {}, now });
    const versions = new Map(lenders.map(({ key, version }) => [key, version]));
    return found.filter(({ borrowed }) => borrowed.every(({ key, version }) => versions.get(key) === version));
  }

  /** The external index if there is one and it can answer, else the file's own vectors. */
  async #searchStore(asked: Asked) {
    const { store, outer } = this.#options;
    if (asked.bufferOnly) return { hits: [], isLoading: false, reports: [notAsked("meaning", BUFFER_ONLY)] };
    const { deadlineMs } = asked;
    const readyMs = deadlineMs === undefined ? READY_MS : Math.floor(deadlineMs * READY_SHARE);
    const request = { ...vectorsOf(asked), readyMs, estimates: true };
    const watch = new Stopwatch();
    const outside = await outer?.search(request);
    if (outside) {
      const reports = [watch.report("index", outside.length), notAsked("meaning", "the external index was asked")];
      return { hits: outside, isLoading: false, reports };
    }
    try {
      const hits = await store.searchVectors(request);
      const { estimates, asOf } = hits;
      return { hits, estimates, asOf, isLoading: false, reports: [watch.report("meaning", hits.length)] };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "loading") throw error;
      return { hits: [], isLoading: true, reports: [{ ...watch.report("meaning", 0), why: error.message }] };
    }
  }

  /**
   * In RAM by version, in the store as it is now. What was edited since it was found may get the score of its new text,
   * and others are measured by that; itself is not in the answer, because content is read in the version that was found.
   */
  async #score(asked: Asked, found: readonly FoundOtherwise[]): Promise<MeaningScores | undefined> {
    const { store, pipeline } = this.#options;
    const cached = pipeline.hybrid.cache.scores(
      found.map(({ item }) => item),
      asked.vector,
    );
    const current = await this.#current(asked, cached);
    const scored = new Map<number, { readonly score: number; readonly level: Level }>();
    for (const { key, score, level } of current) scored.set(key, { score, level });
    const items = found.flatMap(({ item: { key }, floor }) => (scored.has(key) ? [] : { key, floor }));
    if (items.length === 0 || asked.bufferOnly) return { scored, below: new Set() };
    const { spaces, vectorSpace, vector } = vectorsOf(asked);
    const stored = await store.scoreVectors({ spaces, vectorSpace, vector, items });
    const areAll = stored.scored.length + stored.below.length === items.length;
    if (!areAll && !(await this.#isServed())) return undefined; // of another model's vectors nothing is told
    for (const { key, score } of stored.scored) scored.set(key, { score, level: "store" });
    return { scored, below: new Set(stored.below) };
  }

  /** Whether the file still has vectors of this model. */
  async #isServed(): Promise<boolean> {
    try {
      await this.#options.pipeline.requireServed();
      return true;
    } catch (error) {
      if (error instanceof HoldfastError && UNABLE.has(error.code)) return false;
      throw error;
    }
  }
}

/** Best first; where both levels have an item, the younger wins. */
function merged(stored: readonly MeaningHit[], hybrid: readonly MeaningHit[]): readonly MeaningHit[] {
  const hits = new Map(stored.map((hit) => [hit.key, hit]));
  for (const hit of hybrid) hits.set(hit.key, hit);
  return [...hits.values()].sort((a, b) => b.score - a.score || b.key - a.key);
}

const vectorsOf = ({ spaces, filter, limit, now, vector, description }: Asked) => ({
  spaces,
  vectorSpace: description.space,
  vector,
  filter,
  limit,
  now,
});

const NO_TEXT = "the question has no text";
const BUFFER_ONLY = "only the buffers were to be asked";

const nothing = (sources: readonly SourceReport[]): Meaning => ({
  hits: [],
  partial: false,
  sources,
  score: async () => NO_SCORES,
});

const unable = (why: string): Meaning => ({
  hits: [],
  partial: true,
  degraded: why,
  sources: (["round", "hybrid", "meaning"] as const).map((source) => notAsked(source, why)),
  score: async () => NO_SCORES,
});

const noAnswer = (): HoldfastError =>
  new HoldfastError("embedder_failed", `the embedder did not answer a question within ${QUESTION_MS} ms`);

/** Without these the question is answered by words, and says so. */
const UNABLE: ReadonlySet<string> = new Set(["embedder_failed", "text_refused", "vector_space"]);
