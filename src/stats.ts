/** The statistics and reports of the service. */
import { type Health, healthOf } from "./buffers/health.js";
import type { MeaningPath, MeaningStats } from "./buffers/meaning-path.js";
import type { Latencies, Meter } from "./buffers/meter.js";
import type { QueryBufferStats } from "./buffers/query/query-stats.js";
import type { RoundView } from "./buffers/round-buffer.js";
import type { SpeculativeStats } from "./buffers/speculative/speculative-buffer.js";
import type { WriteBufferStats } from "./buffers/write.js";
import type { EmbeddingCacheStats } from "./embedding/question-cache.js";
import type { IndexingStats } from "./stores/indexing.js";
import type { Store, StoreStats } from "./stores/store.js";
import type { Scope } from "./types.js";

/**
 * Statistics of the QueryBuffer and of the cached question vectors; the latter are absent without an embedding model.
 */
export interface QueryStats extends QueryBufferStats {
  readonly embeddings?: EmbeddingCacheStats;
}

export function queryStats(buffer: { readonly stats: QueryBufferStats }, meaning: MeaningPath | undefined): QueryStats {
  return { ...buffer.stats, ...(meaning && { embeddings: meaning.questions }) };
}

export interface ServiceStats {
  readonly write: WriteBufferStats;
  readonly query: QueryStats;
  /** The SpeculativeBuffer; absent if it is turned off. */
  readonly speculative?: SpeculativeStats;
  readonly store: StoreStats & IndexingStats;
  /** RoundBuffer, HybridBuffer, embedder and external index; absent without an embedding model. */
  readonly meaning?: MeaningStats;
  readonly latencies: Latencies;
  readonly health: Health;
}

/** The parts that are counted. */
export interface Counted {
  readonly store: Pick<Store, "stats" | "indexingStats">;
  readonly meter: Meter;
  readonly writes: { stats(): WriteBufferStats };
  readonly queries: { readonly stats: QueryBufferStats };
  readonly speculative: { readonly stats: SpeculativeStats } | undefined;
  readonly meaning: MeaningPath | undefined;
}

export async function statsOf({ store, meter, ...parts }: Counted): Promise<ServiceStats> {
  const meaning = parts.meaning?.stats;
  const write = parts.writes.stats();
  const query = queryStats(parts.queries, parts.meaning);
  const speculative = parts.speculative?.stats;
  const bytes = write.waitingBytes + (meaning?.hybrid.bytes ?? 0) + query.bytes + (speculative?.bytes ?? 0);
  return {
    write,
    query,
    ...(speculative && { speculative }),
    store: { ...(await store.stats()), ...(await store.indexingStats()) },
    ...(meaning && { meaning }),
    latencies: meter.latencies,
    health: healthOf(meter, bytes, query.repeated),
  };
}

export interface MemoryStats extends ServiceStats {
  /** Environment variables that start with HOLDFAST_ but name no option. They have no effect. */
  readonly ignoredVariables: readonly string[];
}

/**
 * What is still pending after a flush or a close. It is on disk, and the next process that opens the file continues.
 */
export interface FlushReport {
  /** Items that are not embedded yet, excluding parked ones. */
  readonly pending: number;
  readonly parked: number;
}

/** The result of `close`. Everything accepted was written. */
export interface CloseReport extends FlushReport {
  readonly items: number;
}

/** The state of the buffers. */
export interface Buffers {
  readonly write: WriteBufferStats;
  /** The contents of one session's RoundBuffer, including tokens. */
  round(scope: Scope): Promise<RoundView>;
  readonly hybrid: MeaningStats["hybrid"] | undefined;
  readonly query: QueryStats;
  readonly speculative: SpeculativeStats | undefined;
}
