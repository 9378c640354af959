/**
 * `npm run bench:write`: the speed of writes, compared with raw SQLite running the same statements.
 *
 *   --data <file or folder>   messages to write, one JSON object per line (messages.jsonl); default: generated
 *   --json <file>             writes all numbers
 *   --rounds <n>              rounds of raw and Holdfast (5)
 *   --messages <n>            messages per block (3,200)
 *   --quick                   smaller blocks, and growth to 20,000 messages instead of 100,000
 *
 * Raw is a replay: Holdfast's own writer runs once on a scratch file while its statements and values are recorded; these are
 * replayed on a copy of an empty memory, with the same settings, on the main thread. So both sides write the same rows with
 * the same SQL; the difference is Holdfast's own work: validation, ids, text analysis, group commit, and the hop to the
 * storage thread and back. A missed target is a result, not a failure: the exit code is 0.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type BlockReport, measureBlocks } from "./blocks.js";
import { loadData } from "./data.js";
import { measureFootprint } from "./footprint.js";
import { measureGrowth } from "./growth.js";
import { describeMachine } from "./machine.js";
import { MODES } from "./mode.js";
import { Workplace } from "./place.js";
import { printReport } from "./table.js";
import { judge, type Report } from "./targets.js";
import { type EmbeddingReport, measureEmbedding } from "./write-embedding.js";
import { measureFairness } from "./write-fairness.js";

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    json: { type: "string" },
    rounds: { type: "string", default: "5" },
    messages: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
const { quick } = values;
const rounds = count("rounds", values.rounds);
const messages = values.messages === undefined ? (quick ? 800 : 3_200) : count("messages", values.messages);

/** Messages per block with an embedding model: every block is embedded to its end. */
const EMBEDDED = 800;

const place = await Workplace.make();
try {
  const report = await measure();
  const verdicts = judge(report);
  console.log(printReport(report, verdicts));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...report, verdicts }, null, 2)}\n`);
} finally {
  place.remove();
}

async function measure(): Promise<Report> {
  const data = loadData(values.data);
  say("footprint");
  const footprint = await measureFootprint(place, data, quick ? 5_000 : 20_000);
  const blocks: BlockReport[] = [];
  for (const mode of MODES) {
    say(`blocks: ${mode}`);
    blocks.push(await measureBlocks(place, data, mode, { rounds, messages }));
  }
  const embedding: EmbeddingReport[] = [];
  for (const mode of MODES) {
    say(`with and without an embedding model: ${mode}`);
    embedding.push(await measureEmbedding(place, data, mode, { rounds, messages: Math.min(messages, EMBEDDED) }));
  }
  say("growth");
  const growth = await measureGrowth(place, data, quick ? 20_000 : 100_000, quick ? 1 : 3);
  say("fairness");
  const fairness = await measureFairness(place, data, quick ? 200 : 1_000);
  return { machine: describeMachine(place), data: data.source, rounds, footprint, blocks, embedding, growth, fairness };
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name} must be a whole number from 1 on, not "${text}"`);
  process.exit(2);
}

function say(section: string): void {
  console.error(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${section}`);
}
