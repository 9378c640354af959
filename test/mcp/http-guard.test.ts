/**
 * Access to /mcp: which hosts and pages may call, limits, malformed messages; and both eras of the protocol, checked
 * against the published schemas.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import {
  CallToolResultSchema,
  DiscoverResultSchema,
  InitializeResultSchema,
  JSONRPCErrorResponseSchema,
  JSONRPCResultResponseSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/core";
import { type Memory, openMemory, type Session } from "holdfast";
import { createApp, ServerLog, type ServerOptions } from "holdfast/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, makeKey, newPath, start } from "../server/started.js";
import { rawRequest, Wire } from "../server/wire.js";
import { until } from "../support/until.js";
import { callOf, ERAS, HttpAgent, legacy, MODERN, messageOf, modern, post, TYPES } from "./http-agent.js";

const MARKER = "Xanadu3306";
const PAGE = "https://page.example";
const MAX_BODY = 65_536;

let open: Caller;

beforeAll(async () => {
  open = await start({ path: ":memory:", server: { allowedOrigins: PAGE, maxBodyBytes: MAX_BODY } });
});

const metrics = async (url: string) => (await fetch(`${url}/metrics`)).text();
const inside = async (url: string) =>
  Number(/^holdfast_http_requests_in_progress (\d+)$/m.exec(await metrics(url))?.[1]);

describe("on the wire", () => {
  it("the era of 2026-07-28 is what its schemas say", async () => {
    const discovered = await post(open.url, modern("server/discover"));
    expect([discovered.status, discovered.headers.get("content-type")]).toEqual([200, "application/json"]);
    const discovery = JSONRPCResultResponseSchema.parse(await discovered.json());
    expect(discovery.id).toBe(1);
    expect(DiscoverResultSchema.parse(discovery.result)).toMatchObject({
      supportedVersions: [MODERN],
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true, listChanged: true } },
      instructions: expect.stringContaining("memory"),
    });

    const called = await post(open.url, callOf("modern", "memory_save", { content: "Figs are ripe in May." }));
    expect([called.status, called.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { result } = JSONRPCResultResponseSchema.parse(await called.json());
    expect(result).toMatchObject({ resultType: "complete" });
    expect(CallToolResultSchema.parse(result)).toMatchObject({
      content: [{ type: "text" }],
      structuredContent: { ids: [expect.any(String)] },
    });
    const noted = await post(open.url, modern("notifications/cancelled", { requestId: 9 }, {}));
    expect([noted.status, await noted.text()]).toEqual([202, ""]);
  });

  it("a message of that era must carry what the protocol asks for, and headers that fit it", async () => {
    const { headers, body } = callOf("modern", "memory_status");
    const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
    const bare = { ...body, params: { name: "memory_status", arguments: {} } };
    for (const wrong of [
      { headers: without("mcp-protocol-version"), body },
      { headers: without("mcp-method"), body },
      { headers: without("mcp-name"), body },
      { headers: { ...headers, "mcp-method": "tools/list" }, body },
      { headers: { ...headers, "mcp-name": "memory_forget" }, body },
      { headers: { ...headers, "mcp-protocol-version": "2025-11-25" }, body },
      { headers, body: bare },
    ]) {
      const response = await post(open.url, wrong);
      expect(response.status).toBe(400);
      expect(JSONRPCErrorResponseSchema.parse(await response.json()).error.code).toBeLessThan(0);
    }
    const missing = await post(open.url, modern("no/such"));
    expect([missing.status, (await messageOf(missing)).error?.code]).toEqual([404, -32_601]);
  });

  it("the era of 2025-11-25 is what its schemas say", async () => {
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "hand", version: "1" } };
    const initialized = await post(open.url, { body: legacy("initialize", hello).body });
    expect([initialized.status, initialized.headers.get("mcp-session-id")]).toEqual([200, null]);
    const { result } = JSONRPCResultResponseSchema.parse(await messageOf(initialized));
    expect(InitializeResultSchema.parse(result)).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "holdfast" },
    });
    const ready = await post(open.url, legacy("notifications/initialized", {}, {}));
    expect([ready.status, await ready.text()]).toEqual([202, ""]);
    const listed = await post(open.url, legacy("tools/list"));
    expect(listed.headers.get("cache-control")).toBe("no-store");
    const list = JSONRPCResultResponseSchema.parse(await messageOf(listed));
    expect(ListToolsResultSchema.parse(list.result).tools).toHaveLength(7);
    const unknown = await post(open.url, {
      ...legacy("tools/list"),
      headers: { "mcp-protocol-version": "1999-01-01" },
    });
    expect(unknown.status).toBe(400);
  });
});

describe("what is no message", () => {
  it("gets an error as the protocol defines it", async () => {
    const { body } = legacy("tools/list");
    for (const [sent, status, code] of [
      [{ body: "{x" }, 400, -32_700],
      [{ body: "" }, 400, -32_700],
      [{ body: "null" }, 400, -32_600],
      [{ body: "7" }, 400, -32_600],
      [{ body: {} }, 400, -32_600],
      [{ body: [] }, 400, -32_600],
      [{ body: [body, { ...body, id: 2 }] }, 400, -32_600],
      [{ body, headers: { "content-type": "text/plain" } }, 415, -32_000],
      [{ body, headers: { accept: "text/html" } }, 406, -32_000],
      [{ method: "GET" }, 405, -32_000],
      [{ method: "DELETE" }, 405, -32_000],
    ] as const) {
      const response = await post(open.url, sent);
      const { error, id } = await messageOf(response);
      expect([sent, response.status, error?.code, id]).toEqual([sent, status, code, null]);
      expect(response.headers.get("cache-control")).toBe("no-store");
      if (status === 405) expect(response.headers.get("allow")).toBe("POST");
    }
    const head = await fetch(`${open.url}/mcp`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([405, ""]);
    for (const method of ["PUT", "PATCH"]) expect((await post(open.url, { method, body: {} })).status).toBe(405);
    const wire = new Wire(open.url);
    wire.send(rawRequest({ route: "TRACE /mcp", host: new URL(open.url).host }));
    expect((await wire.answer()).status).toBeLessThan(500);
    wire.destroy();
  });

  it("or is too large, is refused", async () => {
    const response = await post(open.url, callOf("legacy", "memory_save", { content: "x".repeat(MAX_BODY) }));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ status: "error", code: 413, error: { code: "too_large" } });
  });
});

describe("a page", () => {
  const { headers, body } = callOf("modern", "memory_status");

  it("from elsewhere, and a name that is not the server's, are turned away", async () => {
    for (const method of ["POST", "GET", "DELETE", "OPTIONS"]) {
      const origin = await post(open.url, {
        method,
        headers: { ...headers, origin: "https://evil.example" },
        ...(method === "POST" && { body }),
      });
      expect([method, origin.status, origin.headers.get("access-control-allow-origin")]).toEqual([method, 403, null]);
      const wire = new Wire(open.url);
      const text = method === "POST" ? JSON.stringify(body) : "";
      const given = { ...TYPES, ...headers, "content-length": String(text.length) };
      wire.send(rawRequest({ route: `${method} /mcp`, host: "evil.example", headers: given }, text));
      expect([method, (await wire.answer()).status]).toEqual([method, 403]);
      wire.destroy();
    }
  });

  it("that is allowed may ask with the headers of a client, and read the answer", async () => {
    const wanted = [...Object.keys(headers), "authorization", "content-type", "holdfast-user", "holdfast-session"];
    const path = newPath();
    await makeKey(path, { access: "read", spaces: ["user"] });
    const keyed = await start({ path, server: { requireKey: true, allowedOrigins: PAGE } });
    for (const { url } of [open, keyed]) {
      const preflight = await post(url, {
        method: "OPTIONS",
        headers: {
          origin: PAGE,
          "access-control-request-method": "POST",
          "access-control-request-headers": wanted.join(","),
        },
      });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, PAGE]);
      expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
      const allowed = (preflight.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
      expect(allowed).toEqual(expect.arrayContaining(wanted));
    }
    for (const response of [
      await post(open.url, { headers: { ...headers, origin: PAGE }, body }),
      await post(open.url, { headers: { origin: PAGE }, body: "{x" }),
      await post(keyed.url, { headers: { ...headers, origin: PAGE }, body }),
    ]) {
      expect([response.headers.get("access-control-allow-origin"), response.headers.get("vary")]).toEqual([
        PAGE,
        "Origin",
      ]);
      await response.body?.cancel();
    }
  });
});

interface Line {
  readonly level: number;
  readonly [key: string]: unknown;
}

const closing: { readonly server: Server; readonly memory: Memory }[] = [];
afterAll(async () => {
  for (const { server, memory } of closing) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await memory.close();
  }
});

/** A server whose log is kept here, and whose memory the test can hold up. */
async function watched(more: Partial<ServerOptions> = {}) {
  const memory = await openMemory({ path: ":memory:" });
  const lines: string[] = [];
  const options: ServerOptions = {
    ...{ host: "127.0.0.1", port: 0, requireKey: false, allowedHosts: "", allowedOrigins: "", logLevel: "debug" },
    ...{ maxBodyBytes: MAX_BODY, maxRequests: 100, ratePerSecond: 0, ...more },
  };
  const log = new ServerLog("debug", { write: (line) => lines.push(line) });
  const server = createServer(getRequestListener(createApp({ memory, options, log }).fetch));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push({ server, memory });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { memory, url, text: () => lines.join(""), lines: () => lines.map((line) => JSON.parse(line) as Line) };
}

