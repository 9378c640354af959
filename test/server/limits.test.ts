/** How much, how often, how many at once: what is too much is refused with a status that says so, and nobody else suffers. */
import { describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { type Caller, makeKey, newPath, start, startWithKeys } from "./started.js";
import { rawRequest, Wire } from "./wire.js";

const blocks = (caller: Caller) => caller.send("GET /api/v1/blocks", { query: { user: "ada" } });
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
  it("bounds what is worked on at once; then it goes on", async () => {
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

  it("gives a place back when whoever had it goes away", async () => {
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

  it("tells a client that sends far too much, which goes on afterwards", async () => {
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
    expect(report).toMatchObject({ items: 200, complete: true });
  });
});
