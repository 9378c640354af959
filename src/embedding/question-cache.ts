/**
 * EmbeddingCache: vectors of questions, by the spaces asked, vector space and text. They depend on nothing that is
 * written, so they never become stale; the least recently used are evicted. Keys contain what was asked, so they are
 * dropped with their spaces.
 *
 * Concurrent requests for the same vector share one embedding. If it fails, it fails for all of them and is not cached. If
 * the caller who started it aborts, one of the others starts again. Vectors are shared and must not be modified.
 */
import { LRUCache } from "lru-cache";
import { SingleFlight } from "../single-flight.js";
import { spaceKey } from "../space-key.js";
import type { SpaceRef, VectorSpace } from "../types.js";
import type { QuestionVector } from "./question.js";

const ENTRY_BYTES = 256;

export interface EmbeddingCacheOptions {
  /** Vectors at most; 0 keeps none. */
  readonly max: number;
  readonly maxBytes: number;
}

/** Counters of the cached question vectors. */
export interface EmbeddingCacheStats {
  /** Questions whose vector was cached. */
  readonly hits: number;
  /** Embeddings that another call had started. */
  readonly shared: number;
  /** Questions that had to be embedded. */
  readonly misses: number;
  /** Vectors dropped to keep the budget. */
  readonly evictions: number;
  /** Vectors in the cache. */
  readonly entries: number;
  /** Estimated size of the cache. */
  readonly bytes: number;
}

/** Undefined: the question has no text. */
type Embedded = QuestionVector | undefined;

export class EmbeddingCache {
  readonly #kept: LRUCache<string, QuestionVector> | undefined;
  readonly #flights = new SingleFlight<Embedded>();
  /** The signal that can abort a flight. */
  readonly #signals = new WeakMap<Promise<Embedded>, AbortSignal>();
  #hits = 0;
  #shared = 0;
  #misses = 0;
  #evictions = 0;
  #isConstrained = false;
  /** How often something was dropped. Flights that began before are not kept. */
  #drops = 0;

  constructor({ max, maxBytes }: EmbeddingCacheOptions) {
    if (max === 0 || maxBytes === 0) return;
    this.#kept = new LRUCache({
      max,
      maxSize: maxBytes,
      sizeCalculation: ({ vector }, key) => vector.byteLength + 2 * key.length + ENTRY_BYTES,
      dispose: (_vector, _key, reason) => {
        if (reason === "evict") this.#evictions++;
      },
    });
  }

  /** The vector of a text that `spaces` are asked for. `signal` is the one that aborts `embed`. */
  async get(
    space: VectorSpace,
    spaces: readonly SpaceRef[],
    text: string,
    embed: () => Promise<Embedded>,
    signal?: AbortSignal,
  ): Promise<Embedded> {
    const key = JSON.stringify([spaces.map(spaceKey), space.model, space.runtime, space.dimensions, text]);
    const kept = this.#kept?.get(key);
    if (kept) {
      this.#hits++;
      return kept;
    }
    for (let flight = this.#flights.find(key); flight; flight = this.#flights.find(key)) {
      try {
        const vector = await flight;
        this.#shared++;
        return vector;
      } catch (error) {
        if (!this.#signals.get(flight)?.aborted || signal?.aborted) throw error;
      }
    }
    this.#misses++;
    const drops = this.#drops;
    const flight = this.#flights.start(key, async () => {
      const vector = await embed();
      if (vector && !this.#isConstrained && drops === this.#drops) this.#kept?.set(key, vector);
      return vector;
    });
    if (signal) this.#signals.set(flight, signal);
    return flight;
  }

  /** Keeps nothing while the process is short of memory. */
  constrain(isConstrained: boolean): void {
    this.#isConstrained = isConstrained;
    if (isConstrained) this.#kept?.clear();
  }

  /** Drops the vectors of what a space was asked for, or all. */
  forget(space?: SpaceRef): void {
    const name = space && spaceKey(space);
    for (const key of [...(this.#kept?.keys() ?? [])])
      if (name === undefined || JSON.parse(key)[0].includes(name)) this.#kept?.delete(key);
    this.#flights.clear();
    this.#drops++;
  }

  get stats(): EmbeddingCacheStats {
    const { size = 0, calculatedSize = 0 } = this.#kept ?? {};
    const counts = { hits: this.#hits, shared: this.#shared, misses: this.#misses, evictions: this.#evictions };
    return { ...counts, entries: size, bytes: calculatedSize };
  }
}
