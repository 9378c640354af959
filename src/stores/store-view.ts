import type { Store } from "./store.js";

/** The reads that layers above the service may use directly: the registry, keys, transfers. */
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
  | "points"
  | "promotions"
  | "proveWritable"
  | "mirrors"
>;