describe("too many requests", () => {
  it.each(ERAS)("are turned away while those before are worked on, in the %s era", async (era) => {
    const { memory, url } = await watched({ maxRequests: 1 });
    const { promise: held, resolve: release } = withResolvers();
    const { promise: reached, resolve: reach } = withResolvers();
    const sessionOf = memory.session.bind(memory);
    memory.session = (...args) => {
      const session = sessionOf(...args);
      const query: Session["query"] = async (...asked) => {
        reach();
        await held;
        return session.query(...asked);
      };
      return Object.create(session, { query: { value: query } }) as typeof session;
    };
    const search = callOf(era, "memory_search", { query: "figs" });
    const first = post(url, search);
    await reached;
    expect(await inside(url)).toBe(1);
    const second = await post(url, search);
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await second.json()).toMatchObject({ error: { code: "overloaded", retryable: true } });
    release();
    expect((await messageOf(await first)).result).toMatchObject({ structuredContent: { hits: [] } });
    await until(async () => (await inside(url)) === 0);
  });

  it("of one caller in a second are turned away", async () => {
    const hasty = await start({ path: ":memory:", server: { ratePerSecond: 2 } });
    const answers = await Promise.all(Array.from({ length: 9 }, () => post(hasty.url, legacy("tools/list"))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await refused[0]?.json()).toMatchObject({ error: { code: "rate_limited" } });
  });
});

