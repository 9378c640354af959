/**
 * `npm run bench:context`: contexts turn by turn, and whether they contain what a question needs. Uses the public API with
 * its defaults.
 *
 *   --data <folder>    turns.jsonl and qa.jsonl; each conversation is a user, each turn a message
 *   --cache <folder>   keeps the vectors of all texts, so that a second run is fast; times then exclude embedding
 *   --limit <n>        only the first n questions, and their conversations
 *   --json <file>      writes the rows of all turns and questions
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type Memory, openMemory } from "holdfast";
import { askFor, type EvidenceRow } from "./context-evidence.js";
import { type Replayed, replay } from "./context-replay.js";
import { type Asked, printContext } from "./context-table.js";
import { Workplace } from "./place.js";
import { loadRecallData, type RecallTurn } from "./recall-data.js";
import { KeptEmbedder } from "./recall-embedder.js";

const BUDGETS = [500, 1_000, 2_000] as const;
const REPLAY_BUDGET = 2_000;

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    cache: { type: "string" },
    limit: { type: "string" },
    json: { type: "string" },
  },
});
if (values.data === undefined) fail("--data <folder> is needed: turns.jsonl and qa.jsonl");
const limit = values.limit === undefined ? undefined : Number(values.limit);
if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
  fail("--limit must be a whole number from 1 on");
const data = loadRecallData(values.data, limit);
const conversations = conversationsOf(data.turns);
const load = loadavg()[0] ?? 0;
const place = await Workplace.make();
const embedder = values.cache === undefined ? undefined : new KeptEmbedder(values.cache);
const memory = await openMemory({ path: place.newPath("context"), ...(embedder && { embedder }) });
try {
  const replays = await replayAll(memory);
  const asked = await askAll(memory);
  process.stderr.write("\n");
  const report = {
    turns: replays.flatMap(({ rows }) => rows),
    changes: replays.reduce((sum, { changes }) => sum + changes, 0),
    partial:
      replays.reduce((sum, { partial }) => sum + partial, 0) +
      asked.flatMap(({ rows }) => rows.filter((row) => row.partial)).length,
    asked,
  };
  console.log(
    printContext({ ...report, folder: values.data, data, budget: REPLAY_BUDGET, isKept: embedder !== undefined, load }),
  );
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, undefined, 1)}\n`);
} finally {
  await memory.close();
  await embedder?.close();
  place.remove();
}

async function replayAll(into: Memory): Promise<readonly Replayed[]> {
  const replays: Replayed[] = [];
  let done = 0;
  for (const turns of conversations.values()) {
    replays.push(await replay(into, turns, REPLAY_BUDGET, () => say(`replayed ${++done} of ${data.turns.length}`)));
  }
  const { pending, parked } = await into.flush();
  if (pending + parked > 0) throw new Error(`${pending + parked} turns could not be embedded`);
  return replays;
}

/** Asks each question in a new session, and in the conversation's last one. */
async function askAll(of: Memory): Promise<readonly Asked[]> {
  const ways = [
    { where: "in a new session", sessionOf: () => undefined },
    { where: "in the last session", sessionOf: (turns: readonly RecallTurn[]) => turns.at(-1)?.session },
  ];
  const asked: Asked[] = [];
  for (const { where, sessionOf } of ways) {
    for (const budget of BUDGETS) {
      const rows: EvidenceRow[] = [];
      for (const question of data.questions) {
        const session = sessionOf(conversations.get(question.conversation) ?? []);
        rows.push(await askFor(of, question, budget, session));
        say(`${where}, ${budget} tokens: asked ${rows.length} of ${data.questions.length}`);
      }
      asked.push({ where, budget, rows });
    }
  }
  return asked;
}

/** The turns of each conversation, in order. */
function conversationsOf(turns: readonly RecallTurn[]): ReadonlyMap<string, readonly RecallTurn[]> {
  const names = [...new Set(turns.map(({ conversation }) => conversation))];
  return new Map(names.map((name) => [name, turns.filter(({ conversation }) => conversation === name)]));
}

function say(line: string): void {
  process.stderr.write(`\r${line.padEnd(78).slice(0, 78)}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
