/**
 * Bodies that take a parser seconds: very deep ones, and ones of very many elements. They are refused before they are parsed,
 * so what follows their beginning does not matter: none of these is JSON to its end.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, start } from "./started.js";

let anyone: Caller;

beforeAll(async () => {
  anyone = await start({ path: ":memory:" });
});

const MAX = 16 * 1024 * 1024;
const DEEP = "[".repeat(MAX);
const OBJECTS = '{"a":'.repeat(MAX / 5);
const KEYS = `{${Array.from({ length: 1_300_000 }, (_, at) => `"k${at}":0`).join(",")}`;
const LISTS = `[${"[],".repeat(1_000_000)}`;

const ROUTES = ["POST /api/v1/messages", "POST /api/v1/query", "PATCH /api/v1/items/x", "POST /api/v1/import"];

describe("a JSON bomb", () => {
  it.each(ROUTES)("of 16 MB of [ is refused by %s before it is parsed", async (route) => {
    for (const body of [DEEP, OBJECTS]) {
      const { status, json } = await anyone.send(route, { query: { user: "ada" }, body });
      expect([status, json?.error?.code]).toEqual([422, "invalid_input"]);
      expect(json?.message).toMatch(/nested deeper than 64 levels/);
      expect(json?.error).toMatchObject({ hint: expect.any(String), details: { maxDepth: 64 } });
    }
  });

  it.each(ROUTES)("of 1.3 million keys is refused by %s before it is parsed", async (route) => {
    for (const body of [KEYS, LISTS]) {
      const { status, json } = await anyone.send(route, { query: { user: "ada" }, body });
      expect([status, json?.error?.code]).toEqual([413, "too_large"]);
      expect(json?.error).toMatchObject({ hint: expect.any(String), details: { maxElements: 110_000 } });
    }
  });

  it("is refused by /mcp", async () => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const post = (body: string) => fetch(`${anyone.url}/mcp?user=ada`, { method: "POST", headers, body });
    const deep = await post(DEEP);
    expect([deep.status, await deep.text()]).toEqual([400, expect.stringContaining("nested deeper than 64 levels")]);
    expect((await post(KEYS)).status).toBe(413);
  });

  it("is refused by the dialect of MemFuse", async () => {
    expect((await anyone.send("POST /api/v1/users", { body: DEEP })).json?.message).toMatch(/nested deeper/);
    expect((await anyone.send("POST /api/v1/users", { body: KEYS })).status).toBe(413);
  });
});

describe("what is no bomb", () => {
  it("is taken: the deepest metadata, and the largest parts that can be stored", async () => {
    const metadata = JSON.parse(`${'{"a":'.repeat(31)}{}${"}".repeat(31)}`) as object;
    const parts = [{ type: "data", values: Array(99_990).fill(1) }];
    const body = { messages: [{ id: "large", role: "user", content: parts, metadata }] };
    const { status, text } = await anyone.send("POST /api/v1/messages", { query: { user: "large" }, body });
    expect(status, text.slice(0, 200)).toBe(201);
    const { text: lines } = await anyone.send("GET /api/v1/export", { query: { user: "large" } });
    const other = await start({ path: ":memory:" });
    const report = await other.data("POST /api/v1/import", { body: lines });
    expect(report).toMatchObject({ items: 1 });
    const more = [{ type: "data", values: Array(100_001).fill(1) }];
    const refused = await anyone.send("POST /api/v1/messages", {
      query: { user: "large" },
      body: { messages: [{ role: "user", content: more }] },
    });
    expect([refused.status, refused.json?.error?.code]).toEqual([413, "too_large"]);
  });
});
