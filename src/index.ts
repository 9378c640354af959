/** Every public name of the library. */
export type {
  BlockEditInput,
  BlockSettings,
  EditNote,
  EditOptions,
  HistoryOptions,
  NewBlock,
} from "./blocks/block-input.js";
export type { Archived } from "./blocks/block-plan.js";
export type { BlockChange } from "./blocks/edit.js";
export type { EditedBlock, MemoryBlocks } from "./blocks/memory-blocks.js";
export type { Blocks } from "./blocks/session-blocks.js";
export type { Component, ComponentState, Components } from "./buffers/components.js";
export type { Condition, Goal, Health, Indicator, Target, TargetName } from "./buffers/health.js";
export type { MeaningStats } from "./buffers/meaning-path.js";
export type { Latencies, Latency } from "./buffers/meter.js";
export type { RoundView } from "./buffers/round-buffer.js";
export { type BufferedWrite, Turn } from "./buffers/turn.js";
export type { WriteBufferStats } from "./buffers/write.js";
export { type Clock, systemClock } from "./clock.js";
export { MemoryManager, type MemoryManagerOptions } from "./compat/agent-teams/memory-manager.js";
export { exportGraphLines } from "./compat/knowledge-graph/export-graph.js";
export type { Entity, Graph, Relation } from "./compat/knowledge-graph/graph.js";
export type { NewObservations, OldObservations } from "./compat/knowledge-graph/graph-input.js";
export type { GraphSession } from "./compat/knowledge-graph/graph-items.js";
export {
  type GraphImportOptions,
  type GraphImportReport,
  importGraph,
  type UnreadLine,
} from "./compat/knowledge-graph/import-graph.js";
export { type AddedObservations, KnowledgeGraph } from "./compat/knowledge-graph/knowledge-graph.js";
export type { ConfigOrigin, ConfigSetting } from "./config.js";
export type { Context, ContextItem, LeftItem, RetractedItem } from "./context/context.js";
export { renderAnthropic, renderOpenAI, renderText } from "./context/render.js";
export { ConversationMemory } from "./conversation/conversation-memory.js";
export type { MemoryConfig } from "./conversation/memory-config.js";
export type { SerialisedMemory } from "./conversation/serialised-memory.js";
export { SessionConversation } from "./conversation/session-conversation.js";
export type { Speaker, TurnRecord } from "./conversation/turn-record.js";
export type { EmbeddingCacheStats } from "./embedding/question-cache.js";
export { type ErrorCode, HoldfastError } from "./errors.js";
export type { MemoryEvent, MissedEvents, TransferReason } from "./events/event.js";
export type { EventStream } from "./events/event-stream.js";
export type { EventListener, MemoryEvents, StreamOptions, SubscribeOptions } from "./events/events.js";
export type { ExtractionMessage, ExtractionRequest, Extractor, FactDraft, KnownFact } from "./extraction/extractor.js";
export { type ExtractorStatus, OpenAiExtractor, type OpenAiExtractorOptions } from "./extraction/openai.js";
export type { Extraction, ExtractOptions } from "./facts/extraction-run.js";
export type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "./facts/fact-input.js";
export type { FactOutcome, MemoryFacts } from "./facts/memory-facts.js";
export type { Facts } from "./facts/session-facts.js";
export type { UpdateOptions, WriteOptions } from "./input/call.js";
export type { ContextOptions, ContextPart, ContextShares } from "./input/context.js";
export type { SessionOptions } from "./input/grants.js";
export type { ListOptions } from "./input/list.js";
export type { PageOptions } from "./input/page.js";
export type { NewPoint, PointSearchOptions, VectorInput } from "./input/points.js";
export type { PromoteOptions } from "./input/promotion.js";
export type { QueryOptions } from "./input/query.js";
export type { ApiKeys, CreatedKey } from "./keys/api-keys.js";
export type { KeysOptions, NewKey } from "./keys/key-input.js";
export { Memory, type MemoryHandle, type OpenOptions, openMemory } from "./memory.js";
export type { MemorySource, ProcessMemory } from "./memory-pressure.js";
export type { Options } from "./options.js";
export type { Points } from "./points/session-points.js";
export type { Entries, EntryChange, SessionQuery, Sessions } from "./registry.js";
export type { ReindexReport } from "./reindexing/reindex-run.js";
export type { ReindexOptions } from "./reindexing/reindexing.js";
export { BufferService } from "./service.js";
export type { ServiceParts } from "./service-parts.js";
export type { Session } from "./session.js";
export type {
  Buffers,
  CloseReport,
  FlushReport,
  MemoryStats,
  QueryStats,
  ServiceStats,
} from "./stats.js";
export type { Block, BlockEdit, BlockPolicy } from "./stores/blocks.js";
export type { Fact, FactSource, FactSpan, FactState } from "./stores/facts.js";
export type { ParkedItem } from "./stores/indexing.js";
export type { Access, ApiKey, KeySpace } from "./stores/keys.js";
export type { Ledger, LedgerEntry } from "./stores/ledger.js";
export type { PointHit, VectorPoint } from "./stores/points.js";
export type { Promotion } from "./stores/promotions.js";
export type { NextSpace } from "./stores/reindexing.js";
export { type ExportOptions, exportLines } from "./transfer/export.js";
export { importLines } from "./transfer/import.js";
export type { ImportOptions, SpaceNaming } from "./transfer/import-options.js";
export type { ImportReport, OnConflict } from "./transfer/report.js";
export { splitLines } from "./transfer/split-lines.js";
export type {
  Added,
  EmbeddingState,
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
  MissingItem,
  NewItem,
  NewMessage,
  Order,
  Origin,
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
export {
  type BackupOptions,
  backupFile,
  type CopyReport,
  type RestoreOptions,
  restoreFile,
} from "./upkeep/backup.js";
export type { Contents } from "./upkeep/contents.js";
export type { Check, CheckName, Diagnosis, Finding } from "./upkeep/diagnosis.js";
export type { FileBackup, FileInspectOptions, FileUpkeep } from "./upkeep/file-upkeep.js";
export { fileContents, type InspectOptions, inspectFile } from "./upkeep/inspect.js";
export type { UpkeepProgress } from "./upkeep/progress.js";
export { repairFile } from "./upkeep/repair.js";
export type { RepairReport } from "./upkeep/treatment.js";
