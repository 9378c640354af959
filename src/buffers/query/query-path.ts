/** QueryPath: everything behind a query, put together: QueryBuffer and Retriever. */
import type { Presentation, Question } from "../../input/question.js";
import type { ResolvedOptions } from "../../options.js";
import type { Store } from "../../stores/store.js";
import type { Hits, SpaceRef } from "../../types.js";
import type { MeaningPath } from "../meaning-path.js";
import type { Meter } from "../meter.js";
import { answerBytes } from "./budget.js";
import type { EmbeddingCacheStats } from "./embeddings.js";
import { QueryBuffer } from "./query-buffer.js";
import type { QueryBufferStats } from "./query-stats.js";
import type { Place } from "./question-key.js";
import { Retriever } from "./retriever.js";

export interface QueryPathParts {
  readonly store: Store;
  readonly options: ResolvedOptions;
  readonly meter: Meter;
  readonly meaning?: MeaningPath | undefined;
}

/** The QueryBuffer, and the vectors of questions that are kept; those are absent without an embedding model. */
export interface QueryStats extends QueryBufferStats {
  readonly embeddings?: EmbeddingCacheStats;
}

export class QueryPath {
  readonly #buffer: QueryBuffer;
  readonly #meaning: MeaningPath | undefined;

  constructor({ store, options, meter, meaning }: QueryPathParts) {
    const { clock, buffer } = options;
    this.#meaning = meaning;
    const searchMeaning = meaning && { searchMeaning: meaning.search.bind(meaning) };
    const retriever = new Retriever({ store, clock, ...searchMeaning });
    this.#buffer = new QueryBuffer({
      store,
      clock,
      meter,
      cacheSize: buffer.query.cacheSize,
      maxBytes: answerBytes(buffer.query.maxBytes),
      rank: (question, now) => retriever.rank(question, now),
    });
  }

  query(place: Place, question: Question, presentation: Presentation): Promise<Hits> {
    return this.#buffer.query(place, question, presentation);
  }

  /** Lets go of what was found in a space, or anywhere. It would not be served again, but its text is to leave RAM too. */
  forget(space?: SpaceRef): void {
    this.#buffer.forget(space);
  }

  get stats(): QueryStats {
    const embeddings = this.#meaning?.questions;
    return { ...this.#buffer.stats, ...(embeddings && { embeddings }) };
  }
}
