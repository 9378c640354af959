/** The stores, and the contract for writing another one (`holdfast/testing` has the suite that a store must pass). */
export type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlockPolicy,
  BlockReads,
  BlockState,
  BlocksRequest,
  PutBlockDone,
  PutBlockWrite,
} from "./blocks.js";
export { BLOCK_POLICIES } from "./blocks.js";
export type {
  EndFactDone,
  EndFactWrite,
  ExtractedDone,
  ExtractedWrite,
  Fact,
  FactReads,
  FactSource,
  FactSpan,
  FactState,
  FactsRequest,
  PutFactDone,
  PutFactWrite,
} from "./facts.js";
export { FACT_STATES, factMetadata } from "./facts.js";
export type {
  AcknowledgeWrite,
  AdoptWrite,
  AttachWrite,
  BeatWrite,
  Claim,
  ClaimWrite,
  EmbeddedItem,
  Holder,
  Indexing,
  IndexingDone,
  IndexingStats,
  IndexingWrite,
  IndexWrite,
  Lane,
  Neighbour,
  OutboxRow,
  Owner,
  ParkedItem,
  ParkedPage,
  ParkedRequest,
  ParkWrite,
  PendingItem,
  PendingRequest,
  ReleaseWrite,
  ReplayWrite,
  StoredChunk,
  Tail,
  TailRequest,
  VectorScored,
  VectorsRequest,
  WaitingLane,
} from "./indexing.js";
export { OUTBOX } from "./indexing.js";
export type { Ledger, LedgerDone, LedgerEntry, LedgerReads, LedgerWrite } from "./ledger.js";
export { LEDGER_MAX } from "./ledger.js";
export { MemoryStore } from "./memory/memory-store.js";
export type { PromoteDone, PromoteWrite, Promotion, PromotionReads, PromotionsRequest } from "./promotions.js";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite/store.js";
export type {
  AddWrite,
  AmendWrite,
  Changes,
  Committed,
  Done,
  ForgetDone,
  ForgetWrite,
  KeyedItem,
  ListRequest,
  NewRow,
  Outcome,
  Purged,
  ReadRequest,
  RegisterWrite,
  RegistryRequest,
  RowFilter,
  Scored,
  Store,
  StoreStats,
  Unit,
  UpdateWrite,
  WordsRequest,
  Write,
} from "./store.js";
export type { FoundPoint, Point, PointSearch, VectorIndex } from "./vector-index.js";
