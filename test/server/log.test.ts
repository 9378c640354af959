/** The log: what happened, by route. It never contains a name, a secret or message text, even when the server fails. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HoldfastError, type Memory, openMemory } from "holdfast";
import { createApp, ServerLog, type ServerOptions } from "holdfast/server";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { OPERATIONS } from "./parts.js";
import { ask } from "./requests.js";
import { Caller } from "./started.js";
import { rawRequest, Wire } from "./wire.js";
import { makeKey, makeMarkedWorld } from "./world.js";

const MARKER = "Xanadu5520";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [key: string]: unknown;
}

const open: { readonly server: Server; readonly memory: Memory }[] = [];

afterEach(async () => {
  for (const { server, memory } of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await memory.close();
  }
});

/** A server whose log is kept here. */
async function logged(level: ServerOptions["logLevel"]) {
  const memory = await openMemory({ path: ":memory:", extractor: { name: "none", extract: async () => [] } });
  const lines: string[] = [];
  const options: ServerOptions = {
    ...{ host: "127.0.0.1", port: 0, requireKey: false, allowedHosts: "", allowedOrigins: "", logLevel: level },
    ...{ maxBodyBytes: 65_536, maxRequests: 100, ratePerSecond: 0 },
  };
  const log = new ServerLog(level, { write: (line) => lines.push(line) });
  const server = createServer(getRequestListener(createApp({ memory, options, log }).fetch));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ server, memory });
  const caller = new Caller(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { memory, caller, text: () => lines.join(""), lines: () => lines.map((line) => JSON.parse(line) as Line) };
}

describe("the log", () => {
  it("at debug has every request by its route, and nothing of what is in it", async () => {
    const { caller, text, lines } = await logged("debug");
    const world = await makeMarkedWorld(caller, "vicquux", MARKER);
    const { secret, id } = await makeKey(caller, { access: "admin", spaces: ["user", "agent", "team"] });
    for (const listed of OPERATIONS) await ask(caller.as(secret), listed, world);
    for (const listed of OPERATIONS) await ask(caller.as("hf_Xanadu5520"), listed, world);
    await caller.send(`GET /api/v1/${MARKER}`, { query: { user: MARKER } });
    await caller.send("POST /api/v1/messages", { query: { user: MARKER }, body: `{"${MARKER}` });
    await caller.send("POST /api/v1/messages", { query: { [MARKER]: MARKER }, body: { [MARKER]: MARKER } });
    const routes = new Set(lines().map(({ route }) => route));
    for (const { operation } of OPERATIONS) expect(routes).toContain(operation.route);
    expect(lines()).toContainEqual(
      expect.objectContaining({ route: "POST /messages", status: 201, ms: expect.any(Number) }),
    );
    expect(lines()).toContainEqual(expect.objectContaining({ route: "GET /stats", status: 200, key: id }));
    expect(text()).not.toMatch(/Xanadu|quux/);
    for (const hidden of [secret, secret.slice(-43), world.item, world.fact, "talk", "persona", "figs", "May"]) {
      expect(text()).not.toContain(hidden);
    }
  });

  it("at info has no requests that went well or were the caller's fault", async () => {
    const { caller, text } = await logged("error");
    await caller.send("GET /api/v1/blocks", { query: { user: "ada" } });
    await caller.send("GET /api/v1/blocks");
    await caller.send("GET /api/v1/nothing");
    expect(text()).toBe("");
  });

  it("has the failures of the server, and where they happened, without what they say", async () => {
    const { memory, caller, text, lines } = await logged("error");
    memory.session = () => {
      throw new TypeError(`cannot read ${MARKER}`);
    };
    const failed = await caller.send("GET /api/v1/blocks", { query: { user: MARKER } });
    expect([failed.status, failed.json?.error?.code]).toEqual([500, "outcome_unknown"]);
    expect(failed.text).not.toMatch(new RegExp(`${MARKER}|TypeError|cannot read`));
    expect(lines()).toEqual([
      expect.objectContaining({ level: 50, route: "GET /blocks", name: "TypeError", msg: "unexpected failure" }),
    ]);
    expect(lines()[0]?.["frames"]).toEqual(expect.arrayContaining([expect.stringMatching(/^at /)]));
    expect(text()).not.toContain(MARKER);
    memory.session = () => {
      throw new HoldfastError("store_failed", "the disk is full", { hint: "make room" });
    };
    const full = await caller.send("GET /api/v1/blocks", { query: { user: MARKER } });
    expect([full.status, full.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(full.json?.error?.hint, "for whoever calls").toContain("the server's log");
    expect(lines()[1]).toMatchObject({ route: "GET /blocks", code: "store_failed", msg: "the disk is full" });
    expect(lines()).toHaveLength(2);
    expect(text()).not.toContain(MARKER);
  });

  it("has nothing of callers who leave before their request is whole; the numbers do", async () => {
    const { caller, text } = await logged("error");
    const { host } = new URL(caller.url);
    for (const path of ["messages", "import"]) {
      const wire = new Wire(caller.url);
      const headers = { "content-length": "100" };
      wire.send(
        rawRequest({ route: `POST /api/v1/${path}?user=ada`, host, headers }, '{"role":"user","content":"a"}\n{'),
      );
      const metrics = async () => (await caller.send("GET /metrics")).text;
      await until(async () => /^holdfast_http_requests_in_progress 1$/m.test(await metrics()));
      wire.destroy();
      const counted = `holdfast_http_requests_total{route="POST /${path}",status="499"} 1`;
      await until(async () => (await metrics()).includes(counted));
    }
    expect(text()).toBe("");
  });

  it("says nothing at all when it is silent", async () => {
    const { memory, caller, text } = await logged("silent");
    memory.session = () => {
      throw new Error("no");
    };
    expect((await caller.send("GET /api/v1/blocks", { query: { user: "ada" } })).status).toBe(500);
    expect(text()).toBe("");
  });
});
