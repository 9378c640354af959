/** Every public name of the library. */
export type { Condition, Health, Indicator } from "./buffers/health.js";
export type { MeaningStats } from "./buffers/meaning-path.js";
export type { Latencies, Latency } from "./buffers/meter.js";
export type { EmbeddingCacheStats } from "./buffers/query/embeddings.js";
export type { QueryStats } from "./buffers/query/query-path.js";
export type { RoundView, TransferReason } from "./buffers/round-buffer.js";
export { type BufferedWrite, Turn } from "./buffers/turn.js";
export type { WriteBufferStats } from "./buffers/write.js";
export { type Clock, systemClock } from "./clock.js";
export { type ErrorCode, HoldfastError } from "./errors.js";
export type { AddOptions, UpdateOptions } from "./input/call.js";
export type { ListOptions } from "./input/list.js";
export type { PageOptions } from "./input/page.js";
export type { QueryOptions } from "./input/query.js";
export { Memory, type OpenOptions, openMemory, Session } from "./memory.js";
export type { Options } from "./options.js";
export type { Entries, SessionQuery, Sessions } from "./registry.js";
export {
  BufferService,
  type Buffers,
  type CloseReport,
  type FlushReport,
  type ServiceParts,
  type ServiceStats,
} from "./service.js";
export type { ParkedItem } from "./stores/indexing.js";
export type {
  Added,
  Entry,
  Explanation,
  Filter,
  ForgetReceipt,
  Hit,
  Hits,
  Instant,
  Item,
  ItemPatch,
  Json,
  Kind,
  Level,
  Metadata,
  NewItem,
  NewMessage,
  Order,
  Page,
  Part,
  Role,
  Scope,
  SessionEntry,
  Source,
  SourceReport,
  SpaceKind,
  SpaceRef,
  Tier,
  VectorSpace,
  Why,
} from "./types.js";
