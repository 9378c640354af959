/**
 * `npm run bench:mcp`: latency for an MCP client, and memory of its server. Real processes, and the SDK's client.
 *
 *   --rounds <n>   starts of each kind (5); medians are reported
 *   --calls <n>    saves and searches per transport (300), alternating between transports
 *   --idle <s>     seconds without a call before memory is measured again (70)
 *   --json <file>  all numbers
 *
 * Start: from the spawn of the process. Calls: over stdio, over HTTP (`/mcp`), and of the library in this process, each on its
 * own file with the same content, by words only. Memory is as reported by Linux. A missed target is a result, not a failure:
 * the exit code is 0.
 */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openMemory } from "holdfast";
import { loadData } from "./data.js";
import { describeMachine } from "./machine.js";
import { McpClient, McpServer, type Meaning, type Weight, weigh } from "./mcp-process.js";
import { Workplace } from "./place.js";
import { table } from "./table.js";
import { latency, spread } from "./timings.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "300" },
    idle: { type: "string", default: "70" },
    json: { type: "string" },
  },
});
const [rounds, calls, idleMs] = [Number(values.rounds), Number(values.calls), Number(values.idle) * 1000];
const PROCESSES = 10;
const SAVES = 100;
const TARGET_START_MS = 1000;
const TARGET_MIB = 120;

const data = loadData(undefined);
const textOf = (number: number): string => String(data.take(number, 1)[0]?.message.content);
/** All differ, so none is answered from the cache. */
const questionOf = (number: number): string => `${textOf(number).split(" ").slice(0, 8).join(" ")} n${number}`;

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
const verdict = (isMet: boolean): string => (isMet ? "PASS" : "MISS");

interface Start {
  readonly kind: string;
  readonly connectedMs: number;
  readonly firstMs: number;
}

/** Uses a file with content, because the first start also creates the file. */
async function measureStart(place: Workplace, meaning: Meaning): Promise<Start> {
  const path = place.newPath("start");
  const times = { connected: [] as number[], first: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const started = performance.now();
    const client = await McpClient.overStdio(path, meaning);
    const connected = performance.now() - started;
    if (meaning === "words") await client.search("Where does Ada live?");
    else await client.call("memory_status");
    const first = performance.now() - started;
    await client.save(textOf(round + 1));
    await client.close();
    if (round < 0) continue;
    times.connected.push(connected);
    times.first.push(first);
  }
  return {
    kind: meaning === "words" ? "words only, memory_search" : "with the model, memory_status",
    connectedMs: spread(times.connected).median,
    firstMs: spread(times.first).median,
  };
}

type Weights = readonly (readonly [when: string, weight: Weight])[];

/** One process through its life. The last measurement is after a pause. */
async function measureWeights(place: Workplace, meaning: Meaning, busy: number): Promise<Weights> {
  const client = await McpClient.overStdio(place.newPath("weight"), meaning);
  const seen: [string, Weight][] = [["connected", weigh(client.pid)]];
  await client.lists();
  seen.push(["lists", weigh(client.pid)]);
  for (let at = 0; at < busy; at++) await client.save(textOf(at));
  seen.push([busy === 1 ? "a save" : `${busy} saves`, weigh(client.pid)]);
  for (let at = 0; at < busy; at++) await client.search(questionOf(at));
  seen.push([busy === 1 ? "a search" : `${busy} searches`, weigh(client.pid)]);
  await sleep(idleMs);
  seen.push([`${values.idle} s idle`, weigh(client.pid)]);
  await client.close();
  return seen;
}

interface Calls {
  readonly work: "memory_save" | "memory_search";
  readonly way: "library" | "stdio" | "HTTP";
  readonly p50: number;
  readonly p95: number;
}

async function measureCalls(place: Workplace): Promise<Calls[]> {
  const memory = await openMemory({
    path: place.newPath("library"),
    buffer: { hybridBuffer: { embeddingModel: "none" } },
  });
  const session = memory.session({ user: "ada", session: "bench" });
  const stdio = await McpClient.overStdio(place.newPath("stdio"), "words");
  const server = await McpServer.start(place.newPath("http"));
  const http = await McpClient.overHttp(server.url);
  const library = {
    save: async (content: string) => void (await session.addItems([{ kind: "knowledge", content }])),
    search: async (query: string) => void (await session.query(query, { topK: 10 })),
  };
  const ways = { library, stdio, HTTP: http } as const;
  const rows: Calls[] = [];
  for (const work of ["save", "search"] as const) {
    const times = { library: [] as number[], stdio: [] as number[], HTTP: [] as number[] };
    for (let at = 0; at < calls; at++) {
      for (const way of ["library", "stdio", "HTTP"] as const) {
        const started = performance.now();
        await ways[way][work](work === "save" ? textOf(at) : questionOf(at));
        times[way].push(performance.now() - started);
      }
    }
    for (const way of ["library", "stdio", "HTTP"] as const) {
      const { p50, p95 } = latency(times[way].slice(Math.floor(calls / 10))); // the first tenth warms up
      rows.push({ work: `memory_${work}`, way, p50, p95 });
    }
  }
  await Promise.all([stdio.close(), http.close(), memory.close()]);
  await server.stop();
  return rows;
}

