/**
 * QuestionVectors: the vector of a question, and the scores of vectors that exist only in this process.
 *
 * The tail is the set of items added so recently that no batch has sent them to the embedder yet. A question embeds the
 * newest of them, so that vector search finds messages added a moment ago. Their vectors are kept for the transfer. If
 * part of the tail exceeds the limits, the answer is `partial`.
 *
 * Order matters: the tail is embedded first, then the VectorCache is scored, and only then is the store searched. An
 * item that is written to the store in between has already been seen in the cache. In the reverse order, both could
 * miss it.
 *
 * The cache returns references only. The store checks each one against its snapshot (`FreshScore`), so an item that
 * another process edited or forgot is never found by its old vector.
 */
import { type Clock, within } from "../../clock.js";
import type { EmbedderDescription } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import { type QuestionVector as EmbeddedText, embedQuestion, meanVector } from "../../embedding/question.js";
import type { EmbeddingCache } from "../../embedding/question-cache.js";
import { HoldfastError } from "../../errors.js";
import type { Question } from "../../input/question.js";
import { roundedQuestion } from "../../retrieval/vectors/quantise.js";
import type { PendingItem } from "../../stores/indexing.js";
import type { FreshScore, QuestionVector } from "../../stores/search.js";
import type { RowFilter, Store } from "../../stores/store.js";
import type { Source, SourceReport } from "../../types.js";
import type { ExternalIndex } from "../external-index.js";
import type { HybridBuffer } from "../hybrid/hybrid-buffer.js";
import { explained } from "../other-model.js";
import type { Pipeline } from "../pipeline.js";

/** How long a question waits for its vector once the model is loaded. */
const QUESTION_MS = 5_000;
/** How long a question without a deadline then waits for the tail, and how many texts of the tail a question embeds. */
const TAIL_MS = 100;
const TAIL_TEXTS_MAX = 16;
/** Groups of the tail are embedded concurrently. Groups that finish by the deadline count. */
const GROUP = 4;
/** Conservative estimates: the length of a text (a low estimate) and the UTF-8 bytes per UTF-16 unit (a high one). */
const CHARACTERS_PER_TEXT = 80;
const BYTES_PER_CHARACTER = 3;

export interface WeightedText {
  readonly text: string;
  readonly weight: number;
}

/** The parts of a question that vector search needs. */
export interface VectorQuestion extends Pick<Question, "spaces" | "bufferOnly"> {
  /** The texts to embed. The question's vector is their weighted mean. */
  readonly texts: readonly WeightedText[];
  readonly filter: RowFilter;
  readonly now: number;
  /** How many nearest items are requested. */
  readonly limit: number;
  /** When a question with a deadline stops waiting for the tail, on the clock's `passed`. */
  readonly tailUntil?: number;
}

export interface EmbeddedQuestion {
  /** Absent if the question has no text or could not be embedded. */
  readonly vector?: Omit<QuestionVector, "readyMs">;
  /** Some items, or the end of the question, were not embedded in time. */
  readonly partial: boolean;
  /** Why the question can be answered by words only. */
  readonly degraded?: string;
  /** Reports of the tail and, if it was searched, of the external index. */
  readonly round: SourceReport;
  readonly index?: SourceReport;
}

export interface QuestionVectorsOptions {
  readonly store: Store;
  readonly pipeline: Pipeline;
  readonly embedder: GuardedEmbedder;
  readonly cache: EmbeddingCache;
  readonly clock: Clock;
  readonly external?: ExternalIndex;
}

export class QuestionVectors {
  readonly #options: QuestionVectorsOptions;

  constructor(options: QuestionVectorsOptions) {
    this.#options = options;
  }

