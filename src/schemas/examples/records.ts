/** Examples of the operations on blocks, facts and points. */
import type { Examples } from "../example.js";
import type { BLOCKS } from "../operations/blocks.js";
import type { FACTS } from "../operations/facts.js";
import type { POINTS } from "../operations/points.js";
import { AT, block, fact, IDS, point, receipt } from "./values.js";

const named = { name: IDS.block };

export const BLOCK_EXAMPLES: Examples<typeof BLOCKS> = {
  createBlock: {
    body: { name: "tasks", description: "What is still open.", content: "- find a flat", maxTokens: 200 },
    data: {
      ...block,
      name: "tasks",
      description: "What is still open.",
      content: "- find a flat",
      maxTokens: 200,
      version: 1,
    },
    call: "const block = await session.blocks.create($body);",
  },
  listBlocks: { data: [block], call: "const blocks = await session.blocks.list();" },
  getBlock: { params: named, data: block, call: "const block = await session.blocks.get($name);" },
  editBlock: {
    params: named,
    body: { append: "\nShe plays the cello.", reason: "she said so" },
    data: { ...block, content: `${block.content}\nShe plays the cello.`, version: 3 },
    call: "const block = await session.blocks.edit($name, $rest);",
  },
  configureBlock: {
    params: named,
    body: { description: "Who Ada is.", maxTokens: 300 },
    data: { ...block, description: "Who Ada is.", maxTokens: 300, version: 3 },
    call: "const block = await session.blocks.configure($name, $rest);",
  },
  renameBlock: {
    params: named,
    body: { to: "about-ada" },
    data: { ...block, name: "about-ada", version: 3 },
    call: "const block = await session.blocks.rename($name, $to);",
  },
  deleteBlock: {
    params: named,
    data: { ...receipt, items: 0, blocks: 1 },
    call: "const receipt = await session.blocks.delete($name);",
  },
  blockHistory: {
    params: named,
    query: { limit: "10" },
    data: [
      {
        version: 2,
        old: "Ada is a baker.",
        new: block.content,
        name: IDS.block,
        reason: "she moved",
        actor: "user ada",
        at: AT + 60_000,
      },
    ],
    call: "const edits = await session.blocks.history($name, { limit: 10 });",
  },
  blockVersion: {
    params: { name: IDS.block, version: "1" },
    data: { content: "Ada is a baker." },
    call: "const text = await session.blocks.version($name, 1);",
  },
  blockDiff: {
    params: named,
    query: { from: "1", to: "2" },
    data: { diff: "@@ -1 +1,2 @@\n Ada is a baker.\n+She lives in Lisbon.\n" },
    call: "const diff = await session.blocks.diff($name, 1, 2);",
  },
  restoreBlock: {
    params: named,
    body: { version: 1, reason: "the move was called off" },
    data: { ...block, content: "Ada is a baker.", version: 3 },
    call: "const block = await session.blocks.restore($name, $version, $rest);",
  },
  archiveBlock: {
    params: named,
    body: { reason: "make room" },
    data: null,
    call: "const block = await session.blocks.archiveOverflow($name, $rest);",
  },
};

export const FACT_EXAMPLES: Examples<typeof FACTS> = {
  upsertFact: {
    body: {
      category: "home",
      content: "Ada lives in Porto.",
      confidence: 0.95,
      supersedes: IDS.fact,
      source: { message: IDS.message },
    },
    data: {
      outcome: "added",
      fact: { ...fact, id: "f-4Rt8vQ1LkZ6yB2nM", content: "Ada lives in Porto.", confidence: 0.95 },
      ended: [IDS.fact],
    },
    call: "const { fact } = await session.facts.upsert($body);",
  },
  getFacts: { body: { ids: [IDS.fact] }, data: [fact], call: "const facts = await session.facts.get($ids);" },
  listFacts: {
    body: { category: "home", state: ["holds", "ended"] },
    data: { items: [fact] },
    call: "const page = await session.facts.list($rest);",
  },
  queryFacts: {
    body: { query: "Where is home?", topK: 3 },
    data: [fact],
    call: "const facts = await session.facts.query($query, $rest);",
  },
  retractFact: {
    params: { id: IDS.fact },
    data: { ...fact, state: "retracted", version: 2 },
    call: "const fact = await session.facts.retract($id);",
  },
  endFact: {
    params: { id: IDS.fact },
    body: { at: "2026-06-01T00:00:00Z" },
    data: { ...fact, state: "ended", spans: [{ from: AT, to: 1_780_272_000_000 }], version: 2 },
    call: "const fact = await session.facts.end($id, $rest);",
  },
  extractFacts: {
    body: { limit: 50 },
    data: { messages: 12, facts: [fact], refused: [] },
    call: "const { facts } = await session.facts.extract($rest);",
  },
};

export const POINT_EXAMPLES: Examples<typeof POINTS> = {
  searchPoints: {
    body: { collection: "notes", vector: [0.6, 0.8], topK: 3 },
    data: [{ ...point, score: 0.96 }],
    call: "const hits = await session.points.search($collection, $vector, $rest);",
  },
  getPoints: {
    body: { collection: "notes", ids: [IDS.point] },
    data: [{ ...point, vector: [0.8, 0.6] }],
    call: "const points = await session.points.get($collection, $ids);",
  },
  listPoints: {
    body: { collection: "notes", limit: 20 },
    data: { items: [{ ...point, vector: [0.8, 0.6] }] },
    call: "const page = await session.points.list($collection, $rest);",
  },
  deletePoints: {
    body: { collection: "notes", ids: [IDS.point] },
    data: { ...receipt, items: 0, points: 1 },
    call: "const receipt = await session.points.delete($collection, $ids);",
  },
};
