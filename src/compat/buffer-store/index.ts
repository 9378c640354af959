/** The BufferStore, usable alone: importing it loads no model, no thread, and nothing else of the library. */
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
export { InMemoryBufferStore } from "./in-memory-buffer-store.js";
export { SqliteBufferStore, type SqliteBufferStoreOptions } from "./sqlite-buffer-store.js";
export type { WebhookPayload } from "./webhook-payload.js";
