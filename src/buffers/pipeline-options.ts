/** What the Pipeline is made of, and what it tells about itself. */
import type { Clock } from "../clock.js";
import type { GuardedEmbedder, GuardStatus } from "../embedding/guarded.js";
import type { Events } from "../events/events.js";
import type { ChunkStrategyName } from "../retrieval/chunks/chunk.js";
import type { Store } from "../stores/store.js";
import type { HybridBufferStats } from "./hybrid/hybrid-buffer.js";
import type { Meter } from "./meter.js";
import type { RoundBufferStats } from "./round-buffer.js";

export interface PipelineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly embedder: GuardedEmbedder;
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
  /** False: whoever adds waits until what he added is embedded and written. */
  readonly enabled: boolean;
  readonly roundBuffer: {
    readonly maxTokens: number;
    readonly maxSize: number;
    readonly idleMs: number;
    readonly eager: boolean;
  };
  readonly hybridBuffer: {
    readonly maxSize: number;
    readonly maxBytes: number;
    readonly idleMs: number;
    readonly forceMs: number;
    readonly leaseMs: number;
    readonly chunkStrategy: ChunkStrategyName;
  };
  readonly events?: Events | undefined;
  /** Vectors were written. */
  readonly onFlushed: () => void;
}

export interface PipelineStats {
  readonly round: RoundBufferStats;
  readonly hybrid: HybridBufferStats;
  readonly embedder: GuardStatus;
  /** Transactions of claims, vectors and parking. */
  readonly transactions: number;
  readonly leases: number;
  /** Why nothing is embedded until the memory is opened again, if so. */
  readonly fault?: string;
}