describe("the log and the numbers", () => {
  it("have the route and nothing else: no name, no word, no secret; and so has a failure", async () => {
    const { memory, url, text, lines } = await watched();
    for (const era of ERAS) {
      const agent = await HttpAgent.connect(url, { query: { user: MARKER, session: MARKER } }, era);
      await agent.call("memory_save", { content: MARKER });
      await agent.call("memory_search", { query: MARKER });
      await agent.block("create", { name: `${MARKER}-${era}`, content: MARKER });
      await agent.client.readResource({ uri: `memory://blocks/${MARKER}-${era}` });
      await expect(agent.client.readResource({ uri: `memory://blocks/${MARKER}` })).rejects.toThrow();
      await expect(agent.client.callTool({ name: MARKER, arguments: {} })).rejects.toThrow();
    }
    await post(url, { query: { [MARKER]: MARKER }, body: {} });
    await post(url, { query: { tools: MARKER }, body: {} });
    await post(url, { key: `hf_${MARKER}`, body: MARKER });
    await post(url, { headers: { "holdfast-user": `UTF-8''%${MARKER}` }, body: MARKER });
    await post(url, modern(MARKER));
    expect(lines().every(({ level, route }) => level === 20 && route === "POST /mcp")).toBe(true);
    expect(text()).not.toContain(MARKER);

    const known = lines().length;
    memory.session = () => {
      const fail = () => Promise.reject(new TypeError(`cannot read ${MARKER}`));
      return { scope: { user: "ada" }, query: fail, blocks: { list: fail, get: fail } } as never;
    };
    for (const era of ERAS) {
      const agent = await HttpAgent.connect(url, {}, era);
      const { isError, text: told } = await agent.call("memory_search", { query: "x" });
      expect([isError, told]).toEqual([true, expect.stringContaining("may or may not have taken effect")]);
      const failures = [
        told,
        await agent.client.listResources().catch(String),
        await agent.client.readResource({ uri: "memory://blocks/a" }).catch(String),
      ];
      expect(failures.slice(1)).toEqual([
        expect.stringMatching(/internal error/),
        expect.stringMatching(/internal error/),
      ]);
      expect(JSON.stringify(failures)).not.toMatch(new RegExp(`${MARKER}|TypeError|cannot read`));
    }
    const failed = lines()
      .slice(known)
      .filter(({ level }) => level === 50);
    expect(failed).toHaveLength(6);
    for (const line of failed) expect(line).toMatchObject({ route: "POST /mcp", name: "TypeError" });
    expect(text()).not.toContain(MARKER);

    const numbers = await metrics(url);
    expect(numbers).toMatch(/^holdfast_http_requests_total\{route="POST \/mcp",status="200"\} \d+$/m);
    expect(numbers.match(/route="[^"]*mcp[^"]*"/g)?.every((route) => route === 'route="POST /mcp"')).toBe(true);
    expect(numbers).not.toContain(MARKER);
  });
});