  async embed(question: VectorQuestion): Promise<EmbeddedQuestion> {
    const { pipeline, external } = this.#options;
    if (pipeline.fault) return unable(pipeline.fault.message);
    try {
      const description = pipeline.hybrid.description ?? (await pipeline.hybrid.ready());
      const started = performance.now();
      const embedding = this.#embedTexts(description, question);
      const [embedded, tail] = await Promise.all([embedding, this.#embedTail(question, embedding)]);
      const round =
        tail.items > 0 ? asked("round", tail.items, started) : notAsked("round", "nothing waits to be embedded");
      if (!embedded) return { partial: false, round };
      const { cut } = embedded;
      const numbers = roundedQuestion(embedded.vector);
      const outside = question.bufferOnly ? undefined : await external?.search(question, numbers);
      return {
        vector: {
          space: description.space,
          numbers,
          fresh: this.#fresh(question, numbers),
          freshOnly: question.bufferOnly,
          ...(outside && { outside: outside.hits }),
        },
        partial: tail.isLeft || cut,
        round,
        ...(outside && { index: outside.report }),
      };
    } catch (error) {
      if (!isUnable(error)) throw error;
      return unable(explained(error).message);
    }
  }

  /** If another process has re-embedded the file: why the store's vectors no longer belong to this model. */
  async otherModel(): Promise<string | undefined> {
    try {
      await this.#options.pipeline.requireServed();
      return undefined;
    } catch (error) {
      if (!isUnable(error)) throw error;
      return explained(error).message;
    }
  }

  /** Removes vectors from the cache whose items were changed or deleted. */
  drop({ fresh }: Pick<QuestionVector, "fresh">, outdated: readonly number[]): void {
    if (outdated.length === 0) return;
    const gone = new Set(outdated);
    for (const { key, version } of fresh) if (gone.has(key)) this.#options.pipeline.hybrid.cache.forget(key, version);
  }

  #fresh({ spaces }: VectorQuestion, numbers: Float32Array): readonly FreshScore[] {
    return this.#options.pipeline.hybrid.cache.scores(spaces, numbers);
  }

  /** Embeds the question with a time limit, so that an embedder that hangs does not block it. */
  async #embedTexts(
    description: EmbedderDescription,
    { texts, spaces }: Pick<VectorQuestion, "texts" | "spaces">,
  ): Promise<EmbeddedText | undefined> {
    const { embedder, clock, cache } = this.#options;
    const abort = new AbortController();
    const cancel = clock.after(QUESTION_MS, () => abort.abort(noAnswer()));
    try {
      const vectors = await Promise.all(
        texts.map(({ text }) => {
          const embed = () => embedQuestion(embedder, description, text, abort.signal);
          return cache.get(description.space, spaces, text, embed, abort.signal);
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

  /** The number of tail items examined, and whether some of the tail is still not embedded. */
  async #embedTail({ spaces, filter, now, tailUntil }: VectorQuestion, question: Promise<unknown>) {
    const { store, pipeline, clock, embedder } = this.#options;
    // A half-open circuit breaker allows one call; the question gets it.
    if (embedder.status().circuit !== "closed") await question;
    const limits = {
      limit: TAIL_TEXTS_MAX,
      contentBytesMax: TAIL_TEXTS_MAX * CHARACTERS_PER_TEXT * BYTES_PER_CHARACTER,
    };
    const { items, long, more } = await store.tail({ spaces, filter, now, ...limits });
    const { hybrid } = pipeline;
    const isMissing = ({ lane, key, version }: Omit<PendingItem, "content">) =>
      !hybrid.cache.find(lane.space, key, version);
    const missing = items.filter(isMissing);
    await (missing.length === 0 ? question : embedAhead(missing, hybrid, clock, question, tailUntil));
    return { items: items.length + long.length, isLeft: more || [...missing, ...long].some(isMissing) };
  }
}

/** Embeds items of the tail, until the given time or, without one, for `TAIL_MS` once the question is embedded. */
async function embedAhead(
  items: readonly PendingItem[],
  hybrid: HybridBuffer,
  clock: Clock,
  question: Promise<unknown>,
  until: number | undefined,
): Promise<void> {
  const abort = new AbortController();
  const inFlight = items.flatMap((item) => hybrid.inFlight(item) ?? []);
  const ahead = withinLimits(items.filter((item) => !hybrid.inFlight(item)));
  const work = [...inFlight, ...groupsOf(ahead).map((group) => hybrid.embedAhead(group, abort.signal))];
  const done = Promise.allSettled(work); // failed items stay pending, and the transfer handles the error
  try {
    await question;
    await within(clock, until === undefined ? TAIL_MS : Math.max(0, until - clock.passed()), done);
  } finally {
    abort.abort();
  }
}

/** The newest items whose texts stay within the limit. */
function withinLimits(items: readonly PendingItem[]): readonly PendingItem[] {
  let texts = 0;
  return items.filter(({ content }) => {
    const expected = Math.ceil(content.length / CHARACTERS_PER_TEXT);
    if (texts + expected > TAIL_TEXTS_MAX) return false;
    texts += expected;
    return true;
  });
}

function groupsOf(items: readonly PendingItem[]): readonly (readonly PendingItem[])[] {
  return items.flatMap((_, at) => (at % GROUP === 0 ? [items.slice(at, at + GROUP)] : []));
}

/** Source reports, for `explain`. */
export const notAsked = (source: Source, why: string): SourceReport => ({ source, asked: false, why, found: 0, ms: 0 });
export const asked = (source: Source, found: number, started: number): SourceReport => ({
  source,
  asked: true,
  found,
  ms: performance.now() - started,
});

const unable = (why: string): EmbeddedQuestion => ({ partial: true, degraded: why, round: notAsked("round", why) });

const noAnswer = (): HoldfastError =>
  new HoldfastError("embedder_failed", `the embedder did not answer a question within ${QUESTION_MS} ms`);

/** After these errors the question is answered by words, and the answer says so. */
const UNABLE: ReadonlySet<string> = new Set(["embedder_failed", "text_refused", "vector_space"]);

const isUnable = (error: unknown): error is HoldfastError => error instanceof HoldfastError && UNABLE.has(error.code);
