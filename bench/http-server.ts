/**
 * The server of `bench:http`, in its own process: the product's application, and for each measured route one that parses and
 * validates the same body and returns as many bytes, but does nothing. On request it also calls the engine directly, with as
 * many concurrent calls as there would be connections.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getRequestListener } from "@hono/node-server";
import { type Memory, openMemory } from "holdfast";
import type { Hono } from "hono";
import { ClusteredEmbedder } from "./clustered-embedder.js";
import { loadServerParts } from "./http-product.js";
import { bodyOf, type Kind, type Order, type Told, USERS, userOf } from "./http-work.js";

const [path = "", maxRequests = "512", preload = "0"] = process.argv.slice(2);
const tell = (told: Told): void => void process.send?.(told);

const memory = await openMemory({ path, embedder: new ClusteredEmbedder(), buffer: { closeMs: 0 } });
await fill(Number(preload));
const app = await appWithNoOps(memory);
const server = createServer(getRequestListener(app.fetch));
server.listen(0, "127.0.0.1", () => tell({ kind: "ready", port: (server.address() as AddressInfo).port }));

const delay = monitorEventLoopDelay({ resolution: 5 });
process.on("message", (order: Order) => void obey(order));

async function obey(order: Order): Promise<void> {
  if (order.kind === "reset") {
    delay.reset();
    delay.enable();
    return tell({ kind: "reset" });
  }
  if (order.kind === "delay") return tell({ kind: "delay", p99Ms: delay.percentile(99) / 1e6 });
  if (order.kind === "items") return tell({ kind: "items", count: (await memory.stats()).store.items });
  if (order.kind === "direct")
    return tell({ kind: "direct", perSecond: await direct(order.work, order.calls, order.ms) });
  server.closeAllConnections();
  server.close();
  await memory.close();
  process.disconnect();
}

/** Runs this many concurrent calls for `ms`, without HTTP. */
async function direct(work: Kind, calls: number, ms: number): Promise<number> {
  const until = performance.now() + ms;
  let done = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      await call(work, next());
      done++;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: calls }, loop));
  return (done * 1000) / (performance.now() - started);
}

let count = 1_000_000_000;
function next(): number {
  return count++;
}

function call(work: Kind, number: number): Promise<unknown> {
  const session = memory.session({ user: userOf(number), session: "bench" });
  const body = bodyOf(work, number);
  return "messages" in body ? session.add(body.messages) : session.query(body.query, { topK: 5 });
}

async function fill(messages: number): Promise<void> {
  for (let at = 0; at < messages; at += 500) {
    const body = Array.from({ length: 500 }, (_, more) => bodyOf("add", at + more));
    const rounds = body.flatMap((one) => ("messages" in one ? [one.messages] : []));
    await memory.session({ user: userOf(at / 500), session: `s${at}` }).addBatch(rounds);
  }
  await memory.flush();
  for (let user = 0; user < USERS; user++) await call("query", user);
}

/** The real routes, and under /noop the same schemas with handlers that return a recorded answer. */
async function appWithNoOps(memory: Memory): Promise<Hono> {
  const parts = await loadServerParts();
  const options = parts.options({ path, server: { maxRequests: Number(maxRequests), logLevel: "error" } });
  const app = parts.createApp({ memory, options });
  const quiet = parts.quietParts(memory, options);
  for (const work of ["add", "query"] as const) {
    const operation = parts.operations[work];
    const route = operation.route.split(" ")[1] ?? "";
    const sample = await answerOf(parts.createApp({ memory, options }), route, work);
    app.post(
      `/noop${route}`,
      parts.dispatch(quiet, operation, async () => sample),
    );
  }
  return app;
}

/** The real route's answer to a first request. */
async function answerOf(app: Hono, route: string, work: Kind): Promise<unknown> {
  const response = await app.request(`http://127.0.0.1/api/v1${route}?user=${userOf(0)}&session=bench`, {
    method: "POST",
    headers: { host: "127.0.0.1" },
    body: JSON.stringify(bodyOf(work, 0)),
  });
  return ((await response.json()) as { data: unknown }).data;
}
