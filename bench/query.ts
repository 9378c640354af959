/**
 * `npm run bench:query`: the latency of queries, compared with common alternatives.
 *
 *   --json <file>     writes all numbers
 *   --sizes <list>    messages of one user, separated by commas (1000,10000,100000); with 100000 also as many over 100 and
 *                     over 10,000 users
 *   --rounds <n>      rounds of Holdfast and the baselines (8)
 *
 * Messages and vectors are generated: they say nothing about recall, which `bench:recall` measures. Queries use the public
 * API; the arms are called on the store, including the hop to its thread. "Without embedding" means that the query's vector
 * costs nothing; "with" means that MiniLM embeds the query, although its vector is not used. A missed target is a result, not
 * a failure: the exit code is 0.
 */
import { rmSync, statSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";
import type { Shape } from "./query-data.js";
import { type MadeFile, makeQueryFile } from "./query-file.js";
import { printQueryReport } from "./query-table.js";
import { type FileReport, judgeQueries, nameOf, type QueryReport } from "./query-targets.js";
import { runQueryTrial, sayer } from "./query-trial.js";

const FULL = 100_000;
const USERS = [100, 10_000];
/** Number of processes that open a file; medians are reported. */
const FIRSTS = 3;

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    sizes: { type: "string", default: `1000,10000,${FULL}` },
    rounds: { type: "string", default: "8" },
  },
});
const rounds = count("rounds", values.rounds);
const sizes = values.sizes.split(",").map((size) => count("sizes", size));
const shapes: readonly Shape[] = [
  ...sizes.map((messages) => ({ messages, users: 1 })),
  ...(sizes.includes(FULL) ? USERS.map((users) => ({ messages: FULL, users })) : []),
];

const begun = Date.now();
const say = sayer(begun);
const place = await Workplace.make();
try {
  const machine = describeMachine(place);
  const files: FileReport[] = [];
  let mixed: QueryReport["mixed"];
  for (const shape of shapes) {
    const file = await makeFile(shape);
    files.push(await measure(file));
    if (shape.users === 1 && shape.messages === Math.max(...sizes)) {
      say(`${nameOf(file)}: questions and adds together`);
      mixed = { ...(await runQueryTrial({ kind: "mixed" }, file, begun)), messages: shape.messages };
    }
    rmSync(file.path);
  }
  const report: QueryReport = { machine, rounds, files, ...(mixed && { mixed }) };
  const verdicts = judgeQueries(report);
  console.log(printQueryReport(report, verdicts));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...report, verdicts }, null, 2)}\n`);
} finally {
  place.remove();
}

async function makeFile(shape: Shape): Promise<MadeFile> {
  let shown = 0;
  return makeQueryFile(place.newPath("query"), shape, (share) => {
    if (share < shown) return;
    say(`${nameOf({ shape })}: making the file, ${Math.floor(share * 100)} %`);
    shown += 0.25;
  });
}

async function measure(file: MadeFile): Promise<FileReport> {
  const { shape, pieces, path } = file;
  const bytes = statSync(path).size;
  const first = [];
  for (let at = 0; at < FIRSTS; at++) {
    say(`${nameOf(file)}: first question after open, ${at + 1} of ${FIRSTS}`);
    first.push(await runQueryTrial({ kind: "first", seed: 100 + at }, file, begun));
  }
  say(`${nameOf(file)}: Holdfast and its rivals`);
  const base = place.newPath("rival");
  const sides = await runQueryTrial({ kind: "sides", rounds, base }, file, begun);
  for (const name of ["fts5", "metadata", "partition"]) rmSync(`${base}-${name}.db`);
  return { shape, pieces, bytes, first, sides };
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name} takes whole numbers from 1 on, not "${text}"`);
  process.exit(2);
}
