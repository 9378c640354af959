/** BufferStore and context engines, usable alone: importing them loads no model, no thread, and no store of memories. */
export { type Clock, systemClock } from "../../clock.js";
export { type ErrorCode, HoldfastError } from "../../errors.js";
export {
  type BufferedEntry,
  type BufferStore,
  type BufferStoreOptions,
  INJECTED_IDS_MAX,
  type Lease,
  type LeasedEntry,
  type LeaseOptions,
} from "./buffer-store.js";
export type { CompactionState, CompactParams, CompactReason, CompactResult } from "./compaction.js";
export {
  type AfterTurnParams,
  type AssembleParams,
  type AssembleResult,
  ContextEngine,
  type ContextEngineOptions,
} from "./context-engine.js";
export type { ContextoBackend, Episode, JsonMessage, SearchItem } from "./contexto-backend.js";
export { DefaultContextEngine } from "./default-context-engine.js";
export { InMemoryBufferStore } from "./in-memory-buffer-store.js";
export type { RecalledMessage } from "./recalled.js";
export { SlidingWindowEngine, type SlidingWindowOptions } from "./sliding-window-engine.js";
export { SqliteBufferStore, type SqliteBufferStoreOptions } from "./sqlite-buffer-store.js";
export type { WebhookPayload } from "./webhook-payload.js";
