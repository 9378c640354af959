/** `holdfast/client`: a memory behind a server. Runs wherever `fetch` exists; does not need Node. */
export type {
  BlockEditInput,
  BlockSettings,
  EditOptions,
  HistoryOptions,
  NewBlock,
} from "../blocks/block-input.js";
export type { EditedBlock } from "../blocks/memory-blocks.js";
export type { Blocks } from "../blocks/session-blocks.js";
export type { BufferedWrite, Turn } from "../buffers/turn.js";
export type { Rights } from "../calls/caller.js";
export type { Clock } from "../clock.js";
export type { ConfigOrigin, ConfigSetting } from "../config.js";
export type { Context, ContextItem, LeftItem, RetractedItem } from "../context/context.js";
export { renderAnthropic, renderOpenAI, renderText } from "../context/render.js";
export type { MemoryConfig } from "../conversation/memory-config.js";
export type { SessionConversation } from "../conversation/session-conversation.js";
export { type ErrorCode, HoldfastError } from "../errors.js";
export type { MemoryEvent, MissedEvents } from "../events/event.js";
export type { Extraction, ExtractOptions } from "../facts/extraction-run.js";
export type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "../facts/fact-input.js";
export type { FactOutcome } from "../facts/memory-facts.js";
export type { Facts } from "../facts/session-facts.js";
export type { UpdateOptions, WriteOptions } from "../input/call.js";
export type { ContextOptions } from "../input/context.js";
export type { ListOptions } from "../input/list.js";
export type { PageOptions } from "../input/page.js";
export type { NewPoint, PointSearchOptions, VectorInput } from "../input/points.js";
export type { PromoteOptions } from "../input/promotion.js";
export type { QueryOptions } from "../input/query.js";
export type { CreatedKey } from "../keys/api-keys.js";
export type { NewKey } from "../keys/key-input.js";
export type { MemoryHandle } from "../memory.js";
export type { HistoryQuery, StatsHistory } from "../metrics/history.js";
export type { Entries, SessionQuery, Sessions } from "../registry.js";
export type { Session } from "../session.js";
export type { BufferedSessions, FlushReport, MemoryStats, ServiceStats } from "../stats.js";
export type { Block, BlockEdit } from "../stores/blocks.js";
export type { Fact } from "../stores/facts.js";
export type { ApiKey } from "../stores/keys.js";
export type { Ledger } from "../stores/ledger.js";
export type { PointHit, VectorPoint } from "../stores/points.js";
export type { Promotion } from "../stores/promotions.js";
export type { ImportReport, OnConflict } from "../transfer/report.js";
export type {
  Added,
  EmbeddingState,
  Entry,
  Filter,
  ForgetReceipt,
  Hit,
  Hits,
  Instant,
  Item,
  ItemPatch,
  NewItem,
  NewMessage,
  Page,
  Part,
  Scope,
  SessionEntry,
  SpaceRef,
} from "../types.js";
export type { Check, Diagnosis } from "../upkeep/diagnosis.js";
export type { FileInspectOptions } from "../upkeep/file-upkeep.js";
export type { UpkeepProgress } from "../upkeep/progress.js";
export type { ConnectOptions, Fetch } from "./endpoint.js";
export type { ReconnectedEvent, RemoteEvent, RemoteEventsOptions } from "./remote-events.js";
export type { RemoteKeys } from "./remote-keys.js";
export { connect, RemoteMemory } from "./remote-memory.js";
export type { RemoteSessionOptions } from "./remote-session.js";
export type { ImportProgress, RemoteExportOptions, RemoteImportOptions } from "./remote-transfer.js";
export type { RemoteBackup } from "./remote-upkeep.js";
