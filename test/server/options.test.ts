/**
 * Every option of `server` and its effect: where the server listens, who may call, and its limits. A request over a
 * limit gets the matching status, and other callers are not affected.
 */
import { openMemory } from "holdfast";
import { serve } from "holdfast/server";
import { describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { type Caller, makeKey, newPath, start, startWithKeys } from "./started.js";
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
    const path = newPath();
    const server = { allowedHosts: "memory.example,other.example" };
    await expect(start({ path, server }), "others may come in, and nobody has a key").rejects.toMatchObject({
      code: "config",
      hint: expect.stringContaining("holdfast key create"),
    });
    const { secret } = await makeKey(path, { access: "admin", spaces: ["user", "agent", "team"] });
    const named = await start({ path, server });
    const headers = { authorization: `Bearer ${secret}` };
    for (const host of ["memory.example", "127.0.0.1"]) {
      expect((await statusOf(named.url, "GET /api/v1/keys", {}, host)).status, host).toBe(401);
    }
    for (const route of routes.slice(0, -1)) {
      for (const host of ["memory.example", "MEMORY.example:8000", "other.example:80"]) {
        const refused = await statusOf(plain.url, route, {}, host);
        expect([route, refused.status]).toEqual([route, 403]);
        expect((await statusOf(named.url, route, headers, host)).status).toBeLessThan(300);
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
      expect([400, 403], host).toContain((await statusOf(named.url, "GET /api/v1/events", headers, host)).status);
    }
    for (const host of ["10.1.2.3:8000", "[fd00::1]:8000"]) {
      expect((await statusOf(named.url, "GET /api/v1/blocks?user=ada", headers, host)).status, host).toBe(403);
      expect((await statusOf(named.url, "GET /docs", {}, host)).status, host).toBe(403);
    }
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:9"]) {
      expect((await statusOf(plain.url, "GET /api/v1/blocks?user=ada", {}, host)).status, host).toBe(200);
    }
  });
});

describe("a health probe by IP address", () => {
  it("got 403, so that a pod with allowedHosts never was healthy; it gets the status alone", async () => {
    const path = newPath();
    const { secret } = await makeKey(path, { access: "admin", spaces: EVERYTHING });
    const { url, server } = await start({ path, server: { allowedHosts: "memory.example" } });
    const authorization = `Bearer ${secret}`;
    for (const host of ["10.1.2.3:8000", "10.1.2.3", "[fd00::1]:8000"]) {
      for (const route of ["GET /health", "GET /health/live", "GET /health/ready"]) {
        const { status, head, body } = await statusOf(url, route, { authorization }, host);
        expect([route, host, status, body]).toEqual([route, host, 200, ""]);
        expect(head).not.toMatch(/access-control/i);
      }
    }
    for (const host of ["evil.example", "10.1.2.3.evil.example", "10.1.2", ""]) {
      expect([400, 403], host).toContain((await statusOf(url, "GET /health/ready", {}, host)).status);
    }
    const page = { origin: "http://evil.example" };
    expect((await statusOf(url, "GET /health", page, "10.1.2.3")).status).toBe(403);
    await server.stop();
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
    expect((await statusOf(url, "PROPFIND /api/v1/blocks?user=ada")).status).toBe(405);
    for (let time = 0; time < 20; time++) expect((await fetch(`${url}/api/v1/blocks?user=ada`)).status).toBe(200);
    for (const wire of wires) wire.destroy();
  });
});

const add = (caller: Caller, content = "hello") =>
  caller.send("POST /api/v1/messages", { query: { user: "ada" }, body: { messages: [{ role: "user", content }] } });
const turnedAway = async (admin: Caller) => {
  const { text } = await admin.send("GET /metrics");
  return Number(/^holdfast_http_requests_turned_away (\d+)$/m.exec(text)?.[1]);
};