interface Crowd {
  readonly processes: number;
  /** Until the last process has answered its first call. */
  readonly readyMs: number;
  readonly savesPerSecond: number;
  readonly resident: number;
  readonly proportional: number;
}

/** All start at once, on one file; then all save at once, each with one call at a time. */
async function measureCrowd(place: Workplace, processes: number): Promise<Crowd> {
  const path = place.newPath("crowd");
  const started = performance.now();
  const clients = await Promise.all(
    Array.from({ length: processes }, async () => {
      const client = await McpClient.overStdio(path, "words");
      await client.call("memory_status");
      return client;
    }),
  );
  const readyMs = performance.now() - started;
  const saving = performance.now();
  await Promise.all(
    clients.map(async (client, number) => {
      for (let at = 0; at < SAVES; at++) await client.save(textOf(number * SAVES + at));
    }),
  );
  const savesPerSecond = (processes * SAVES * 1000) / (performance.now() - saving);
  const weights = clients.map(({ pid }) => weigh(pid));
  await Promise.all(clients.map((client) => client.close()));
  const sum = (key: keyof Weight): number => weights.reduce((total, weight) => total + weight[key], 0);
  return { processes, readyMs, savesPerSecond, resident: sum("resident"), proportional: sum("proportional") };
}

const place = await Workplace.make();
try {
  const machine = describeMachine(place);
  console.log(
    `${machine.cpu}, ${machine.cores} cores · ${machine.os} · Node ${machine.node} · load ${machine.load.toFixed(2)}\n`,
  );
  console.error("  starts …");
  const starts = [await measureStart(place, "words"), await measureStart(place, "model")];
  printStarts(starts);
  console.error("  calls …");
  const rows = await measureCalls(place);
  printCalls(rows);
  console.error("  many processes …");
  const crowds = [await measureCrowd(place, 1), await measureCrowd(place, PROCESSES)];
  printCrowds(crowds);
  console.error(`  weights, after ${values.idle} s …`);
  const lives = await Promise.all([
    measureWeights(place, "words", 1),
    measureWeights(place, "words", 200),
    measureWeights(place, "model", 1),
  ]);
  printWeights(lives);
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      `${JSON.stringify({ machine, starts, calls: rows, crowds, weights: lives }, null, 2)}\n`,
    );
} finally {
  place.remove();
}

function printStarts(starts: readonly Start[]): void {
  console.log(`From spawn: ms, medians of ${rounds} (target: first answer within ${whole(TARGET_START_MS)})`);
  console.log(
    table(
      ["", "connected", "first answer", ""],
      starts.map(({ kind, connectedMs, firstMs }) => [
        kind,
        whole(connectedMs),
        whole(firstMs),
        verdict(firstMs <= TARGET_START_MS),
      ]),
    ),
  );
}

function printCalls(rows: readonly Calls[]): void {
  console.log(`One call at a time: ms, ${calls} of each way in turn; ratio to the library's p50`);
  const base = (work: string): number =>
    rows.find((row) => row.way === "library" && row.work === work)?.p50 ?? Number.NaN;
  console.log(
    table(
      ["", "p50", "p95", "ratio"],
      rows.map(({ work, way, p50, p95 }) => [
        `${work}, ${way}`,
        p50.toFixed(2),
        p95.toFixed(2),
        (p50 / base(work)).toFixed(1),
      ]),
    ),
  );
}

function printCrowds(crowds: readonly Crowd[]): void {
  console.log(`Processes on one file, started at once, then ${SAVES} saves each at once (words only)`);
  console.log(
    table(
      ["processes", "all ready ms", "saves/s", "RSS MiB", "without what they share"],
      crowds.map(({ processes, readyMs, savesPerSecond, resident, proportional }) => [
        String(processes),
        whole(readyMs),
        whole(savesPerSecond),
        mib(resident),
        mib(proportional),
      ]),
    ),
  );
}

function printWeights([one, busy, model]: readonly (Weights | undefined)[]): void {
  console.log(`RSS of one process, MiB (target when idle, before the model is needed: ${TARGET_MIB})`);
  for (const [kind, life] of [["words", one] as const, ["words, busy", busy] as const, ["model", model] as const]) {
    if (!life) continue;
    const idle = life.at(-1)?.[1].resident ?? Number.NaN;
    const said = kind === "model" ? "" : verdict(idle <= TARGET_MIB * 1024 * 1024);
    console.log(
      table(["", ...life.map(([when]) => when), ""], [[kind, ...life.map(([, { resident }]) => mib(resident)), said]]),
    );
  }
}
