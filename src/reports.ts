/** What the service tells about itself, and what it is made of. */
import type { Health } from "./buffers/health.js";
import type { MeaningStats } from "./buffers/meaning-path.js";
import type { Latencies } from "./buffers/meter.js";
import type { QueryStats } from "./buffers/query/query-path.js";
import type { RoundView } from "./buffers/round-buffer.js";
import type { WriteBufferStats } from "./buffers/write.js";
import type { Embedder } from "./embedding/embedder.js";
import type { Extractor } from "./extraction/extractor.js";
import type { IndexingStats } from "./stores/indexing.js";
import type { Store, StoreStats } from "./stores/store.js";
import type { VectorIndex } from "./stores/vector-index.js";
import type { Scope } from "./types.js";

export interface ServiceStats {
  readonly write: WriteBufferStats;
  readonly query: QueryStats;
  readonly store: StoreStats & IndexingStats;
  /** RoundBuffer, HybridBuffer, embedder, external index; absent without an embedding model. */
  readonly meaning?: MeaningStats;
  readonly latencies: Latencies;
  readonly health: Health;
}

/** What waits after a flush or a close: on disk, and taken up again by whoever opens the file next. */
export interface FlushReport {
  /** Items that are not embedded yet, those parked not counted. */
  readonly pending: number;
  readonly parked: number;
}

/** What `close` has to say: everything accepted was written. */
export interface CloseReport extends FlushReport {
  readonly commit: number;
  readonly items: number;
}

/** What works behind the service; those given by the caller are his to close. */
export interface ServiceParts {
  readonly embedder?: Embedder | undefined;
  readonly index?: VectorIndex | undefined;
  readonly extractor?: Extractor | undefined;
}

/** The buffers, to look at. */
export interface Buffers {
  readonly write: WriteBufferStats;
  /** What gathers for one session, tokens included. */
  round(scope: Scope): Promise<RoundView>;
  readonly hybrid: MeaningStats["hybrid"] | undefined;
  readonly query: QueryStats;
}

/** What of the store may be read as it is by what stands above the service: the registry, keys, transfers. */
export type StoreView = Pick<
  Store,
  | "entries"
  | "sessions"
  | "versions"
  | "changes"
  | "keys"
  | "get"
  | "list"
  | "chunks"
  | "facts"
  | "blocks"
  | "blockVersions"
  | "promotions"
  | "proveWritable"
  | "mirrors"
>;
