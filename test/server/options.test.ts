/** Where the server listens, and to whom: each option of `server` that is not a limit, and what it changes. */
import { openMemory } from "holdfast";
import { serve } from "holdfast/server";
import { describe, expect, it } from "vitest";
import { type Caller, makeKey, newPath, start } from "./started.js";
import { rawRequest, Wire } from "./wire.js";

const EVERYTHING = ["user", "agent", "team"] as const;

/** The status of a request with headers that fetch would not send. */
async function statusOf(
  url: string,
  route: string,
  headers: { readonly [name: string]: string } = {},
  host = new URL(url).host,
): Promise<{ readonly status: number; readonly head: string; readonly body: string }> {
  const wire = new Wire(url);
  wire.send(rawRequest({ route, host, headers: { ...headers, connection: "close" } }));
  const answer = await wire.answer();
  wire.destroy();
  return answer;
}

const blocks = (caller: Caller) => caller.send("GET /api/v1/blocks", { query: { user: "ada" } });

describe("host and port", () => {
  it("say where it listens", async () => {
    const { url, server } = await start({ path: ":memory:", server: { host: "localhost" } });
    expect(url).toBe(`http://localhost:${server.port}`);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it("that are taken are an error, never another port, and the file is free again", async () => {
    const { server } = await start({ path: ":memory:" });
    const path = newPath();
    const error = await serve({ path, server: { port: server.port, logLevel: "silent" } }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: "config",
      message: expect.stringContaining(String(server.port)),
      hint: expect.stringContaining("--port"),
    });
    await (await openMemory({ path })).close();
  });

  it("that cannot be had are an error with a hint", async () => {
    const error = await serve({
      path: ":memory:",
      server: { host: "no.such.host.invalid", port: 0, logLevel: "silent" },
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "config", hint: expect.stringMatching(/\S/) });
  });
});

describe("beyond this machine", () => {
  it("it does not start without a key that is valid", async () => {
    const path = newPath();
    const expectRefused = async (why: string) => {
      for (const host of ["0.0.0.0", "::"]) {
        const started = serve({ path, server: { host, port: 0, logLevel: "silent" } });
        await expect(started, why).rejects.toMatchObject({
          code: "config",
          message: expect.stringContaining(host),
          hint: expect.stringContaining("key create"),
        });
      }
    };
    await expectRefused("there is none");
    const memory = await openMemory({ path });
    const { key } = await memory.keys.create({ access: "admin", spaces: EVERYTHING });
    await memory.keys.revoke(key.id);
    await memory.close();
    await expectRefused("one that is revoked lets nobody in");
  });

  it("every request needs a key", async () => {
    const path = newPath();
    const { secret } = await makeKey(path, { access: "admin", spaces: EVERYTHING });
    const server = await start({ path, server: { host: "0.0.0.0" } });
    const local = server.url.replace("0.0.0.0", "127.0.0.1");
    const authorization = `Bearer ${secret}`;
    const route = "GET /api/v1/blocks?user=ada";
    expect((await statusOf(local, route)).status).toBe(401);
    expect((await statusOf(local, route, { authorization })).status).toBe(200);
    expect((await statusOf(local, route, { authorization }, "memory.example")).status).toBe(200);
    expect((await statusOf(local, "GET /metrics")).status).toBe(401);
    expect((await statusOf(local, "GET /health/live")).status).toBe(200);
  });
});

describe("requireKey", () => {
  it("asks for a key on this machine, too; a key that is given counts without it", async () => {
    expect((await blocks(await start({ path: newPath(), server: { requireKey: true } }))).status).toBe(401);
    const path = newPath();
    const { secret } = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const open = await start({ path });
    expect((await blocks(open)).status).toBe(200);
    expect((await blocks(open.as(secret))).status).toBe(200);
    expect((await open.as(secret).send("GET /api/v1/blocks", { query: { user: "bob" } })).status).toBe(403);
    expect((await blocks(open.as("hf_wrong"))).status).toBe(401);
    for (const authorization of ["Basic YTpi", "Bearer", `Token ${secret}`, `Bearer ${secret} ${secret}`, secret]) {
      const { status } = await open.send("GET /api/v1/blocks", { query: { user: "ada" }, headers: { authorization } });
      expect(status, authorization.slice(0, 8)).toBe(401);
    }
  });
});

describe("allowedHosts", () => {
  const paths = ["GET /health", "GET /health/ready", "GET /metrics", "GET /docs", "GET /openapi.json"];
  const routes = [...paths, "GET /api/v1/blocks?user=ada", "OPTIONS /api/v1/blocks", "GET /api/v1/events"];

  it("are the names by which it answers, beside those of this machine", async () => {
    const plain = await start({ path: ":memory:" });
    const named = await start({ path: ":memory:", server: { allowedHosts: "memory.example,other.example" } });
    for (const route of routes.slice(0, -1)) {
      for (const host of ["memory.example", "MEMORY.example:8000", "other.example:80"]) {
        const refused = await statusOf(plain.url, route, {}, host);
        expect([route, refused.status]).toEqual([route, 403]);
        expect((await statusOf(named.url, route, {}, host)).status).toBeLessThan(300);
      }
    }
    for (const host of [
      "evil.example",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "evil.example:8000",
      "",
      "a@localhost",
    ]) {
      expect([400, 403], host).toContain((await statusOf(named.url, "GET /api/v1/events", {}, host)).status);
    }
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:9"]) {
      expect((await statusOf(plain.url, "GET /api/v1/blocks?user=ada", {}, host)).status, host).toBe(200);
    }
  });
});

