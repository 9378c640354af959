/**
 * Retriever: the search behind the QueryBuffer. All sources are asked side by side, and one ranking comes back.
 *
 *   read      the question's words (reading.ts)
 *   search    by words, and by meaning on every level: the best of each (search.ts); while words are searched it is read what
 *             is to be embedded, and while both are, when it was and by whom
 *   complete  what one has found and the other has not is scored by the other, where it can matter
 *   fuse      one score per item (retrieval/fusion.ts)
 *
 * A source that can add nothing is not asked, and says why. At the deadline the answer is made of what is there.
 */
import { setImmediate as othersFirst } from "node:timers/promises";
import type { Clock } from "../../clock.js";
import type { Question } from "../../input/question.js";
import { type Fused, fuse } from "../../retrieval/fusion.js";
import type { SourceReport } from "../../types.js";
import type { FoundCandidate } from "./candidates.js";
import { Deadline } from "./deadline.js";
import type { Ranked, Ranking } from "./ranking.js";
import { type Reading, readSaid, readTerms, readTexts } from "./reading.js";
import { Runs } from "./runs.js";
import { Search, type Sources } from "./search.js";
import { notAsked } from "./source.js";

/** Enough to keep the store's reading threads busy. */
const RUNS = 3;

export interface RetrieverOptions extends Sources {
  readonly clock: Clock;
}

export class Retriever {
  readonly #options: RetrieverOptions;
  readonly #runs = new Runs(RUNS);

  constructor(options: RetrieverOptions) {
    this.#options = options;
  }

  async rank(question: Question, now: number): Promise<Ranking> {
    const { store, clock } = this.#options;
    const deadline = new Deadline(clock, question.deadlineMs);
    const entering = this.#runs.enter();
    await deadline.within(entering); // too late, it goes on and finds that out at each source
    try {
      const askedAt = question.askedAt ?? now;
      const terms = readTerms(question);
      const search = new Search(this.#options, question, terms, now);
      const [words, [texts, meaning], said] = await Promise.all([
        deadline.within(search.words()),
        readTexts(store, question).then(
          async (texts) => [texts, await deadline.within(search.meaning(texts))] as const,
        ),
        othersFirst().then(() => readSaid(question, askedAt)), // here, while the threads search
      ]);
      const reading = { terms, texts, ...said };
      const wish = { ...said, recency: question.recency, askedAt };
      const candidates = search.candidates(words, meaning);
      const complete = await deadline.within(search.complete(candidates, words, meaning, wish));
      const best = fuse(complete ?? candidates, wish, question.depth);
      const isTimed = question.askedAt === undefined && (reading.isRelative || question.recency > 0);
      return {
        found: best.map(rankedOf),
        candidates: candidates.length,
        partial: !words || !meaning || !complete || meaning.partial,
        ...(meaning?.degraded !== undefined && { degraded: meaning.degraded }),
        isClockBound: isTimed || candidates.some(endsByItself) || complete?.some(endsByItself) === true,
        sources: [words?.report ?? LATE_WORDS, ...(meaning?.sources ?? [LATE_MEANING])],
        reading: readingOf(question, reading, this.#options.searchMeaning !== undefined),
      };
    } finally {
      deadline.clear();
      entering.then((leave) => leave());
    }
  }
}

const endsByItself = ({ item }: FoundCandidate): boolean => item.until !== undefined;

function rankedOf({ candidate: { item, level }, score, why }: Fused<FoundCandidate>): Ranked {
  const { key, id, version, until } = item;
  return until === undefined ? { key, id, version, score, level, why } : { key, id, version, until, score, level, why };
}

function readingOf(question: Question, reading: Reading, isEmbedded: boolean): Ranking["reading"] {
  const { terms, texts, dates, refersBack } = reading;
  const [first] = texts;
  return {
    text: question.text,
    terms,
    ...(isEmbedded && first && { embedded: first.text }),
    ...(dates.length > 0 && { dates }),
    refersBack,
  };
}

const LATE_WORDS: SourceReport = { ...notAsked("words", "not done by the deadline"), asked: true };
const LATE_MEANING: SourceReport = { ...notAsked("meaning", "not done by the deadline"), asked: true };
