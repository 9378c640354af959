/** Options and statistics of the Pipeline. */
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
  /** If false, an add waits until its items are embedded and written. */
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
  /** Called after vectors were written. */
  readonly onFlushed: () => void;
  /** Called when nothing is left to embed for the moment. */
  readonly onRest?: (() => void) | undefined;
}

export interface PipelineStats {
  /** The RoundBuffer. */
  readonly round: RoundBufferStats;
  /** The HybridBuffer. */
  readonly hybrid: HybridBufferStats;
  /** The embedding model. */
  readonly embedder: GuardStatus;
  /** Transactions for claims, vectors and parking. */
  readonly transactions: number;
  /** Sessions whose items this process is embedding at the moment. */
  readonly leases: number;
  /** The failure of the store after which its work is being retried. */
  readonly retrying?: string;
  /** If present, why nothing is embedded until the memory is reopened. */
  readonly fault?: string;
}
