/** The stores, and the contract for writing another one (`holdfast/testing` has the suite that a store must pass). */
export type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlockPolicy,
  BlockReads,
  BlockState,
  BlocksRequest,
  BlockVersion,
  BlockVersionsRequest,
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
  RestoreFactDone,
  RestoreFactWrite,
} from "./facts.js";
export { FACT_STATES, factMetadata } from "./facts.js";
export type {
  AcknowledgeWrite,
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
  PendingItems,
  PendingRequest,
  ReleaseWrite,
  ReplayWrite,
  StoredChunk,
  Tail,
  TailRequest,
  WaitingLane,
} from "./indexing.js";
export { OUTBOX } from "./indexing.js";
export type {
  Access,
  ApiKey,
  KeyReads,
  KeySpace,
  KeysRequest,
  PutKeyDone,
  PutKeyWrite,
  RevokeKeyDone,
  RevokeKeyWrite,
  StoredKey,
} from "./keys.js";
export { ACCESS } from "./keys.js";
export type { Ledger, LedgerChange, LedgerDone, LedgerEntry, LedgerReads, LedgerWrite } from "./ledger.js";
export { LEDGER_MAX } from "./ledger.js";
export type {
  NearestRequest,
  PointHit,
  PointReads,
  PointsRequest,
  PutPointDone,
  PutPointWrite,
  VectorPoint,
} from "./points.js";
export { pointSpace } from "./points.js";
export type {
  PromoteDone,
  PromoteWrite,
  Promotion,
  PromotionReads,
  PromotionsRequest,
  RestorePromotionDone,
  RestorePromotionWrite,
} from "./promotions.js";
export type { Note, OnceDone, OnceWrite, PlainWrite, ReceiptBook, TimeInUse } from "./receipts.js";
export { applyUnit, namedIn, notesWithout, RECEIPT_MS, refuseOtherRequest, timeInUse } from "./receipts.js";
export type {
  AbandonReindexWrite,
  BeginReindexWrite,
  KeyRange,
  NextSpace,
  ReindexingDone,
  ReindexingWrite,
  ReindexReads,
  ReindexWrite,
  SwitchSpaceWrite,
  ToReindex,
  ToReindexRequest,
} from "./reindexing.js";
export type {
  ArmReport,
  FreshScore,
  OutsideHits,
  QuestionVector,
  Ranked,
  SearchRequest,
  SearchResult,
} from "./search.js";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite/store.js";
export type {
  AddWrite,
  AmendWrite,
  Changes,
  ChangesCursor,
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
  SpaceVersion,
  Store,
  StoreStats,
  Unit,
  UpdateWrite,
  Write,
} from "./store.js";
export type { FoundPoint, Point, PointSearch, VectorIndex } from "./vector-index.js";
