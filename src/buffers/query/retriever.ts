/**
 * Retriever: ranks the items of a question's spaces (`rank`).
 *
 * At the deadline it returns what it has: a ranking by words only if the question's vector is late, or an empty one if
 * the store is late. Both are `partial`.
 */
import pLimit from "p-limit";
import { type Clock, Deadline } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Question } from "../../input/question.js";
import { NEAREST } from "../../retrieval/fusion.js";
import { dateCueIn, NO_DATES, type QuestionDates } from "../../retrieval/question/date-cue.js";
import { firstPerson } from "../../retrieval/question/first-person.js";
import { refersBack } from "../../retrieval/question/refers-back.js";
import { namesIn, speakerIn } from "../../retrieval/question/speakers.js";
import { analyse } from "../../retrieval/words/analyse.js";
import { lookupsIn } from "../../retrieval/words/lookups.js";
import { contentTerms } from "../../retrieval/words/stop.js";
import type { Ranked, SearchResult } from "../../stores/search.js";
import type { Store } from "../../stores/store.js";
import type { Explanation, SourceReport } from "../../types.js";
import { type EmbeddedQuestion, notAsked, type QuestionVectors, type WeightedText } from "./question-vectors.js";

/**
 * Upper bound on questions ranked concurrently. The search thread runs one search at a time. If all searches were
 * queued there, the reads of finished questions would wait behind searches that have not started.
 */
const SEARCHES_MAX = 3;
/** How long a search waits while the store loads the vectors of a space. */
const READY_MS = 150;
/** Time reserved for word search when the question's vector is late: this, or half of the deadline if that is less. */
const WORDS_MS = 25;
/** The share of the time for vectors after which a question stops waiting for its newest items to be embedded. */
const TAIL_SHARE = 0.75;

export interface RetrieverOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Absent if there is no embedding model. */
  readonly vectors?: QuestionVectors | undefined;
}

/** A ranking: the results of a question, best first, by reference and without content. */
export interface Ranking {
  /** As many as the question's depth, or all matches. */
  readonly found: readonly Ranked[];
  /** Number of items scored. */
  readonly candidates: number;
  /** Something was omitted, to meet the deadline or because it was not ready. */
  readonly partial: boolean;
  /** Why the question was answered by words alone, if it was. */
  readonly degraded?: string;
  /** Whether the answer can change with time alone, as with "last week" or an item that expires. */
  readonly isClockBound: boolean;
  /** What each source was asked and what it found. */
  readonly sources: readonly SourceReport[];
  /** How the question was interpreted. */
  readonly reading: Explanation["question"];
}

export class Retriever {
  readonly #options: RetrieverOptions;
  readonly #limit = pLimit(SEARCHES_MAX);

  constructor(options: RetrieverOptions) {
    this.#options = options;
  }

  /** Rejects if the signal aborts before the search begins. */
  async rank(question: Question, now: number, signal?: AbortSignal): Promise<Ranking> {
    const deadline = new Deadline(this.#options.clock, question.deadlineMs);
    let hasBegun = false;
    const ranked = this.#limit(() => {
      hasBegun = true;
      return deadline.hasPassed ? tooLate(question) : this.#rank(question, now, deadline, signal);
    });
    try {
      await deadline.within(ranked);
      return hasBegun ? await ranked : tooLate(question); // once started, it ends by the deadline
    } finally {
      deadline.clear();
    }
  }

  /** Parses the question, embeds it, searches, and reports what was omitted. */
  async #rank(question: Question, now: number, deadline: Deadline, signal?: AbortSignal): Promise<Ranking> {
    const { store, clock, vectors } = this.#options;
    const { deadlineMs, by, text } = question;
    const vectorsMs = deadlineMs === undefined ? undefined : Math.max(deadlineMs - WORDS_MS, deadlineMs / 2);
    const vectorDeadline = new Deadline(clock, vectorsMs);
    try {
      // The embedder runs in its own thread while the question is parsed here.
      const tailUntil = vectorsMs === undefined ? undefined : clock.passed() + vectorsMs * TAIL_SHARE;
      const embedding = this.#embed(question, now, tailUntil);
      embedding.catch(() => undefined); // awaited below
      const askedAt = question.askedAt ?? now;
      const terms = by === "meaning" ? [] : contentTerms([...analyse(text).keys()]);
      const lookups = by === "meaning" ? [] : lookupsIn(text);
      const { ranges: dates, isRelative } = await datesIn(text, askedAt);
      const hints = { dates, refersBack: refersBack(text), recency: question.recency, askedAt };

      const embedded = (await vectorDeadline.within(embedding)) ?? LATE;
      signal?.throwIfAborted();
      const readyMs = deadlineMs === undefined ? READY_MS : deadlineMs / 2;
      const vector = embedded.vector && { ...embedded.vector, readyMs };

      const { spaces, depth: limit } = question;
      const request = {
        spaces,
        filter: filterOf(question),
        now,
        terms,
        lookups,
        hints,
        limit,
        ...(vector && { vector }),
      };
      const result = await deadline.within(store.search(request));
      if (vector && result) vectors?.drop(vector, result.outdated);

      const missing = result?.vectors.missing;
      const shortage = missing === "memory" ? SHORT_OF_MEMORY : embedded.degraded;
      const degraded = missing === "other_space" ? await vectors?.otherModel() : shortage;
      const isTimed = question.askedAt === undefined && (isRelative || question.recency > 0);
      const [first] = embedded.texts ?? [];
      return {
        found: result?.found ?? [],
        candidates: result?.candidates ?? 0,
        partial: !result || embedded.partial || degraded !== undefined || missing === "loading",
        ...(degraded !== undefined && { degraded }),
        isClockBound: isTimed || result?.isClockBound === true,
        sources: reportsOf(question, terms, embedded, result, vectors !== undefined),
        reading: {
          text,
          terms,
          ...(first && { embedded: first.text }),
          ...(dates.length > 0 && { dates }),
          refersBack: hints.refersBack,
        },
      };
    } finally {
      vectorDeadline.clear();
    }
  }

  async #embed(question: Question, now: number, tailUntil: number | undefined): Promise<Embedding> {
    const { store, vectors } = this.#options;
    if (question.by === "words") return NOT_EMBEDDED;
    if (!vectors) {
      if (question.by === undefined) return NOT_EMBEDDED;
      throw new HoldfastError("unsupported", "this memory has no embedding model to search by meaning with", {
        hint: "ask without `by`, or open it with a model",
      });
    }
    const texts = await textsOf(store, question);
    const { spaces, bufferOnly, depth } = question;
    const limit = Math.max(depth, NEAREST);
    const request = { texts, spaces, bufferOnly, filter: filterOf(question), now, limit };
    return { ...(await vectors.embed({ ...request, ...(tailUntil !== undefined && { tailUntil }) })), texts };
  }
}

