/** Counters and latencies of the QueryBuffer. */
import { LRUCache } from "lru-cache";
import type { Hits, Level, Origin } from "../../types.js";
import type { Latency } from "../meter.js";
import type { AnswerCacheStats } from "./answer-cache.js";

/** Whether the question was answered with a search, own or shared. */
export const isCold = (origin: Origin): boolean => origin === "shared" || origin === "misses";

/**
 * Each answered question counts once, under one of the six origins. In the seed's terms, `cache_hits` is the sum of
 * the hits of answers, rankings, victims and ahead, and `cache_misses` is `misses + shared`.
 */
export interface QueryBufferStats {
  /** Questions answered. */
  readonly queries: number;
  /** L1: questions with cached answers. */
  readonly answers: { readonly hits: number; readonly entries: number; readonly evictions: number };
  /** Questions whose ranking was cached; only the content was read. */
  readonly rankings: { readonly hits: number };
  /** Questions whose ranking was in the victim cache. */
  readonly victims: { readonly hits: number; readonly entries: number; readonly evictions: number };
  /** Questions answered ahead of time. */
  readonly ahead: { readonly hits: number };
  /** Questions that joined an equal search under way. */
  readonly shared: number;
  /** Questions with a search of their own. */
  readonly misses: number;
  /** Questions asked before, and how many of them needed no search of their own. */
  readonly repeated: { readonly questions: number; readonly hits: number };
  /** Estimated size of the cache contents. */
  readonly bytes: number;
  /** The upper bound on questions in L1; 0 if caching is off. */
  readonly maxEntries: number;
  /** The upper bound on the memory of both levels together; 0 if caching is off. */
  readonly maxBytes: number;
  /** Hits by the level that found them, counted when they are read. */
  readonly levels: { readonly [level in Level]: number };
  /** cached: answered without a search · cold: answered with a search, own or shared. */
  readonly latency: { readonly cached: Latency; readonly cold: Latency };
}

/** Number of questions remembered to detect repeats: per cached question, and in total. */
const SEEN_PER_ENTRY = 10;
const SEEN_MAX = 10_000;
/** Estimated memory of one hash. */
const HASH_BYTES = 100;

export class QueryCounts {
  /**
   * Hashes of questions asked before, regardless of writes since. Only repeated questions show how well a cache works.
   */
  readonly #seen: LRUCache<number, true> | undefined;
  readonly #origins: { [origin in Origin]: number } = {
    answers: 0,
    rankings: 0,
    victims: 0,
    ahead: 0,
    shared: 0,
    misses: 0,
  };
  readonly #repeated = { questions: 0, hits: 0 };
  readonly #levels: { [level in Level]: number } = { round: 0, hybrid: 0, store: 0 };

  /** `cacheSize`: the number of questions cached; 0 if caching is off. */
  constructor(cacheSize: number) {
    if (cacheSize > 0) this.#seen = new LRUCache({ max: Math.min(cacheSize * SEEN_PER_ENTRY, SEEN_MAX) });
  }

  answered(origin: Origin, isRepeat: boolean): void {
    this.#origins[origin]++;
    if (isRepeat) {
      this.#repeated.questions++;
      if (origin !== "misses") this.#repeated.hits++;
    }
  }

  /** Records the question. Returns true if it was asked before. */
  isRepeat(key: string): boolean {
    const hash = hashOf(key);
    if (this.#seen?.get(hash)) return true;
    this.#seen?.set(hash, true);
    return false;
  }

  clear(): void {
    this.#seen?.clear();
  }

  read(hits: Hits): void {
    for (const { level } of hits) this.#levels[level]++;
  }

  summary(kept: AnswerCacheStats, latency: QueryBufferStats["latency"]): QueryBufferStats {
    const { answers, rankings, victims, ahead, shared, misses } = this.#origins;
    return {
      queries: answers + rankings + victims + ahead + shared + misses,
      answers: { hits: answers, entries: kept.kept, evictions: kept.evictions.kept },
      rankings: { hits: rankings },
      victims: { hits: victims, entries: kept.victims, evictions: kept.evictions.victims },
      ahead: { hits: ahead },
      shared,
      misses,
      repeated: { ...this.#repeated },
      bytes: kept.bytes + (this.#seen?.size ?? 0) * HASH_BYTES,
      maxEntries: kept.maxEntries,
      maxBytes: kept.maxBytes,
      levels: { ...this.#levels },
      latency,
    };
  }
}

/** FNV-1a in two lanes, 53 bits in total. A collision makes a count off by one. */
function hashOf(text: string): number {
  let [low, high] = [0x811c9dc5, 0xcbf29ce4];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193) ^ (low >>> 15);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
