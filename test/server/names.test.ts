/** Names as people give them: what goes in comes out, in query strings, paths and bodies. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, start } from "./started.js";

let anyone: Caller;

beforeAll(async () => {
  anyone = await start({ path: ":memory:" });
});

const NAMES = [
  ...["Tom & Jerry", "a b", "a+b", "a=b", "a/b", "a//b/", "/", "100%", "%2F", "%zz", "%", "a?b", "a#b", "a;b", "a,b"],
  ...[
    "🦊",
    "Ünïcödé",
    "e\u0301",
    "\u00e9",
    "日本",
    "\u202eabc",
    "\u200b",
    "a\\b",
    '"quoted"',
    "'; DROP TABLE item; --",
  ],
  ...["<script>alert(1)</script>", "__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "0"],
  ...[
    "a\tb",
    "a\nb",
    "a\r\nSet-Cookie: owned=1",
    " ",
    " padded ",
    "-",
    "...",
    "a.b",
    "{name}",
    ":name",
    "*",
    "sessions",
  ],
  "x".repeat(512),
];

describe.each(NAMES)("the name %j", (name) => {
  const path = encodeURIComponent(name);

  it("is kept as it is, wherever it stands", async () => {
    const query = { user: name, session: name, agent: name };
    const messages = [{ id: name, name, role: "user", content: "hello" }];
    const { ids } = await anyone.data<{ ids: string[] }>("POST /api/v1/messages", { query, body: { messages } });
    expect(ids).toEqual([name]);
    const items = await anyone.data<object[]>("POST /api/v1/items/get", { query, body: { ids } });
    expect(items).toMatchObject([{ id: name, name, session: name, agent: name, space: { user: name } }]);
    const updated = await anyone.send(`PATCH /api/v1/items/${path}`, { query, body: { content: "hello again" } });
    expect(updated.status).toBe(200);
    for (const [key, value] of updated.headers) expect(`${key}${value}`).not.toMatch(/owned|cookie/i);

    await anyone.data("POST /api/v1/blocks", { query, body: { name, content: "text" } });
    expect(await anyone.data(`GET /api/v1/blocks/${path}`, { query })).toMatchObject({ name, space: { user: name } });
    expect(await anyone.data(`GET /api/v1/blocks/${path}/versions/1`, { query })).toEqual({ content: "text" });
    await anyone.data(`DELETE /api/v1/blocks/${path}`, { query });

    const entries = await anyone.data<{ items: { id: string }[] }>("GET /api/v1/registry/users", { query: { name } });
    expect(entries.items).toMatchObject([{ name, kind: "user" }]);
    const described = await anyone.data(`PATCH /api/v1/registry/users/${path}`, { body: { description: name } });
    expect(described).toMatchObject({ name, description: name });
    const { users } = await anyone.data<{ users: object[] }>("GET /api/v1/users", { query: { name } });
    expect(users).toEqual([expect.objectContaining({ id: entries.items[0]?.id, name })]);
    const { sessions } = await anyone.data<{ sessions: object[] }>("GET /api/v1/sessions", { query: { name } });
    expect(sessions).toEqual([expect.objectContaining({ name })]);
    const { text } = await anyone.send("GET /api/v1/export", { query: { user: name } });
    expect(text).toContain(JSON.stringify(name));
    expect(await anyone.data(`DELETE /api/v1/registry/users/${path}`)).toMatchObject({ items: 1, entries: 1 });
  });
});

describe("a name", () => {
  it.each([
    ["", 422],
    ["x".repeat(513), 422],
    ["a\u0000b", 422],
  ])("such as %j is refused", async (name, status) => {
    const body = { messages: [{ role: "user", content: "hello" }] };
    const inQuery = await anyone.send("POST /api/v1/messages", { query: { user: name }, body });
    expect([inQuery.status, inQuery.json?.errors?.[0]?.field]).toEqual([status, expect.stringContaining("user")]);
    const inBody = await anyone.send("POST /api/v1/registry/users", { body: { name } });
    expect([inBody.status, inBody.json?.errors?.[0]?.field]).toEqual([status, "name"]);
    const inPath = await anyone.send(`GET /api/v1/blocks/${encodeURIComponent(name)}/history`, {
      query: { user: "u" },
    });
    expect([404, 422]).toContain(inPath.status);
  });

  it("that is half a surrogate pair is refused, not changed into another", async () => {
    const { status } = await anyone.send("POST /api/v1/registry/users", { body: '{"name":"\\ud800"}' });
    expect(status).toBe(422);
  });

  it("that a path cannot hold, . and .., reaches nothing else by it", async () => {
    const query = { user: "dots" };
    for (const name of [".", ".."])
      await anyone.data("POST /api/v1/blocks", { query, body: { name, content: "text" } });
    for (const name of [".", "..", "%2e", "%2e%2e"]) {
      expect((await anyone.send(`DELETE /api/v1/blocks/${name}`, { query })).status).toBe(404);
      expect((await anyone.send(`DELETE /api/v1/registry/users/${name}`)).status).toBe(404);
    }
    expect(await anyone.data("GET /api/v1/blocks", { query })).toHaveLength(2);
  });
});
