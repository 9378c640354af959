/**
 * `npm run bench:speculation`: what answering questions ahead of time gains and costs, in an agent's loop. The same calls
 * with and without speculation, in alternating rounds on fresh files.
 *
 *   --data <folder>     turns.jsonl and qa.jsonl; may be given several times
 *   --rounds <n>        rounds of each setting (10); predictors alone get a fifth of them
 *   --turns <n>         turns of each of the four loops of a round (10)
 *   --quick             two rounds of three turns, about two minutes
 *   --embedder hash     a deterministic embedder that costs nothing, instead of the package's model
 *   --only <backend>    local or slow
 *   --think <list>      think times in milliseconds, separated by commas (0,50,500)
 *   --json <file>       writes all numbers
 *
 * A missed target is a result, not a failure: the exit code is 0.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { MiniLmEmbedder } from "holdfast/embedding";
import { HashEmbedder } from "holdfast/testing";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";
import { sayer } from "./query-trial.js";
import { loadRecallData } from "./recall-data.js";
import { planRound } from "./speculation-plan.js";
import { BACKENDS, type BackendName, PREDICTORS, type Run, type Side, Stage } from "./speculation-run.js";
import { printSpeculation, type SettingReport, summarise } from "./speculation-table.js";

/** Predictors alone are measured at this think time. */
const ALONE_THINK_MS = 500;
const ALONE_SHARE = 5;
const QUICK = { rounds: 2, turns: 3 };

const { values } = parseArgs({
  options: {
    data: { type: "string", multiple: true },
    rounds: { type: "string", default: "10" },
    turns: { type: "string", default: "10" },
    quick: { type: "boolean", default: false },
    embedder: { type: "string", default: "model" },
    only: { type: "string" },
    think: { type: "string", default: "0,50,500" },
    json: { type: "string" },
  },
});
if (values.data === undefined) fail("--data <folder> is needed: turns.jsonl and qa.jsonl");
if (!["model", "hash"].includes(values.embedder)) fail("--embedder is hash, or left out");
const backends = BACKENDS.filter((name) => values.only === undefined || name === values.only);
if (backends.length === 0) fail(`--only is ${BACKENDS.join(" or ")}`);
const rounds = values.quick ? QUICK.rounds : whole("rounds", values.rounds, 1);
const turns = values.quick ? QUICK.turns : whole("turns", values.turns, 1);
const thinkTimes = values.think.split(",").map((ms) => whole("think", ms, 0));
const aloneRounds = Math.ceil(rounds / ALONE_SHARE);

const say = sayer(Date.now());
const data = values.data.map((folder) => loadRecallData(folder));
const place = await Workplace.make();
const local = values.embedder === "hash" ? new HashEmbedder() : new MiniLmEmbedder();
const slow = new HashEmbedder();
try {
  const machine = describeMachine(place);
  const stage = new Stage(place, { local, slow });
  const settings: SettingReport[] = [];
  for (const backend of backends) {
    say(`${backend}: making the histories, and a round that does not count`);
    await measure(stage, backend, 0, ["without", "all"], 1, 1);
    for (const thinkMs of thinkTimes) {
      settings.push(await measure(stage, backend, thinkMs, ["without", "all"], rounds, turns));
    }
    if (thinkTimes.includes(ALONE_THINK_MS))
      settings.push(await measure(stage, backend, ALONE_THINK_MS, ["without", ...PREDICTORS], aloneRounds, turns));
  }
  const report = { machine, data: values.data.join(", "), embedder: local.model, rounds, turns, settings };
  console.log(printSpeculation(report));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, undefined, 1)}\n`);
} finally {
  await local.close();
  await slow.close();
  place.remove();
}

/** Runs all sides in each round, in an order that alternates. */
async function measure(
  on: Stage,
  backend: BackendName,
  thinkMs: number,
  sides: readonly Side[],
  count: number,
  length: number,
): Promise<SettingReport> {
  const measured: Map<Side, Run>[] = [];
  for (let round = 0; round < count; round++) {
    const loops = planRound(data, round, length);
    const runs = new Map<Side, Run>();
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      say(`${backend}, think time ${thinkMs} ms, round ${round + 1} of ${count}: ${side}`);
      runs.set(side, await on.run({ backend, thinkMs, side, loops }));
    }
    measured.push(runs);
  }
  return { backend, thinkMs, sides: sides.map((side) => summarise(side, measured)) };
}

function whole(name: string, text: string, min: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= min) return value;
  fail(`--${name} takes whole numbers from ${min} on, not "${text}"`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
