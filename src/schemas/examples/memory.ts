/** Examples of the operations on messages, items and recall. */
import type { Examples } from "../example.js";
import type { ITEMS } from "../operations/items.js";
import type { RECALL } from "../operations/recall.js";
import type { SHARING } from "../operations/sharing.js";
import { AT, added, context, hit, IDS, item, receipt } from "./values.js";

const message = { id: "msg-tram", role: "user", content: "The number 28 tram stops at my door." } as const;

export const ITEM_EXAMPLES: Examples<typeof ITEMS> = {
  add: {
    body: { messages: [message, { role: "assistant", content: "Noted: the 28 stops at your door." }] },
    data: { ids: ["msg-tram", "019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f"], sequences: [2, 3], repeated: false },
    call: "const added = await session.add($messages);",
  },
  addBatch: {
    body: { rounds: [[message], [{ role: "user", content: "I like figs." }]] },
    data: [added, { ids: ["019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f"], sequences: [3], repeated: false }],
    call: "const added = await session.addBatch($rounds);",
  },
  addItems: {
    body: { items: [{ id: "note-porto", kind: "knowledge", content: "Porto is three hours north of Lisbon." }] },
    data: { ids: ["note-porto"], sequences: [], repeated: false },
    call: "const added = await session.addItems($items);",
  },
  commitTurn: {
    body: {
      writes: [
        { op: "save_message", message },
        { op: "upsert_fact", category: "commute", content: "The 28 tram stops at Ada's door.", confidence: 0.8 },
        { op: "edit_block", block: IDS.block, append: "\nShe takes the 28 tram." },
      ],
    },
    data: added,
    call: "const turn = session.turn();\nfor (const write of $writes) turn.push(write);\nconst added = await session.commit(turn);",
  },
  get: { body: { ids: [IDS.message] }, data: [item], call: "const items = await session.get($ids);" },
  list: {
    body: { limit: 20, order: "desc" },
    data: { items: [item] },
    call: "const page = await session.list($rest);",
  },
  update: {
    params: { id: IDS.message },
    body: { content: "I moved to Porto in May.", expectVersion: 1 },
    data: { version: 2 },
    call: "const version = await session.update($id, { content: $content }, { expectVersion: $expectVersion });",
  },
  delete: { body: { ids: [IDS.message] }, data: receipt, call: "const receipt = await session.delete($ids);" },
  forget: {
    data: { ...receipt, items: 12, sessions: 1 },
    call: "const receipt = await session.forget();",
  },
};

export const RECALL_EXAMPLES: Examples<typeof RECALL> = {
  query: {
    body: { query: "Where does Ada live?", topK: 5 },
    data: { hits: [hit], partial: false },
    call: "const hits = await session.query($query, $rest);",
  },
  anticipate: {
    body: { query: "where does she" },
    data: null,
    call: "await session.anticipate($query);",
  },
  context: {
    body: { query: "Plan her weekend.", budgetTokens: 500 },
    data: context,
    call: "const context = await session.context($rest);",
  },
  previewContext: {
    body: { query: "Plan her weekend.", budgetTokens: 500 },
    data: context,
    call: "const context = await session.context({ query: $query, budgetTokens: $budgetTokens, dryRun: true });",
  },
  ledger: {
    data: { entries: [{ ref: `message ${IDS.message}`, version: 1, tokens: 20 }], saved: 20, resets: 0 },
    call: "const ledger = await session.ledger();",
  },
  windowReset: { data: null, call: "await session.windowReset();" },
};

export const SHARING_EXAMPLES: Examples<typeof SHARING> = {
  promote: {
    body: { ids: [IDS.message], to: { team: "bakery" }, reason: "the team delivers to her" },
    data: { ids: ["019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f"] },
    call: "const sharing = memory.session($scope, { grants: [$to] });\nconst ids = await sharing.promote($ids, { to: $to, reason: $reason });",
  },
  promotions: {
    scope: { team: "bakery" },
    query: { limit: "10" },
    data: {
      items: [
        {
          id: "019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f",
          from: { user: "ada" },
          to: { team: "bakery" },
          reason: "the team delivers to her",
          at: AT,
        },
      ],
    },
    call: "const page = await session.promotions({ limit: 10 });",
  },
};