describe("ratePerSecond", () => {
  it("holds for each key, and for each address that shows none", async () => {
    const path = newPath();
    const spaces = [{ user: "ada" }];
    const keys = [await makeKey(path, { access: "write", spaces }), await makeKey(path, { access: "write", spaces })];
    const { anyone, admin } = await startWithKeys({ path, server: { ratePerSecond: 5 } });
    const [one, other] = keys.map(({ secret }) => anyone.as(secret)) as [Caller, Caller];
    const answers = await Promise.all(Array.from({ length: 8 }, () => add(one)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(refused).toHaveLength(3);
    for (const { headers, json } of refused) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(json?.error).toMatchObject({ code: "rate_limited", retryable: true });
    }
    expect((await blocks(other)).status).toBe(200);

    const guesses = await Promise.all(Array.from({ length: 8 }, () => blocks(anyone.as("hf_guess"))));
    expect(guesses.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect((await blocks(other)).status, "whoever has a key is not counted by address").toBe(200);
    expect(await turnedAway(admin)).toBe(6);

    await until(async () => (await blocks(one)).status === 200);
    const items = await admin.data<{ items: object[] }>("POST /api/v1/items/list", {
      query: { user: "ada" },
      body: {},
    });
    expect(items.items, "what was refused was not done").toHaveLength(5);
  });

  it("holds for an address where no keys are asked for, and is off unless it is set", async () => {
    const limited = await start({ path: ":memory:", server: { ratePerSecond: 2 } });
    const statuses = await Promise.all([1, 2, 3].map(async () => (await blocks(limited)).status));
    expect(statuses.sort()).toEqual([200, 200, 429]);
    const free = await start({ path: ":memory:" });
    const all = await Promise.all(Array.from({ length: 50 }, async () => (await blocks(free)).status));
    expect(new Set(all)).toEqual(new Set([200]));
  });
});

describe("maxRequests", () => {
  it("bounds concurrent work; then it continues", async () => {
    const caller = await start({ path: ":memory:", server: { maxRequests: 1 } });
    const wire = new Wire(caller.url);
    const body = JSON.stringify({ messages: [{ role: "user", content: "slow" }] });
    const headers = { "content-length": String(body.length) };
    const { host } = new URL(caller.url);
    wire.send(rawRequest({ route: "POST /api/v1/messages?user=ada", host, headers }, body.slice(0, 10)));
    await until(async () => (await blocks(caller)).status === 503);
    const refused = await add(caller);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(refused.json?.error).toMatchObject({ code: "overloaded", retryable: true });
    expect((await fetch(`${caller.url}/health/live`)).status, "it lives").toBe(200);
    expect(await turnedAway(caller)).toBeGreaterThanOrEqual(2);
    wire.send(body.slice(10));
    expect((await wire.answer()).status).toBe(201);
    expect((await add(caller)).status).toBe(201);
    wire.destroy();
  });

  it("frees a place when its holder goes away", async () => {
    const caller = await start({ path: ":memory:", server: { maxRequests: 1 } });
    const wire = new Wire(caller.url);
    const { host } = new URL(caller.url);
    wire.send(rawRequest({ route: "POST /api/v1/messages?user=ada", host, headers: { "content-length": "100" } }, "{"));
    await until(async () => (await blocks(caller)).status === 503);
    wire.destroy();
    await until(async () => (await blocks(caller)).status === 200);
  });
});

describe("maxBodyBytes", () => {
  const MAX = 2048;
  const route = "POST /api/v1/messages?user=ada";
  const sized = (bytes: number) => {
    const body = JSON.stringify({ messages: [{ role: "user", content: "" }] });
    return body.replace('""', `"${"x".repeat(bytes - body.length)}"`);
  };

  it("is how long a body may be, said beforehand or not", async () => {
    const caller = await start({ path: ":memory:", server: { maxBodyBytes: MAX } });
    const { host } = new URL(caller.url);
    const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const sent = async (headers: { readonly [name: string]: string }, body: string) => {
      const wire = new Wire(caller.url);
      wire.send(rawRequest({ route, host, headers }, body));
      const { status } = await wire.answer();
      wire.destroy();
      return status;
    };
    const told = { "content-length": String(MAX) };
    const streamed = { "transfer-encoding": "chunked" };
    expect(await sent(told, sized(MAX))).toBe(201);
    expect(await sent({ "content-length": String(MAX + 1) }, "")).toBe(413);
    expect(await sent({ "content-length": "99999999999999" }, "x")).toBe(413);
    expect(await sent(streamed, `${chunked(sized(MAX).slice(0, 100))}${chunked(sized(MAX).slice(100))}0\r\n\r\n`)).toBe(
      201,
    );
    expect(await sent(streamed, `${chunked(sized(MAX))}${chunked("x")}`), "it does not wait for the end").toBe(413);
    expect((await add(caller)).status).toBe(201);
  });

  it("refuses a client that sends far too much, which continues afterwards", async () => {
    const caller = await start({ path: ":memory:", server: { maxBodyBytes: MAX } });
    for (let time = 0; time < 3; time++) {
      const { status, json } = await caller.send(route, { body: sized(8_000_000) });
      expect([status, json?.error?.code]).toEqual([413, "too_large"]);
      expect((await add(caller)).status).toBe(201);
    }
  });

  it("does not bound an import, which is a stream", async () => {
    const caller = await start({ path: ":memory:", server: { maxBodyBytes: MAX } });
    const lines = Array.from({ length: 200 }, (_, at) => JSON.stringify({ role: "user", content: `line ${at}` }));
    const query = { user: "ada", session: "long" };
    const report = await caller.data("POST /api/v1/import", { query, body: lines.join("\n") });
    expect(report).toMatchObject({ items: 200 });
  });
});
