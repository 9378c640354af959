/** Every public name of the library. */
export { type BufferedWrite, Turn } from "./buffers/turn.js";
export type { WriteBufferStats } from "./buffers/write.js";
export { type Clock, systemClock } from "./clock.js";
export { type ErrorCode, HoldfastError } from "./errors.js";
export type { AddOptions, UpdateOptions } from "./input/call.js";
export type { ListOptions } from "./input/list.js";
export type { QueryOptions } from "./input/query.js";
export { Memory, type OpenOptions, openMemory, Session } from "./memory.js";
export type { Options } from "./options.js";
export type { Entries, PageOptions, SessionQuery, Sessions } from "./registry.js";
export { BufferService, type CloseReport, type ServiceStats } from "./service.js";
export type {
  Added,
  Entry,
  Filter,
  ForgetReceipt,
  Hit,
  Hits,
  Instant,
  Item,
  ItemPatch,
  Json,
  Kind,
  Metadata,
  NewItem,
  NewMessage,
  Order,
  Page,
  Part,
  Role,
  Scope,
  SessionEntry,
  SpaceKind,
  SpaceRef,
  Tier,
} from "./types.js";