describe("allowedOrigins", () => {
  const route = "GET /api/v1/blocks?user=ada";
  const PAGE = "https://app.example.com";

  it("are the pages that may call it, and read errors too", async () => {
    const { url } = await start({ path: ":memory:", server: { allowedOrigins: `${PAGE},http://localhost:3000` } });
    for (const origin of [PAGE, "http://localhost:3000"]) {
      for (const [request, status] of [[route, 200] as const, ["GET /api/v1/blocks", 422] as const]) {
        const { head, ...answer } = await statusOf(url, request, { origin });
        expect(answer.status).toBe(status);
        expect(head).toMatch(new RegExp(`^access-control-allow-origin: ${origin}$`, "im"));
        expect(head).toMatch(/^vary: origin$/im);
      }
      const asking = {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      };
      const preflight = await statusOf(url, "OPTIONS /api/v1/messages", asking);
      expect(preflight.status).toBe(204);
      expect(preflight.head).toMatch(/^access-control-allow-methods: .*POST/im);
      expect(preflight.head).toMatch(/^access-control-allow-headers: .*Authorization.*Idempotency-Key/im);
      expect(preflight.head).not.toMatch(/allow-credentials/i);
    }
    for (const origin of [
      "https://evil.example.com",
      "https://app.example.com.evil.com",
      "http://app.example.com",
      "null",
      "*",
    ]) {
      for (const request of [route, "POST /api/v1/messages?user=ada", "OPTIONS /api/v1/messages", "GET /metrics"]) {
        const { status, head } = await statusOf(url, request, { origin, "content-length": "0" });
        expect(status, `${origin} ${request}`).toBe(403);
        expect(head).not.toMatch(/access-control/i);
      }
    }
  });

  it("are none unless they are set; the server's own pages always may", async () => {
    const { url } = await start({ path: ":memory:" });
    expect((await statusOf(url, route, { origin: PAGE })).status).toBe(403);
    const same = await statusOf(url, route, { origin: url });
    expect(same.status).toBe(200);
    expect(same.head).not.toMatch(/access-control/i);
    expect((await statusOf(url, route)).head).not.toMatch(/access-control/i);
  });
});

describe("a server", () => {
  it("is not held up by requests that do not end, nor hurt by what is no request", async () => {
    const { url } = await start({ path: ":memory:" });
    const { host } = new URL(url);
    const halves = [
      "POST /api/v1/mess",
      `POST /api/v1/messages?user=ada HTTP/1.1\r\nHost: ${host}\r\ncontent-le`,
      rawRequest({ route: "POST /api/v1/messages?user=ada", host, headers: { "content-length": "50" } }, '{"messages"'),
      rawRequest(
        { route: "POST /api/v1/import?user=ada", host, headers: { "transfer-encoding": "chunked" } },
        "5\r\n{",
      ),
    ];
    const wires = Array.from({ length: 40 }, (_, at) => {
      const wire = new Wire(url);
      wire.send(halves[at % halves.length] ?? "");
      return wire;
    });
    for (const garbage of ["\u0000\u0001\u0002\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", `GET /health HTTP/1.1\r\n\r\n`]) {
      const wire = new Wire(url);
      wire.send(garbage);
      expect((await wire.answer()).status).toBe(400);
    }
    const both = { "content-length": "3", "transfer-encoding": "chunked" };
    expect((await statusOf(url, "POST /api/v1/query?user=ada", both)).status, "what could be two requests").toBe(400);
    expect((await statusOf(url, "GET /health", { "x-long": "x".repeat(100_000) })).status).toBe(431);
    expect((await statusOf(url, "PROPFIND /api/v1/blocks?user=ada")).status).toBe(404);
    for (let time = 0; time < 20; time++) expect((await fetch(`${url}/api/v1/blocks?user=ada`)).status).toBe(200);
    for (const wire of wires) wire.destroy();
  });
});
