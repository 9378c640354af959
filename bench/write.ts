/**
 * `npm run bench:write`: how fast Holdfast writes, beside what raw SQLite does with the same statements.
 *
 *   --data <file or folder>   messages to write, one JSON object per line (messages.jsonl); made up if left out
 *   --json <file>             all numbers, for programs
 *   --rounds <n>              rounds of raw and Holdfast (5)
 *   --messages <n>            messages per block (3,200)
 *   --quick                   smaller blocks, and growth to 20,000 messages instead of 100,000
 *
 * Raw is a replay: Holdfast's own writer runs once on a scratch file while its statements and values are noted, and
 * those are run again on a copy of an empty memory, with the same settings, on the main thread. So both sides write the
 * same rows with the same SQL; what remains as the difference is all that is Holdfast: checks, ids, analysis of text,
 * group commit, the hop to the storage thread and back. A missed target is a result, not a failure: the exit code is 0.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type BlockReport, measureBlocks } from "./blocks.js";
import { loadData } from "./data.js";
import { measureFairness } from "./fairness.js";
import { measureFootprint } from "./footprint.js";
import { measureGrowth } from "./growth.js";
import { describeMachine } from "./machine.js";
import { MODES } from "./mode.js";
import { Workplace } from "./place.js";
import { printReport } from "./table.js";
import { judge, type Report } from "./targets.js";

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
  say("growth");
  const growth = await measureGrowth(place, data, quick ? 20_000 : 100_000, quick ? 1 : 3);
  say("fairness");
  const fairness = await measureFairness(place, data, quick ? 200 : 1_000);
  return { machine: describeMachine(place), data: data.source, rounds, footprint, blocks, growth, fairness };
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
