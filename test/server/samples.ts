/** A request to every operation that its server carries out, about the world it is made for. */

import { MEMFUSE_SAMPLES } from "./memfuse-samples.js";
import type { OperationName } from "./parts.js";
import type { Sample } from "./sample.js";
import type { World } from "./world.js";

const message = { role: "user", content: "I like figs." };
const named = ({ block }: World) => ({ params: { name: block } });

/** Lines as an export gives them, naming a user's space. */
export const exportLines = (user: string): string =>
  [
    { type: "holdfast", version: 1, exportedAt: 0 },
    { type: "session", space: { user }, name: "imported" },
    {
      ...{ type: "item", id: "imported-1", kind: "message", space: { user }, session: "imported", role: "user" },
      ...{ content: "I like pears.", occurredAt: 1, recordedAt: 1, version: 1 },
    },
    {
      type: "end",
      counts: { entry: 0, session: 1, item: 1, block: 0, fact: 0, superseded: 0, point: 0, promotion: 0 },
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

export const SAMPLES: { readonly [name in OperationName]: (world: World) => Sample } = {
  add: () => ({ body: { messages: [message] } }),
  addBatch: () => ({ body: { rounds: [[message], [message, { role: "assistant", content: "Noted." }]] } }),
  addItems: () => ({ body: { items: [{ kind: "knowledge", content: "Figs grow on trees." }] } }),
  commitTurn: ({ item, block }) => ({
    body: {
      writes: [
        { op: "save_message", message },
        { op: "upsert_fact", category: "food", content: "likes figs", confidence: 0.9, sourceMessage: item },
        { op: "store_embedding", collection: "notes", pointId: "figs", vector: [0, 1], payload: { about: "figs" } },
        { op: "edit_block", block, append: "\nLikes figs." },
      ],
    },
  }),
  get: ({ item }) => ({ body: { ids: [item] } }),
  list: () => ({ body: { limit: 10, order: "desc" } }),
  update: ({ item }) => ({ params: { id: item }, body: { content: "I moved to Porto.", expectVersion: 1 } }),
  delete: ({ item }) => ({ body: { ids: [item] } }),
  forget: () => ({}),

  query: ({ item }) => ({ body: { query: "Where did I move in May?", explain: [item] } }),
  context: () => ({ body: { query: "Where did I move in May?", budgetTokens: 500 } }),
  previewContext: () => ({ body: { query: "Where did I move in May?" } }),
  ledger: () => ({}),
  anticipate: () => ({ body: { query: "where does she" } }),
  windowReset: () => ({}),

  createBlock: () => ({ body: { name: "tasks", content: "- figs", maxTokens: 100 } }),
  listBlocks: () => ({}),
  getBlock: named,
  editBlock: (world) => ({ ...named(world), body: { append: "\nMore.", reason: "why not", expectVersion: 2 } }),
  configureBlock: (world) => ({ ...named(world), body: { description: "who I am", maxTokens: 300 } }),
  renameBlock: (world) => ({ ...named(world), body: { to: "character" } }),
  deleteBlock: named,
  blockHistory: (world) => ({ ...named(world), query: { limit: "5" } }),
  blockVersion: ({ block }) => ({ params: { name: block, version: "1" } }),
  blockDiff: (world) => ({ ...named(world), query: { from: "1", to: "2" } }),
  restoreBlock: (world) => ({ ...named(world), body: { version: 1 } }),
  archiveBlock: (world) => ({ ...named(world), body: {} }),

  upsertFact: ({ item, fact }) => ({
    body: { category: "home", content: "lives in Porto", source: { message: item }, supersedes: fact },
  }),
  getFacts: ({ fact }) => ({ body: { ids: [fact] } }),
  listFacts: () => ({ body: { state: ["holds", "ended", "retracted"] } }),
  queryFacts: () => ({ body: { query: "Where is home?" } }),
  retractFact: ({ fact }) => ({ params: { id: fact } }),
  endFact: ({ fact }) => ({ params: { id: fact }, body: {} }),
  extractFacts: () => ({ body: { limit: 5 } }),

  searchPoints: () => ({ body: { collection: "notes", vector: [1, 0], topK: 3 } }),
  getPoints: ({ point }) => ({ body: { collection: "notes", ids: [point] } }),
  listPoints: () => ({ body: { collection: "notes", limit: 3 } }),
  deletePoints: ({ point }) => ({ body: { collection: "notes", ids: [point] } }),

  promote: ({ item, team }) => ({ body: { ids: [item], to: { team }, reason: "all should know" } }),
  promotions: () => ({ query: { limit: "3" } }),

  flush: () => ({}),
  buffers: () => ({}),
  parked: () => ({}),
  replay: () => ({ body: {} }),
  bufferedSessions: () => ({}),
  stats: () => ({}),
  statsHistory: () => ({ query: { since: "0" } }),

  listEntries: ({ user }) => ({ params: { kind: "users" }, query: { name: user } }),
  createEntry: ({ user }) => ({ params: { kind: "users" }, body: { name: user, ensure: true } }),
  amendEntry: ({ user }) => ({ params: { kind: "users", name: user }, body: { retentionMs: 86_400_000 } }),
  deleteEntry: ({ user }) => ({ params: { kind: "users", name: user } }),
  listSessions: () => ({}),
  createSession: ({ user }) => ({ body: { space: { user }, name: "second" } }),
  renameSession: ({ user, session }) => ({ body: { space: { user }, name: session, to: "renamed" } }),

  caller: () => ({}),
  listKeys: () => ({ query: { limit: "2" } }),
  createKey: ({ user }) => ({ body: { name: "laptop", access: "write", spaces: [{ user }, "team"] } }),
  revokeKey: ({ key }) => ({ params: { id: key } }),

  export: () => ({}),
  import: ({ user }) => ({ body: exportLines(user) }),
  events: () => ({}),

  config: () => ({}),
  imports: () => ({}),
  doctor: () => ({ query: { deep: "true" } }),
  backup: () => ({}),

  ...MEMFUSE_SAMPLES,
};
