/**
 * `npm run bench:index`: the time after an add until a message is searchable by meaning.
 *
 *   --data <file or folder>   messages to write, one JSON object per line (messages.jsonl); default: generated
 *   --messages <n>            messages through the pipeline (5,000)
 *   --rounds <n>              trials with the free embedder, of which the best and the spread are shown (3)
 *   --only <parts>            some of pipeline, lag, buffers, separated by commas
 *   --quick                   a fifth of the messages, lag for 5 s instead of 20
 *
 * Every trial runs in its own process (`trial.ts`), one after the other, and warms up first: with the free embedder by a whole
 * uncounted run, as in `bench:write`, otherwise by a tenth of one. A missed target is a result, not a failure: the exit code
 * is 0.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { loadData } from "./data.js";
import type { EmbedderName } from "./embedders.js";
import { type IndexReport, printIndexReport, type TrialResult } from "./index-table.js";
import type { LagReport } from "./lag.js";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";
import { type PipelineTrial, runTrial, type Way } from "./trial.js";

const PARTS = ["pipeline", "lag", "buffers"] as const;
const CALLERS = 32;
const RATES = [1, 20, 200];

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    messages: { type: "string" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: PARTS.join(",") },
    quick: { type: "boolean", default: false },
  },
});
const { quick } = values;
const messages = values.messages === undefined ? (quick ? 1_000 : 5_000) : count("messages", values.messages);
const rounds = count("rounds", values.rounds);
const lagSeconds = quick ? 5 : 20;
const parts = new Set(values.only.split(","));
for (const part of parts) {
  if (PARTS.some((known) => known === part)) continue;
  console.error(`--only takes ${PARTS.join(", ")}, not "${part}"`);
  process.exit(2);
}

const data = loadData(values.data);
const place = await Workplace.make();
try {
  const machine = describeMachine(place);
  const pipeline = parts.has("pipeline") ? await measureSpeed() : [];
  const lag = parts.has("lag") ? await measureLags() : [];
  const buffers = parts.has("buffers") ? await measureBuffers() : [];
  const report: IndexReport = { machine, data: data.source, pipeline, lag, buffers };
  console.log(printIndexReport(report));
} finally {
  place.remove();
}

/** Messages per second. The free embedder runs several times, because its numbers are ours and are judged. */
async function measureSpeed(): Promise<readonly TrialResult[]> {
  const results: TrialResult[] = [];
  for (const way of [CALLERS, "batch"] as const) {
    results.push(await tryOut({ embedder: "free", buffers: true, way }, messages, rounds));
    results.push(await tryOut({ embedder: "node", buffers: true, way }, messages, 1));
    results.push(await tryOut({ embedder: "web", buffers: true, way }, Math.ceil(messages / 5), 1));
  }
  return results;
}

async function measureLags(): Promise<readonly LagReport[]> {
  const reports: LagReport[] = [];
  for (const perSecond of RATES) {
    say(`lag at ${perSecond} messages/s`);
    const lines = data.take(0, perSecond * lagSeconds);
    reports.push(await runTrial({ kind: "lag", embedder: "node", perSecond }, place.newPath("lag"), lines));
  }
  return reports;
}

/** With and without the buffers. Without them, a caller waits for every single message, so it writes fewer. */
async function measureBuffers(): Promise<readonly TrialResult[]> {
  const results: TrialResult[] = [];
  const ways: readonly (readonly [Way, number])[] = [
    [1, messages / 25],
    [CALLERS, messages / 5],
  ];
  for (const embedder of ["node", "remote"] satisfies EmbedderName[]) {
    for (const [way, size] of ways) {
      for (const buffers of [true, false]) results.push(await tryOut({ embedder, buffers, way }, Math.ceil(size), 1));
    }
  }
  return results;
}

async function tryOut(trial: Omit<PipelineTrial, "kind">, size: number, times: number): Promise<TrialResult> {
  const reports = [];
  for (let round = 0; round < times; round++) {
    say(`${trial.embedder}, ${trial.way}, buffers ${trial.buffers ? "on" : "off"}`);
    const lines = data.take(0, size);
    reports.push(await runTrial({ kind: "pipeline", ...trial }, place.newPath("pipeline"), lines));
  }
  return { ...trial, reports };
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name} must be a whole number from 1 on, not "${text}"`);
  process.exit(2);
}

function say(section: string): void {
  const load = (loadavg()[0] ?? Number.NaN).toFixed(1);
  console.error(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${section} (load ${load})`);
}
