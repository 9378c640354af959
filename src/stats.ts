/** The statistics and reports of the service. */
import { type Health, healthOf, type Target, targetsOf } from "./buffers/health.js";
import type { HybridBufferStats } from "./buffers/hybrid/hybrid-buffer.js";
import type { BufferedSession, MeaningPath, MeaningStats } from "./buffers/meaning-path.js";
import type { Latencies, Meter } from "./buffers/meter.js";
import type { QueryBuffer } from "./buffers/query/query-buffer.js";
import type { QueryBufferStats } from "./buffers/query/query-stats.js";
import type { RoundBufferStats, RoundView } from "./buffers/round-buffer.js";
import type { SpeculativeBuffer, SpeculativeStats } from "./buffers/speculative/speculative-buffer.js";
import type { WriteBuffer, WriteBufferStats } from "./buffers/write.js";
import type { GuardStatus } from "./embedding/guarded.js";
import type { EmbeddingCacheStats } from "./embedding/question-cache.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import type { MemoryPressure, ProcessMemory } from "./memory-pressure.js";
import { laneIn, spaceKey } from "./space-key.js";
import type { IndexingStats, Lane } from "./stores/indexing.js";
import type { Store, StoreStats } from "./stores/store.js";
import type { Scope } from "./types.js";

/**
 * Statistics of the QueryBuffer and of the cached question vectors; the latter are absent without an embedding model.
 */
export interface QueryStats extends QueryBufferStats {
  /** The cached question vectors; absent without an embedding model. */
  readonly embeddings?: EmbeddingCacheStats;
}

/** Counters, latencies and health of a service. */
export interface ServiceStats {
  /** The WriteBuffer. */
  readonly write: WriteBufferStats;
  /** The QueryBuffer. */
  readonly query: QueryStats;
  /** The SpeculativeBuffer; absent if it is turned off. */
  readonly speculative?: SpeculativeStats;
  /** What is stored. */
  readonly store: StoreStats & IndexingStats;
  /** RoundBuffer, HybridBuffer, embedder and external index; absent without an embedding model. */
  readonly meaning?: MeaningStats;
  /** How long operations took. */
  readonly latencies: Latencies;
  /** The memory of the process, and whether it is short. */
  readonly process: ProcessMemory;
  /** Whether everything works. */
  readonly health: Health;
  /** The targets for latency, memory and health, each with what was measured. */
  readonly targets: readonly Target[];
}

/** What `memory.stats` returns. */
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
  /** Items that could not be embedded. */
  readonly parked: number;
}

/** The result of `close`. Everything accepted was written. */
export interface CloseReport extends FlushReport {
  /** Number of items in the store. */
  readonly items: number;
}

/**
 * The buffers: their statistics, and what can be asked of one buffer alone. Messages enter and questions are answered
 * through the service only.
 */
export interface Buffers {
  /** The WriteBuffer. */
  readonly write: WriteBufferStats & {
    /** Resolves when all calls made so far are committed or have failed. Waits for no embedding. */
    flush(): Promise<void>;
  };
  /** The statistics are absent without an embedding model. */
  readonly round: Partial<RoundBufferStats> & {
    /** What gathers in one session, including tokens. */
    view(scope: Scope): Promise<RoundView>;
    /** Embeds what gathers in one session now. The vectors are written later, with their batch. */
    transfer(scope: Scope): Promise<void>;
  };
  /** Undefined without an embedding model. */
  readonly hybrid:
    | (HybridBufferStats & {
        /** Writes the vectors that are in memory now. Embeds nothing. */
        flush(): Promise<void>;
      })
    | undefined;
  /**
   * The sessions with items in the RoundBuffer or the HybridBuffer: all, or those of the scope. Items that wait in the
   * store alone are not among them.
   */
  sessions(scope?: Scope): readonly BufferedSession[];
  /** Undefined without an embedding model. */
  readonly embedder: GuardStatus | undefined;
  /** The QueryBuffer. */
  readonly query: QueryStats & {
    /** Drops all cached answers. */
    clear(): void;
  };
  /** Undefined if it is turned off. */
  readonly speculative:
    | (SpeculativeStats & {
        /** Drops all answers made ahead of time, and what was learned. */
        clear(): void;
      })
    | undefined;
}

/** Sessions with items in the RoundBuffer or the HybridBuffer. */
export interface BufferedSessions {
  /** At most 100, those that have waited longest first. */
  readonly items: readonly BufferedSession[];
  /** The number of such sessions. */
  readonly total: number;
}

/** The parts that have statistics. */
export interface Counted {
  readonly writes: WriteBuffer;
  readonly queries: QueryBuffer;
  readonly speculative: SpeculativeBuffer | undefined;
  readonly meaning: MeaningPath | undefined;
  readonly pressure: MemoryPressure;
}

export function buffersOf({ writes, queries, speculative, meaning }: Counted): Buffers {
  const { round, hybrid } = meaning?.stats ?? {};
  const laneOf = (scope: Scope) => laneIn(parseScope(scope));
  return {
    write: { ...writes.stats(), flush: () => writes.flushAll() },
    round: {
      ...round,
      view: async (scope) => {
        const lane = laneOf(scope);
        return (await meaning?.view(lane)) ?? EMPTY_ROUND;
      },
      transfer: async (scope) => {
        const lane = laneOf(scope);
        await meaning?.transfer(lane);
      },
    },
    hybrid: meaning && hybrid && { ...hybrid, flush: () => meaning.write() },
    sessions: (scope) => {
      const place = scope && parseScope(scope);
      return (meaning?.sessions ?? []).filter((one) => !place || isWithin(one, place));
    },
    embedder: meaning?.stats.embedder,
    query: { ...queryStats(queries, meaning), clear: () => queries.clear() },
    speculative: speculative && { ...speculative.stats, clear: () => speculative.forget() },
  };
}

export async function statsOf(parts: Counted, meter: Meter, store: Store): Promise<ServiceStats> {
  const meaning = parts.meaning?.stats;
  const { latencies, transferRate } = meter;
  const write = parts.writes.stats();
  const query = queryStats(parts.queries, parts.meaning);
  const speculative = parts.speculative?.stats;
  const process = parts.pressure.stats;
  const measured = { write, query, speculative, meaning, latencies, transferRate, process };
  return {
    write,
    query,
    ...(speculative && { speculative }),
    store: { ...(await store.stats()), ...(await store.indexingStats()) },
    ...(meaning && { meaning }),
    latencies,
    process,
    health: healthOf(measured),
    targets: targetsOf(measured),
  };
}

const isWithin = ({ space, session }: Lane, within: ParsedScope): boolean =>
  spaceKey(space) === spaceKey(within.space) && (within.session === undefined || session === within.session);

function queryStats(queries: QueryBuffer, meaning: MeaningPath | undefined): QueryStats {
  return { ...queries.stats, ...(meaning && { embeddings: meaning.questions }) };
}

const EMPTY_ROUND: RoundView = { currentTokens: 0, roundCount: 0, messageCount: 0 };
