/**
 * EmbeddingCache: vectors of questions, by vector space and text. They depend on nothing that is written, so they stay
 * right for ever; they go when there is no room, least recently used first.
 *
 * Those who want the same vector at the same time share one embedding. If it fails it fails for all of them and is not
 * kept. If it was given up by the caller who began it, the others are not given up with him: one of them begins anew.
 * Vectors are shared: nobody may write into them.
 */
import { LRUCache } from "lru-cache";
import type { QuestionVector } from "../../embedding/question.js";
import type { VectorSpace } from "../../types.js";
import { Flights } from "./flights.js";
import { bytesOfText } from "./weight.js";

const ENTRY_BYTES = 256;

export interface EmbeddingCacheOptions {
  /** Vectors at most; 0 keeps none. */
  readonly max: number;
  readonly maxBytes: number;
}

export interface EmbeddingCacheStats {
  readonly hits: number;
  /** Embeddings that somebody else had begun. */
  readonly shared: number;
  readonly misses: number;
  /** How many went for want of room. */
  readonly evictions: number;
  readonly entries: number;
  readonly bytes: number;
}

/** Undefined: the question has no text. */
type Embedded = QuestionVector | undefined;

export class EmbeddingCache {
  readonly #kept: LRUCache<string, QuestionVector> | undefined;
  readonly #flights = new Flights<Embedded>();
  /** By whom a flight can be given up. */
  readonly #signals = new WeakMap<Promise<Embedded>, AbortSignal>();
  #hits = 0;
  #shared = 0;
  #misses = 0;
  #evictions = 0;

  constructor({ max, maxBytes }: EmbeddingCacheOptions) {
    if (max === 0 || maxBytes === 0) return;
    this.#kept = new LRUCache({
      max,
      maxSize: maxBytes,
      sizeCalculation: ({ vector }, key) => vector.byteLength + bytesOfText(key) + ENTRY_BYTES,
      dispose: (_vector, _key, reason) => {
        if (reason === "evict") this.#evictions++;
      },
    });
  }

  /** The text's vector. `signal` is the one with which the caller can give up his `embed`, if he can. */
  async get(space: VectorSpace, text: string, embed: () => Promise<Embedded>, signal?: AbortSignal): Promise<Embedded> {
    const key = `${space.model}\n${space.runtime}\n${space.dimensions}\n${text}`;
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
    const flight = this.#flights.start(key, async () => {
      const vector = await embed();
      if (vector) this.#kept?.set(key, vector);
      return vector;
    });
    if (signal) this.#signals.set(flight, signal);
    return flight;
  }

  clear(): void {
    this.#kept?.clear();
    this.#flights.clear();
  }

  get stats(): EmbeddingCacheStats {
    const { size = 0, calculatedSize = 0 } = this.#kept ?? {};
    const counts = { hits: this.#hits, shared: this.#shared, misses: this.#misses, evictions: this.#evictions };
    return { ...counts, entries: size, bytes: calculatedSize };
  }
}
