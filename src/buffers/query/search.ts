/** One question's way through the sources. */
import { HoldfastError } from "../../errors.js";
import type { Question } from "../../input/question.js";
import { contenders, isNear, NEAREST, type Wish } from "../../retrieval/fusion.js";
import type { FoundItems } from "../../stores/estimates.js";
import type { Scored, Store, WordsRequest } from "../../stores/store.js";
import type { SourceReport } from "../../types.js";
import {
  type FoundOtherwise,
  type Meaning,
  type MeaningRequest,
  type MeaningScores,
  NO_SCORES,
  type WeightedText,
} from "../meaning.js";
import { candidatesOf, type FoundCandidate, scoredAs } from "./candidates.js";
import { notAsked, Stopwatch } from "./source.js";

/** Candidates by words: what they rank low, meaning may rank high. More than these find hardly more. */
const WORDS_MIN = 128;

export interface Sources {
  readonly store: Store;
  /** Absent without an embedding model. */
  readonly searchMeaning?: (request: MeaningRequest) => Promise<Meaning>;
}

export interface Words {
  readonly hits: FoundItems<Scored>;
  readonly report: SourceReport;
}

export class Search {
  readonly #sources: Sources;
  readonly #question: Question;
  readonly #request: Omit<WordsRequest, "limit">;
  readonly #limits: { readonly words: number; readonly meaning: number };
  /** Items whose words have been scored. */
  readonly #known = new Map<number, Scored>();

  constructor(sources: Sources, question: Question, terms: readonly string[], now: number) {
    this.#sources = sources;
    this.#question = question;
    const { spaces, filter, bufferOnly, depth } = question;
    // What the buffers hold are the items that are not indexed yet.
    this.#request = { spaces, terms, filter: bufferOnly ? { ...filter, pending: true } : filter, now };
    this.#limits = { words: Math.max(depth, WORDS_MIN), meaning: Math.max(depth, NEAREST) };
  }

  async words(): Promise<Words> {
    if (this.#question.by === "meaning") return { hits: [], report: notAsked("words", "asked for meaning alone") };
    if (this.#request.terms.length === 0) return { hits: [], report: notAsked("words", "the question has no words") };
    const watch = new Stopwatch();
    const hits = await this.#sources.store.searchWords({
      ...this.#request,
      limit: this.#limits.words,
      estimates: true,
    });
    return { hits, report: watch.report("words", hits.length) };
  }

  async meaning(texts: readonly WeightedText[]): Promise<Meaning> {
    const { searchMeaning } = this.#sources;
    const { by } = this.#question;
    if (by === "words") return noMeaning("asked for words alone");
    if (!searchMeaning) {
      if (by === undefined) return noMeaning("there is no embedding model");
      throw new HoldfastError("unsupported", "this memory has no embedding model to search by meaning with", {
        hint: "ask without `by`, or open it with a model",
      });
    }
    const { filter, now } = this.#request;
    return searchMeaning({
      texts,
      spaces: this.#question.spaces,
      filter,
      now,
      limit: this.#limits.meaning,
      deadlineMs: this.#question.deadlineMs,
      bufferOnly: this.#question.bufferOnly,
      check: async (keys) => new Map((await this.#scoreWords(keys)).map((item) => [item.key, item])),
    });
  }

  candidates(words: Words | undefined, meaning: Meaning | undefined): readonly FoundCandidate[] {
    return candidatesOf(words?.hits ?? [], meaning ?? { hits: [] });
  }

  /**
   * Those that can be among the best, what one arm has found and the other has not scored by the other. Undefined if that
   * cannot be done any more, because the vectors have been replaced by those of another model.
   */
  async complete(
    candidates: readonly FoundCandidate[],
    words: Words | undefined,
    meaning: Meaning | undefined,
    wish: Wish,
  ): Promise<readonly FoundCandidate[] | undefined> {
    const unseen = {
      words: unseenIn(words?.hits, this.#limits.words),
      meaning: meaning?.partial ? 1 : unseenIn(meaning?.hits, this.#limits.meaning),
    };
    const { depth } = this.#question;
    const near = candidates.filter(isNear);
    const far = near.length < depth ? candidates.filter((candidate) => !isNear(candidate)) : [];
    // Where vectors are missing, the nearest of all may be among them, by which the others are measured.
    const isMeasured = meaning === undefined || !meaning.partial;
    const left = [...(isMeasured ? contenders(near, wish, depth, unseen) : near.map(wanted)), ...far.map(wanted)];
    const withoutMeaning: FoundOtherwise[] = [];
    const withoutWords: number[] = [];
    for (const { candidate, floor } of left) {
      if (candidate.meaning === undefined) withoutMeaning.push({ item: candidate.item, floor });
      if (candidate.words === undefined) withoutWords.push(candidate.key);
    }
    const [moreWords, moreMeaning] = await Promise.all([
      unseen.words !== undefined ? this.#scoreWords(withoutWords) : [],
      unseen.meaning !== undefined && meaning ? scoreAll(meaning, withoutMeaning) : NO_SCORES,
    ]);
    if (!moreMeaning) return undefined;
    const wordsOf = new Map(moreWords.map((scored) => [scored.key, scored]));
    const complete: FoundCandidate[] = [];
    for (const { candidate } of left) {
      if (moreMeaning.below.has(candidate.key)) continue;
      const { score: meaning = candidate.meaning, level = candidate.level } =
        moreMeaning.scored.get(candidate.key) ?? {};
      complete.push(scoredAs(candidate, wordsOf.get(candidate.key), meaning, level));
    }
    return complete;
  }

  async #scoreWords(keys: readonly number[]): Promise<readonly Scored[]> {
    const unknown = keys.filter((key) => !this.#known.has(key));
    if (unknown.length > 0) {
      const scored = await this.#sources.store.searchWords({ ...this.#request, keys: unknown, limit: unknown.length });
      for (const item of scored) this.#known.set(item.key, item);
    }
    return keys.flatMap((key) => this.#known.get(key) ?? []);
  }
}

const wanted = (candidate: FoundCandidate) => ({ candidate, floor: Number.NEGATIVE_INFINITY });

/**
 * Scores what words have found. If something of it is nearer than all that meaning had found (an index that is not exact
 * may miss that), floors were measured by the wrong one, and are dropped.
 */
async function scoreAll(
  { hits, score }: Meaning,
  items: readonly FoundOtherwise[],
): Promise<MeaningScores | undefined> {
  const scores = await score(items);
  const nearest = hits.reduce((best, hit) => Math.max(best, hit.score), 0);
  if (!scores || scores.below.size === 0 || [...scores.scored.values()].every((found) => found.score <= nearest))
    return scores;
  return score(items.map(({ item }) => ({ item, floor: Number.NEGATIVE_INFINITY })));
}

/** The most that an item can score which an arm has not told of: no more than its last. Undefined if it has told of all. */
function unseenIn(hits: readonly Scored[] = [], limit: number): number | undefined {
  return hits.length < limit ? undefined : Math.max(hits.at(-1)?.score ?? 0, 0);
}

const noMeaning = (why: string): Meaning => ({
  hits: [],
  partial: false,
  sources: (["round", "hybrid", "meaning"] as const).map((source) => notAsked(source, why)),
  score: async () => NO_SCORES,
});
