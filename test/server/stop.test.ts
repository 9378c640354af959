/** A server that is told to stop answers the requests it has accepted; everything acknowledged is in the file. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { EventReader } from "./sse.js";
import { newPath } from "./started.js";
import { rawRequest, Wire } from "./wire.js";

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** The command, as a user starts it. */
async function launch(path: string, logLevel: string) {
  const args = [join(root, "dist/cli/main.js"), "serve", "--port", "0", "--path", path];
  const env = { ...process.env, HOLDFAST_SERVER_LOG_LEVEL: logLevel };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [first] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const url = /http:\S+/.exec(first)?.[0] ?? "";
  const ended = once(child, "close").then(([code, by]) => ({ code, by, stderr }));
  return {
    url,
    ended,
    signal: (name: NodeJS.Signals) => child.kill(name),
    stopping: () => until(() => /stopping/.test(stderr)),
  };
}

const bodyOf = (id: string) => JSON.stringify({ messages: [{ id, role: "user", content: `Xanadu1010 ${id}` }] });

/** Adds, one after the other, until the server takes no more. Gives the ids of those it acknowledged. */
async function addUntilStopped(url: string, lane: string, acknowledged: string[]): Promise<void> {
  for (let at = 0; ; at++) {
    const id = `${lane}-${at}`;
    const response = await fetch(`${url}/api/v1/messages?user=ada&session=${lane}`, {
      method: "POST",
      body: bodyOf(id),
    }).catch(() => undefined);
    if (!response) return;
    expect(response.status).toBe(201);
    acknowledged.push(id);
  }
}

/** Requests whose head has arrived and whose body has not. */
async function halfSent(url: string, count: number) {
  const { host } = new URL(url);
  return Array.from({ length: count }, (_, at) => {
    const id = `half-${at}`;
    const body = bodyOf(id);
    const wire = new Wire(url);
    const headers = { "content-length": String(body.length) };
    wire.send(rawRequest({ route: "POST /api/v1/messages?user=ada&session=half", host, headers }, body.slice(0, 20)));
    return { id, wire, finish: () => wire.send(body.slice(20)) };
  });
}

async function idsIn(path: string): Promise<readonly string[]> {
  const memory = await openMemory({ path });
  const { items } = await memory.session({ user: "ada" }).list({ limit: 1000 });
  await memory.close();
  return items.map(({ id }) => id);
}

/** How many requests it works on. */
const inside = async (url: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^holdfast_http_requests_in_progress (\d+)$/m.exec(text)?.[1]);
};

describe("a server that is asked to stop", () => {
  it("answers what it has accepted, ends what is open, and exits with 0", async () => {
    const path = newPath();
    const { url, ended, signal, stopping } = await launch(path, "debug");
    const events = new EventReader(await fetch(`${url}/api/v1/events`));
    const acknowledged: string[] = [];
    const halves = await halfSent(url, 5);
    await until(async () => (await inside(url)) >= halves.length);
    const importing = new Wire(url);
    const lines = '{"role":"user","content":"Xanadu1010"}\n{"role":';
    const route = "POST /api/v1/import?user=bob";
    importing.send(rawRequest({ route, host: new URL(url).host, headers: { "content-length": "999" } }, lines));
    await until(async () => (await inside(url)) > halves.length);
    const adding = Promise.all(["a", "b", "c"].map((lane) => addUntilStopped(url, lane, acknowledged)));
    await until(() => acknowledged.length >= 20);
    signal("SIGTERM");
    await stopping();
    for (let event = await events.next(); event; event = await events.next()) expect(event).not.toBe("alive");
    const late = new Wire(url);
    late.send(rawRequest({ route: "GET /health", host: new URL(url).host }));
    await expect(late.answer(), "nobody new comes in").rejects.toThrow();
    const stopped = await importing.answer();
    expect([stopped.status, JSON.parse(stopped.body).error], "an import that waits is told to come again").toEqual([
      503,
      expect.objectContaining({ code: "closed", hint: expect.stringContaining("again") }),
    ]);
    for (const { finish } of halves) finish();
    for (const { wire, id } of halves) {
      expect((await wire.answer()).status).toBe(201);
      acknowledged.push(id);
    }
    await adding;
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    const found = await idsIn(path);
    expect([...found].sort()).toEqual([...acknowledged].sort());
    expect(stderr).toContain(`stopped; ${acknowledged.length} items in ${path}`);

    const logged = stderr.trim().split("\n");
    expect(logged.filter((line) => line.includes('"POST /messages"'))).toHaveLength(acknowledged.length);
    expect(stderr).not.toMatch(/Xanadu1010|\bada\b|half/);
  });

  it("twice exits at once, and has lost nothing that it acknowledged", async () => {
    const path = newPath();
    const { url, ended, signal, stopping } = await launch(path, "error");
    const acknowledged: string[] = [];
    const [half] = await halfSent(url, 1);
    await until(async () => (await inside(url)) >= 1);
    const adding = addUntilStopped(url, "a", acknowledged);
    await until(() => acknowledged.length >= 5);
    signal("SIGINT");
    await stopping();
    signal("SIGTERM");
    const { code, by, stderr } = await ended;
    expect({ code, by }).toEqual({ code: null, by: "SIGTERM" });
    expect(stderr).toMatch(/^stopping: .*\n$/);
    await adding;
    await half?.wire.closed();
    expect(await idsIn(path)).toEqual(expect.arrayContaining(acknowledged));
  });
});
