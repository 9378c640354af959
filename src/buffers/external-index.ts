/**
 * ExternalIndex: searches an external vector index in addition to the file's own vectors. Items that the outbox has
 * delivered are searched in the index, all others in the file, so nothing is missing in between.
 *
 * The file is authoritative. The index is not used when the question has a filter, because it stores no attributes. If
 * the index fails, the file is searched for everything.
 */
import { HoldfastError } from "../errors.js";
import type { OutsideHits } from "../stores/search.js";
import type { Store } from "../stores/store.js";
import type { VectorIndex } from "../stores/vector-index.js";
import type { SourceReport, SpaceRef } from "../types.js";
import { asked, type VectorQuestion } from "./query/question-vectors.js";

/** An index with this many undelivered items is not used. */
const UNSENT_MAX = 10_000;

/** The index stores chunks, and one item may have several. */
const CHUNKS_PER_ITEM = 4;

export interface ExternalIndexStats {
  readonly name: string;
  readonly searches: number;
  readonly failures: number;
  readonly lastError?: string;
  /** Why the last search failed; absent once another one has succeeded. */
  readonly searchError?: string;
}

export interface ExternalAnswer {
  readonly hits: OutsideHits;
  readonly report: SourceReport;
}

export class ExternalIndex {
  readonly #store: Store;
  readonly #index: VectorIndex;
  #searches = 0;
  #failures = 0;
  #lastError: string | undefined;
  #searchError: string | undefined;

  constructor(store: Store, index: VectorIndex) {
    this.#store = store;
    this.#index = index;
  }

  /** Searches the index. Undefined means: search the file's own vectors. */
  async search(question: VectorQuestion, vector: Float32Array): Promise<ExternalAnswer | undefined> {
    if (Object.keys(question.filter).length > 0) return undefined;
    const started = performance.now();
    try {
      // Read the undelivered items first: an item delivered in between is then found by at least one of the two.
      const unsent = await this.#store.unsent(question.spaces, UNSENT_MAX);
      if (unsent.length === UNSENT_MAX) return undefined;
      const spaceIds = await this.#spaceIds(question.spaces);
      const points = await this.#index.search({ spaceIds, vector, limit: question.limit * CHUNKS_PER_ITEM });
      this.#searches++;
      this.#searchError = undefined;
      const best = new Map<number, number>();
      for (const { key, score } of points) best.set(key, Math.max(best.get(key) ?? -1, score));
      const items = [...best].map(([key, score]) => ({ key, score }));
      return { hits: { items, unsent }, report: asked("index", items.length, started) };
    } catch (error) {
      if (!(error instanceof HoldfastError) || (error.code !== "index_failed" && error.code !== "vector_space"))
        throw error;
      this.#failures++;
      this.#lastError = error.message;
      this.#searchError = error.message;
      return undefined;
    }
  }

  get stats(): ExternalIndexStats {
    const [lastError, searchError] = [this.#lastError, this.#searchError];
    return {
      name: this.#index.name,
      searches: this.#searches,
      failures: this.#failures,
      ...(lastError !== undefined && { lastError }),
      ...(searchError !== undefined && { searchError }),
    };
  }

  async #spaceIds(spaces: readonly SpaceRef[]): Promise<readonly string[]> {
    const pages = await Promise.all(
      spaces.map((space) => {
        const [[kind, name]] = Object.entries(space) as [["user" | "agent" | "team", string]];
        return this.#store.entries({ kind, name, limit: 1 });
      }),
    );
    return pages.flatMap(({ items }) => items.map(({ id }) => id));
  }
}
