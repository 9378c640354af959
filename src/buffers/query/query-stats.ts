/** What the QueryBuffer has done, in numbers. */
import type { Hits, Level } from "../../types.js";
import { type Latency, Timings } from "../meter.js";
import type { EntryCacheStats } from "./entry-cache.js";

/**
 * Where an answer came from. answers: finished, from L1 · rankings: ranked before, only content was read · victims: the
 * same, from the victims · shared: from a search that was under way · misses: from a search of its own.
 */
export type Origin = "answers" | "rankings" | "victims" | "shared" | "misses";

/**
 * Every answered question counts once as one of the five origins. In the seed's names: `cache_hits` is the sum of the
 * hits of answers, rankings and victims, `cache_misses` is `misses + shared`.
 */
export interface QueryBufferStats {
  readonly queries: number;
  /** L1: questions whose answers are kept. */
  readonly answers: { readonly hits: number; readonly entries: number; readonly evictions: number };
  readonly rankings: { readonly hits: number };
  readonly victims: { readonly hits: number; readonly entries: number; readonly evictions: number };
  readonly shared: number;
  readonly misses: number;
  /** Questions that had been asked before, and how many of them needed no search of their own. */
  readonly repeated: { readonly questions: number; readonly hits: number };
  /** What is kept, estimated. */
  readonly bytes: number;
  /** Hits by the level that found them, counted when they were read. */
  readonly levels: { readonly [level in Level]: number };
  /** cached: without a search · cold: with one, own or shared. */
  readonly latency: { readonly cached: Latency; readonly cold: Latency };
}

export class QueryCounts {
  readonly #origins: { [origin in Origin]: number } = { answers: 0, rankings: 0, victims: 0, shared: 0, misses: 0 };
  readonly #repeated = { questions: 0, hits: 0 };
  readonly #levels: { [level in Level]: number } = { round: 0, hybrid: 0, store: 0 };
  readonly #cached = new Timings();
  readonly #cold = new Timings();

  answered(origin: Origin, isRepeat: boolean, ms: number): void {
    this.#origins[origin]++;
    if (isRepeat) {
      this.#repeated.questions++;
      if (origin !== "misses") this.#repeated.hits++;
    }
    const timings = origin === "shared" || origin === "misses" ? this.#cold : this.#cached;
    timings.record(ms);
  }

  read(hits: Hits): void {
    for (const { level } of hits) this.#levels[level]++;
  }

  summary(kept: EntryCacheStats): QueryBufferStats {
    const { answers, rankings, victims, shared, misses } = this.#origins;
    return {
      queries: answers + rankings + victims + shared + misses,
      answers: { hits: answers, entries: kept.kept, evictions: kept.evictions.kept },
      rankings: { hits: rankings },
      victims: { hits: victims, entries: kept.victims, evictions: kept.evictions.victims },
      shared,
      misses,
      repeated: { ...this.#repeated },
      bytes: kept.bytes,
      levels: { ...this.#levels },
      latency: { cached: this.#cached.summary, cold: this.#cold.summary },
    };
  }
}