/** The first question with a date loads the parsers of sixteen languages. */
async function datesIn(text: string, askedAt: number): Promise<QuestionDates> {
  if (!dateCueIn(text)) return NO_DATES;
  return (await import("../../retrieval/question/dates.js")).datesIn(text, askedAt);
}

/**
 * Parses a made-up question to compile the patterns before the first real one. Compiling takes tens of milliseconds.
 */
export async function warmUp(): Promise<void> {
  const text = "What did Ann say about it last week?";
  contentTerms([...analyse(text).keys()]);
  lookupsIn(text);
  await datesIn(text, 0);
  refersBack(text);
  namesIn(text);
}

interface Embedding extends EmbeddedQuestion {
  readonly texts?: readonly WeightedText[];
}

const NOT_EMBEDDED: Embedding = { partial: false, round: notAsked("round", "") };
const LATE: Embedding = { partial: true, round: { ...notAsked("round", "not done by the deadline"), asked: true } };

/**
 * The texts to embed. The question's vector is their weighted mean.
 *
 * A question that names exactly one speaker is rephrased as if that speaker said it, because messages are embedded with
 * the speaker's name in front. The same text without the name has half the weight; without that second text, what
 * others said about the speaker is not found.
 */
export async function textsOf(
  store: Pick<Store, "speakers">,
  { text, spaces }: Pick<Question, "text" | "spaces">,
): Promise<readonly WeightedText[]> {
  const names = namesIn(text);
  const speaker = names.length === 0 ? undefined : speakerIn(text, await store.speakers(spaces, names));
  if (speaker === undefined) return [{ text, weight: 1 }];
  const said = firstPerson(text, speaker);
  return [
    { text: said, weight: 2 },
    { text: said.slice(speaker.length + 2), weight: 1 },
  ];
}

/** With `bufferOnly`, the filter keeps only items that are not embedded yet; those are the ones in the buffers. */
const filterOf = ({ filter, bufferOnly }: Question) => (bufferOnly ? { ...filter, pending: true as const } : filter);

/** What each source was asked and what it returned. */
function reportsOf(
  question: Question,
  terms: readonly string[],
  embedded: Embedding,
  result: SearchResult | undefined,
  hasModel: boolean,
): readonly SourceReport[] {
  const noVectors =
    question.by === "words" ? "asked for words alone" : hasModel ? embedded.degraded : "there is no embedding model";
  const words: SourceReport =
    question.by === "meaning"
      ? notAsked("words", "asked for meaning alone")
      : terms.length === 0
        ? notAsked("words", "the question has no words")
        : result
          ? { source: "words", asked: true, ...result.words }
          : LATE_WORDS;
  if (noVectors !== undefined)
    return [words, ...(["round", "hybrid", "meaning"] as const).map((source) => notAsked(source, noVectors))];
  if (!embedded.vector || !result) {
    const why = embedded === LATE || !result ? "not done by the deadline" : "the question has no text";
    const isLate = embedded === LATE || !result;
    return [
      words,
      embedded.round,
      ...(["hybrid", "meaning"] as const).map((source) => ({ ...notAsked(source, why), asked: isLate })),
    ];
  }
  const { found, ms, missing } = result.vectors;
  const hybrid: SourceReport =
    embedded.vector.fresh.length === 0
      ? notAsked("hybrid", "it holds nothing of these spaces")
      : { source: "hybrid", asked: true, found: result.fresh, ms: 0 };
  const meaning: SourceReport = embedded.index
    ? notAsked("meaning", "the external index was asked")
    : question.bufferOnly
      ? notAsked("meaning", "only the buffers were to be asked")
      : { source: "meaning", asked: true, found, ms, ...(missing && { why: MISSING[missing] }) };
  return [words, embedded.round, hybrid, ...(embedded.index ? [embedded.index] : []), meaning];
}

const SHORT_OF_MEMORY = "the process is short of memory, so this space is searched by words only";
const MISSING = {
  loading: "the vectors of a space are still being loaded into memory",
  memory: SHORT_OF_MEMORY,
  other_space: "nothing is embedded by this model yet",
};

/** The ranking of a question whose deadline passed while it was queued. */
const tooLate = (question: Question): Ranking => ({
  found: [],
  candidates: 0,
  partial: true,
  isClockBound: false,
  sources: reportsOf(question, [question.text], LATE, undefined, true),
  reading: { text: question.text, terms: [], refersBack: false },
});

const LATE_WORDS: SourceReport = { ...notAsked("words", "not done by the deadline"), asked: true };
