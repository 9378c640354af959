/**
 * `npm run bench:recall`: is the evidence among the first hits? Uses the public API with its defaults.
 *
 *   --data <folder>    turns.jsonl and qa.jsonl; each conversation is a user, each turn a message
 *   --arms [names]     also without one part of the ranking: all arms, or the given ones, separated by commas
 *   --cache <folder>   keeps the vectors of all texts, so that a second run is fast
 *   --limit <n>        only the first n questions
 *   --json <file>      writes { summary, rows } of the full ranking; with --arms also { arms }
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Workplace } from "./place.js";
import { ARMS, type Arm, rankedBy } from "./recall-arms.js";
import { loadRecallData, type RecallQuestion } from "./recall-data.js";
import { RecallMemory } from "./recall-memory.js";
import { type RecallRow, type RecallSummary, rowOf, summarise } from "./recall-score.js";
import { printRecall } from "./recall-table.js";

/** Number of hits that are reported per question, and that an arm ranks again. */
const TOLD = 20;
const RANKED = 300;

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    arms: { type: "string" },
    cache: { type: "string" },
    limit: { type: "string" },
    json: { type: "string" },
  },
  args: process.argv.slice(2).flatMap((arg, at, all) => {
    const isBare = arg === "--arms" && (all[at + 1] === undefined || all[at + 1]?.startsWith("--"));
    return isBare ? ["--arms", "all"] : [arg];
  }),
});
if (values.data === undefined) fail("--data <folder> is needed: turns.jsonl and qa.jsonl");
const limit = values.limit === undefined ? undefined : Number(values.limit);
if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
  fail("--limit must be a whole number from 1 on");
const arms = chooseArms(values.arms);
const data = loadRecallData(values.data, limit);
const place = await Workplace.make();
try {
  const results: { readonly arm: Arm; readonly rows: readonly RecallRow[]; readonly summary: RecallSummary }[] = [];
  for (const group of groupsOf(arms)) {
    for (const [arm, rows] of await measure(group)) results.push({ arm, rows, summary: summarise(rows) });
  }
  console.log(
    printRecall(
      values.data,
      data,
      results.map(({ arm, summary }) => ({ name: arm.name, summary })),
    ),
  );
  const full = results.find(({ arm }) => arm.name === "full");
  if (values.json !== undefined && full) {
    const others = Object.fromEntries(results.map(({ arm, summary }) => [arm.name, summary]));
    const report = { summary: full.summary, rows: full.rows, ...(arms.length > 1 && { arms: others }) };
    writeFileSync(values.json, `${JSON.stringify(report, undefined, 1)}\n`);
  }
} finally {
  place.remove();
}

/** Arms that share a memory are measured together. */
async function measure(group: readonly Arm[]): Promise<ReadonlyMap<Arm, readonly RecallRow[]>> {
  const [{ memory: arm } = { memory: {} }] = group;
  const names = group.map(({ name }) => name).join(", ");
  const progress = (what: string) => (done: number, of: number) => say(`${names}: ${what} ${done} of ${of}`);
  const memory = await RecallMemory.fill(data, {
    path: place.newPath("recall"),
    cache: values.cache,
    arm,
    progress: progress("indexed"),
  });
  const isExplained = group.some(({ rank }) => rank);
  const options = isExplained ? { topK: RANKED, explain: true } : { topK: TOLD };
  const rows = new Map<Arm, RecallRow[]>(group.map((one) => [one, []]));
  const show = progress("asked");
  try {
    for (const [at, question] of data.questions.entries()) {
      const hits = await memory.ask(question, options);
      for (const [one, list] of rows) list.push(rowOf(question as RecallQuestion, rankedBy(one, hits, TOLD)));
      show(at + 1, data.questions.length);
    }
    if (memory.partial > 0) console.error(`\n${memory.partial} answers are partial: their ranks are those of words`);
  } finally {
    await memory.close();
  }
  process.stderr.write("\n");
  return rows;
}

/** Arms that differ only in their ranking share a memory. */
function groupsOf(chosen: readonly Arm[]): readonly (readonly Arm[])[] {
  const names = [...new Set(chosen.map(({ memory }) => JSON.stringify(memory)))];
  return names.map((name) => chosen.filter(({ memory }) => JSON.stringify(memory) === name));
}

function chooseArms(names: string | undefined): readonly Arm[] {
  if (names === undefined) return ARMS.slice(0, 1);
  if (names === "all") return ARMS;
  const chosen = names.split(",").map((name) => ARMS.find((arm) => arm.name === name.trim()) ?? fail(unknownArm(name)));
  return ARMS.filter((arm) => arm.name === "full" || chosen.includes(arm));
}

const unknownArm = (name: string): string =>
  `there is no arm "${name}"; there are ${ARMS.map((arm) => `"${arm.name}"`).join(", ")}`;

function say(line: string): void {
  process.stderr.write(`\r${line.padEnd(78).slice(0, 78)}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
