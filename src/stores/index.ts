/** The stores, and the contract for writing another one (`holdfast/testing` has the suite that a store must pass). */
export { MemoryStore } from "./memory/memory-store.js";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite/store.js";
export type {
  AddWrite,
  AmendWrite,
  Changes,
  Committed,
  Done,
  ForgetWrite,
  ListRequest,
  NewRow,
  Outcome,
  Purged,
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
