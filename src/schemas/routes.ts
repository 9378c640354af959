/**
 * The routes of the API under /api/v1, by operation name, and their retry behaviour. Parameters are in braces. The client
 * imports only this table, so it needs no schemas.
 */

/**
 * What a second request does if the first was carried out, so that a lost response never causes a double write.
 * read: it reads again · key: with the same `Idempotency-Key` it writes nothing and returns the first answer ·
 * repeatable: it writes nothing and returns the same answer, without a key · noop: nothing is left to do, as its answer says.
 */
export type Retry = "read" | "key" | "repeatable" | "noop";

export const ROUTES = {
  add: { route: "POST /messages", retry: "key" },
  addBatch: { route: "POST /rounds", retry: "key" },
  addItems: { route: "POST /items", retry: "key" },
  commitTurn: { route: "POST /turns", retry: "key" },
  get: { route: "POST /items/get", retry: "read" },
  list: { route: "POST /items/list", retry: "read" },
  update: { route: "PATCH /items/{id}", retry: "key" },
  delete: { route: "DELETE /items", retry: "noop" },
  forget: { route: "DELETE /memory", retry: "noop" },
  query: { route: "POST /query", retry: "read" },
  anticipate: { route: "POST /query/anticipate", retry: "read" },
  context: { route: "POST /context", retry: "key" },
  previewContext: { route: "POST /context/preview", retry: "read" },
  ledger: { route: "GET /context/ledger", retry: "read" },
  windowReset: { route: "DELETE /context/ledger", retry: "key" },
  createBlock: { route: "POST /blocks", retry: "key" },
  listBlocks: { route: "GET /blocks", retry: "read" },
  getBlock: { route: "GET /blocks/{name}", retry: "read" },
  editBlock: { route: "POST /blocks/{name}/edits", retry: "key" },
  configureBlock: { route: "PATCH /blocks/{name}", retry: "key" },
  renameBlock: { route: "POST /blocks/{name}/rename", retry: "key" },
  deleteBlock: { route: "DELETE /blocks/{name}", retry: "noop" },
  blockHistory: { route: "GET /blocks/{name}/history", retry: "read" },
  blockVersion: { route: "GET /blocks/{name}/versions/{version}", retry: "read" },
  blockDiff: { route: "GET /blocks/{name}/diff", retry: "read" },
  restoreBlock: { route: "POST /blocks/{name}/restore", retry: "key" },
  archiveBlock: { route: "POST /blocks/{name}/archive", retry: "key" },
  upsertFact: { route: "POST /facts", retry: "key" },
  getFacts: { route: "POST /facts/get", retry: "read" },
  listFacts: { route: "POST /facts/list", retry: "read" },
  queryFacts: { route: "POST /facts/query", retry: "read" },
  retractFact: { route: "POST /facts/{id}/retract", retry: "key" },
  endFact: { route: "POST /facts/{id}/end", retry: "key" },
  extractFacts: { route: "POST /facts/extract", retry: "noop" },
  searchPoints: { route: "POST /points/search", retry: "read" },
  getPoints: { route: "POST /points/get", retry: "read" },
  listPoints: { route: "POST /points/list", retry: "read" },
  deletePoints: { route: "DELETE /points", retry: "noop" },
  promote: { route: "POST /promotions", retry: "key" },
  promotions: { route: "GET /promotions", retry: "read" },
  flush: { route: "POST /flush", retry: "repeatable" },
  buffers: { route: "GET /buffers", retry: "read" },
  parked: { route: "GET /dead-letters", retry: "read" },
  replay: { route: "POST /dead-letters/replay", retry: "noop" },
  stats: { route: "GET /stats", retry: "read" },
  listEntries: { route: "GET /registry/{kind}", retry: "read" },
  createEntry: { route: "POST /registry/{kind}", retry: "key" },
  amendEntry: { route: "PATCH /registry/{kind}/{name}", retry: "key" },
  deleteEntry: { route: "DELETE /registry/{kind}/{name}", retry: "noop" },
  listSessions: { route: "GET /registry/sessions", retry: "read" },
  createSession: { route: "POST /registry/sessions", retry: "key" },
  renameSession: { route: "PATCH /registry/sessions", retry: "key" },
  listKeys: { route: "GET /keys", retry: "read" },
  createKey: { route: "POST /keys", retry: "key" },
  caller: { route: "GET /caller", retry: "read" },
  revokeKey: { route: "DELETE /keys/{id}", retry: "repeatable" },
  export: { route: "GET /export", retry: "read" },
  import: { route: "POST /import", retry: "repeatable" },
  events: { route: "GET /events", retry: "read" },
} as const satisfies { readonly [name: string]: { readonly route: string; readonly retry: Retry } };