describe("callers who leave, and a server that stops", () => {
  it.each(ERAS)("what was accepted is answered, in the %s era", async (era) => {
    const { server, url } = await start({ path: newPath() });
    const { headers, body } = callOf(era, "memory_save", { content: "Accepted." });
    const text = JSON.stringify(body);
    const wire = new Wire(url);
    const given = { ...TYPES, ...headers, "content-length": String(text.length) };
    wire.send(rawRequest({ route: "POST /mcp?user=ada", host: new URL(url).host, headers: given }, text.slice(0, 20)));
    await until(async () => (await inside(url)) === 1);
    const stopping = server.stop();
    wire.send(text.slice(20));
    const answer = await wire.answer();
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('"structuredContent":{"ids":[')]);
    await stopping;
  });

  it("do no harm at any moment", async () => {
    const { url, text } = await watched();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    for (const era of ERAS) {
      const save = callOf(era, "memory_save", { content: "Left." });
      for (let turns = 0; turns < 20; turns++) {
        const leaving = new AbortController();
        const opened = post(url, { ...save, signal: leaving.signal });
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        leaving.abort();
        await opened.then((response) => response.text()).catch((error: unknown) => expect(error).toBeDefined());
      }
      const half = new Wire(url);
      const headers = { ...TYPES, ...save.headers, "content-length": "100" };
      half.send(rawRequest({ route: "POST /mcp", host: new URL(url).host, headers }, '{"jsonrpc"'));
      await until(async () => (await inside(url)) === 1);
      half.destroy();
      await until(async () => (await inside(url)) === 0);
    }
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
    expect(text()).not.toContain('"level":50');
    expect((await messageOf(await post(url, callOf("legacy", "memory_status")))).result).toBeDefined();
  });
});

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
