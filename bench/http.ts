/**
 * `npm run bench:http`: adds and cold queries over HTTP on loopback, at 1, 32 and 256 connections, compared with a route of the
 * same server that parses and validates the same body, returns as many bytes and does nothing, and with direct calls of the
 * engine. Then four times as many connections as the server's limit: it must shed load, lose nothing that it has
 * acknowledged, and recover.
 *
 *   --seconds <n>    per measurement (3)
 *   --rounds <n>     alternating rounds of all sides (3); medians are reported
 *   --preload <n>    number of messages stored beforehand (10,000)
 *   --json <file>    all numbers
 *
 * The embedder costs next to nothing (vectors are derived from hashes), so the cores are left to what is measured. Server and
 * load generator share them. A missed target is a result, not a failure: the exit code is 0.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import autocannon, { type CannonRequest, type CannonResult } from "autocannon";
import { BenchServer } from "./http-child.js";
import { bodyOf, type Kind, userOf } from "./http-work.js";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    preload: { type: "string", default: "10000" },
    json: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const CONNECTIONS = [1, 32, 256] as const;
/** The limit of concurrent requests in the overload test; four times as many are sent. */
const CAPACITY = 64;

interface Row {
  readonly work: Kind;
  readonly connections: number;
  readonly noop: number;
  readonly http: number;
  readonly direct: number;
  /** HTTP relative to the slower of the other two. */
  readonly ratio: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly eventLoopP99Ms: number;
  readonly failures: number;
}

const PATHS = { add: "/messages", query: "/query" } as const;
let sent = 0;

const place = await Workplace.make();
try {
  const machine = describeMachine(place);
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${machine.load.toFixed(2)}`);
  const rows = await measureRows();
  const overload = await measureOverload();
  print(rows, overload);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ machine, rows, overload }, null, 2)}\n`);
} finally {
  place.remove();
}

async function measureRows(): Promise<Row[]> {
  const server = await BenchServer.start(place.newPath("http"), 512, Number(values.preload));
  const rows: Row[] = [];
  for (const work of ["query", "add"] as const) {
    for (const connections of CONNECTIONS) {
      console.error(`  ${work}, ${connections} connections …`);
      rows.push(await measureRow(server, work, connections));
    }
  }
  await server.stop();
  return rows;
}

async function measureRow(server: BenchServer, work: Kind, connections: number): Promise<Row> {
  const rounds: Omit<Row, "ratio">[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const noop = await load(server.port, `/noop${PATHS[work]}`, work, connections);
    await server.ask({ kind: "reset" });
    const http = await load(server.port, `/api/v1${PATHS[work]}`, work, connections);
    const { p99Ms } = await server.ask({ kind: "delay" });
    const { perSecond } = await server.ask({ kind: "direct", work, calls: connections, ms: seconds * 1000 });
    rounds.push({
      work,
      connections,
      noop: noop["2xx"] / noop.duration,
      http: http["2xx"] / http.duration,
      direct: perSecond,
      p50Ms: http.latency.p50,
      p99Ms: http.latency.p99,
      eventLoopP99Ms: p99Ms,
      failures: http.non2xx + http.errors + http.timeouts,
    });
  }
  const middle = (key: "noop" | "http" | "direct" | "p50Ms" | "p99Ms" | "eventLoopP99Ms"): number =>
    rounds.map((row) => row[key]).toSorted((one, other) => one - other)[Math.floor(rounds.length / 2)] ?? Number.NaN;
  const [noop, http, direct] = [middle("noop"), middle("http"), middle("direct")];
  return {
    ...{ work, connections, noop, http, direct, ratio: http / Math.min(noop, direct) },
    ...{ p50Ms: middle("p50Ms"), p99Ms: middle("p99Ms"), eventLoopP99Ms: middle("eventLoopP99Ms") },
    failures: rounds.reduce((sum, row) => sum + row.failures, 0),
  };
}

interface Overload {
  readonly acknowledged: number;
  readonly shed: number;
  readonly otherFailures: number;
  readonly lost: number;
  /** Adds per second at a number of connections within the limit, before and after. */
  readonly before: number;
  readonly after: number;
}

async function measureOverload(): Promise<Overload> {
  console.error("  overload …");
  const server = await BenchServer.start(place.newPath("http"), CAPACITY, 0);
  const { count: first } = await server.ask({ kind: "items" });
  const path = `/api/v1${PATHS.add}`;
  const before = await load(server.port, path, "add", 32);
  const rush = await load(server.port, path, "add", CAPACITY * 4);
  const after = await load(server.port, path, "add", 32);
  const { count } = await server.ask({ kind: "items" });
  await server.stop();
  const acknowledged = before["2xx"] + rush["2xx"] + after["2xx"];
  const refused = (status: "429" | "503"): number => rush.statusCodeStats?.[status]?.count ?? 0;
  const shed = refused("429") + refused("503");
  const failures = (one: CannonResult): number => one.non2xx + one.errors + one.timeouts;
  return {
    acknowledged,
    shed,
    otherFailures: failures(before) + failures(after) + failures(rush) - shed,
    lost: Math.max(acknowledged - (count - first), 0),
    before: before["2xx"] / before.duration,
    after: after["2xx"] / after.duration,
  };
}

function load(port: number, path: string, work: Kind, connections: number): Promise<CannonResult> {
  const requestOf = (number: number): CannonRequest => ({
    method: "POST",
    path: `${path}?user=${userOf(number)}&session=bench`,
    body: JSON.stringify(bodyOf(work, number)),
  });
  // Adds are prepared in advance, to leave the cores to the server. Questions are made one by one, because none may repeat.
  const setupRequest = (request: CannonRequest): CannonRequest => ({ ...request, ...requestOf(sent++) });
  const requests = work === "add" ? Array.from({ length: 500 }, (_, at) => requestOf(at)) : [{ setupRequest }];
  return autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    headers: { "content-type": "application/json" },
    requests,
  });
}

function print(rows: readonly Row[], overload: Overload): void {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  const whole = (value: number): string => Math.round(value).toLocaleString("en");
  console.log(
    line(["", "connections", "no-op/s", "HTTP/s", "engine/s", "ratio", "p50 ms", "p99 ms", "loop p99 ms", "failures"]),
  );
  console.log(line(["---", ...Array.from({ length: 9 }, () => "---:")]));
  for (const row of rows) {
    const { work, connections, noop, http, direct, ratio, p50Ms, p99Ms, eventLoopP99Ms, failures } = row;
    const times = [p50Ms, p99Ms].map(String);
    console.log(
      line([
        work,
        connections,
        whole(noop),
        whole(http),
        whole(direct),
        ratio.toFixed(2),
        ...times,
        eventLoopP99Ms.toFixed(1),
        failures,
      ]),
    );
  }
  const { acknowledged, shed, otherFailures, lost, before, after } = overload;
  console.log(
    `overload (${CAPACITY * 4} connections, ${CAPACITY} at once): acknowledged ${whole(acknowledged)}, shed with 429 or 503 ${whole(shed)}, ` +
      `other failures ${otherFailures}, lost ${lost}; at 32 connections ${whole(before)} adds/s before, ${whole(after)} after`,
  );
}
