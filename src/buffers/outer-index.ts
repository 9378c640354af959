/**
 * The external vector index beside the file's own vectors: what the outbox has delivered is searched there, what it has
 * not is searched in the file, so that nothing is missing meanwhile.
 *
 * The file stays the truth. The index is not asked when a filter narrows the question (it knows none of the attributes),
 * and when it fails the file answers for all.
 */
import { HoldfastError } from "../errors.js";
import type { VectorsRequest } from "../stores/indexing.js";
import { type Scored, type Store, scoredOf } from "../stores/store.js";
import type { VectorIndex } from "../stores/vector-index.js";
import type { SpaceRef } from "../types.js";

/** An index that is this far behind is of no use yet. */
const UNSENT_MAX = 10_000;

/** The index holds chunks, and several may be of one item. */
const CHUNKS_PER_ITEM = 4;

export interface OuterIndexStats {
  readonly name: string;
  readonly searches: number;
  readonly failures: number;
  readonly lastError?: string;
}

export class OuterIndex {
  readonly #store: Store;
  readonly #index: VectorIndex;
  #searches = 0;
  #failures = 0;
  #lastError: string | undefined;

  constructor(store: Store, index: VectorIndex) {
    this.#store = store;
    this.#index = index;
  }

  /** Undefined: ask the file. */
  async search(request: VectorsRequest): Promise<readonly Scored[] | undefined> {
    if (Object.keys(request.filter).length > 0) return undefined;
    try {
      // First what the index may not know yet: what is delivered between the two searches is then found by either.
      const unsent = await this.#store.searchVectors({ ...request, estimates: false, unsent: true, limit: UNSENT_MAX });
      if (unsent.length === UNSENT_MAX) return undefined;
      const { vector, limit } = request;
      const spaceIds = await this.#spaceIds(request.spaces);
      const points = await this.#index.search({ spaceIds, vector, limit: limit * CHUNKS_PER_ITEM });
      this.#searches++;
      const unsentKeys = new Set(unsent.map(({ key }) => key));
      const best = new Map<number, number>();
      for (const { key, score } of points)
        if (!unsentKeys.has(key)) best.set(key, Math.max(best.get(key) ?? -1, score));
      const known = await this.#current(request, best);
      return [...unsent, ...known].sort((a, b) => b.score - a.score || b.key - a.key).slice(0, limit);
    } catch (error) {
      if (!(error instanceof HoldfastError) || (error.code !== "index_failed" && error.code !== "vector_space"))
        throw error;
      this.#failures++;
      this.#lastError = error.message;
      return undefined;
    }
  }

  /** Points of items that are there and embedded. One that waits was edited: the index still has its old text's vector. */
  async #current(request: VectorsRequest, best: ReadonlyMap<number, number>): Promise<readonly Scored[]> {
    const { spaces, now } = request;
    const wanted = { spaces, keys: [...best.keys()], now };
    const items = await this.#store.read({ ...wanted, filter: {} });
    const waiting = await this.#store.read({ ...wanted, filter: { pending: true } });
    const outdated = new Set(waiting.map(({ key }) => key));
    return items.flatMap((item) => (outdated.has(item.key) ? [] : [scoredOf(item, best.get(item.key) ?? 0)]));
  }

  get stats(): OuterIndexStats {
    const lastError = this.#lastError;
    return {
      name: this.#index.name,
      searches: this.#searches,
      failures: this.#failures,
      ...(lastError !== undefined && { lastError }),
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
