/**
 * Malformed bodies, names and paths. Every answer says which field is wrong and why, has the documented form, and is
 * not a server error; a refused request changes nothing. Names that are merely unusual are accepted and kept as they
 * are.
 */
import { openMemory } from "holdfast";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Listed, OPERATIONS } from "./parts.js";
import { byName, placeOf, requestOf } from "./requests.js";
import { type Answer, type Caller, type Sent, start } from "./started.js";
import { makeWorld, type World } from "./world.js";

const MAX_BODY = 65_536;

let anyone: Caller;
let world: World;

beforeAll(async () => {
  const extractor = { name: "none", extract: async () => [] };
  anyone = await start({ path: ":memory:", extractor, server: { maxBodyBytes: MAX_BODY } });
  world = await makeWorld(anyone, "ada");
});

const withBody = OPERATIONS.filter(({ operation }) => operation.body);
const isStrict = ({ name }: Listed) => !name.startsWith("memfuse");

const send = (listed: Listed, body: unknown, more: { readonly [name: string]: string } = {}): Promise<Answer> => {
  const { route, sent } = requestOf(listed, world, { ...placeOf(world), ...more });
  return anyone.send(route, { ...sent, body });
};

describe.each(withBody)("$method $path ($name) refuses", (listed) => {
  const sample = () => requestOf(listed, world).sent.body as { readonly [key: string]: unknown };

  it("what is no JSON, or no object", async () => {
    for (const body of ["{", "hello", '{"a":1,}', "\u0000", "NaN"]) {
      const { status, json } = await send(listed, body);
      expect([status, json?.error?.code, json?.errors?.[0]?.field], body).toEqual([422, "invalid_input", "body"]);
    }
    for (const body of ["[]", "5", '"text"']) expect((await send(listed, body)).status, body).toBe(422);
  });

  it("fields of another type, by name", async () => {
    for (const key of Object.keys(sample())) {
      const refused: string[] = [];
      for (const wrong of [{ x: 1 }, 1.5, "", [[]], [null], null, "\u0000", "x".repeat(600)]) {
        const { status, json, text } = await send(listed, { ...sample(), [key]: wrong });
        expect(status, `${key}: ${JSON.stringify(wrong)} ${text}`).toBeLessThan(500);
        if (status === 422 || status === 413) refused.push(...(json?.errors ?? []).map(({ field }) => field));
      }
      expect(
        refused.some((field) => field.includes(key)),
        `${key}: ${refused}`,
      ).toBe(true);
    }
  });

  it("fields that it does not know, those of objects' prototypes too", async () => {
    const text = JSON.stringify(sample()).replace(/^\{/, "");
    const rest = text === "}" ? text : `,${text}`;
    for (const key of ["unknown", "__proto__", "constructor", "prototype", "toString"]) {
      const { status } = await send(listed, `{${JSON.stringify(key)}:{"polluted":true}${rest}`);
      expect(status).toBeLessThan(500);
      if (isStrict(listed)) expect(status, key).toBe(422);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("depth and size", async () => {
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    for (const key of [...Object.keys(sample()), "metadata"]) {
      const text = JSON.stringify({ ...sample(), [key]: "HERE" }).replace('"HERE"', deep(30_000));
      expect((await send(listed, text)).status, key).toBeLessThan(500);
    }
    const { status, json } = await send(listed, { ...sample(), padding: "x".repeat(MAX_BODY) });
    expect([status, json?.error?.code, json?.error?.details]).toEqual([413, "too_large", { maxBytes: MAX_BODY }]);
  });

  it("query strings of another form", async () => {
    for (const strange of [{ nonsense: "1" }, { ["__proto__"]: "1" }, { constructor: "1" }]) {
      const owned = { ...listed, operation: { ...listed.operation, scope: "own" as const } };
      expect((await send(owned, sample(), strange)).status, Object.keys(strange)[0]).toBe(422);
    }
  });
});

describe("a page", () => {
  const paged = OPERATIONS.filter(({ operation }) => operation.query && "limit" in operation.query.shape);

  /** A name comes last: in the MemFuse dialect it goes on to the end. */
  const more = ({ query: { limit: _, ...rest } = {} }: Sent) => rest;

  it.each(paged)("of $name is not of any length, nor after any cursor", async (listed) => {
    const { route, sent } = requestOf(listed, world);
    for (const limit of ["0", "-1", "1.5", "abc", "1e400", "", " "]) {
      const { status, json } = await anyone.send(route, { ...sent, query: { limit, ...more(sent) } });
      if (listed.name === "blockHistory" && Number(limit) === 0) continue; // none, or any number
      expect([status, json?.errors?.[0]?.field], limit).toEqual([422, "limit"]);
    }
    for (const cursor of ["junk", "\u0000", "bnVsbA==", "x".repeat(9000), "eyJrIjp7fX0"]) {
      const answer = await anyone.send(route, { ...sent, query: { cursor, ...more(sent) } });
      expect(answer.status, `${cursor.slice(0, 20)} ${answer.text}`).toBeLessThan(500);
    }
  });
});

describe("text", () => {
  const add = byName("add");
  const content = async (body: string) => {
    const { status, json } = await send(add, body, { user: "writer" });
    expect(status).toBe(201);
    const { ids } = (json?.data ?? { ids: [] }) as { ids: string[] };
    const [item] = await anyone.data<{ content: string }[]>("POST /api/v1/items/get", {
      query: { user: "writer" },
      body: { ids },
    });
    return item?.content;
  };
  const saying = (text: string) => `{"messages":[{"role":"user","content":"${text}"}]}`;

  it("that is no Unicode is mended, and nothing else is lost", async () => {
    expect(await content(saying("half \\ud800 a pair"))).toBe("half \ufffd a pair");
    expect(await content(saying("🦊 \\u0041 \\n ä"))).toBe("🦊 A \n ä");
    expect(await content(`\ufeff${saying("after a mark")}`)).toBe("after a mark");
    expect(await content(saying("NUL \\u0000 within"))).toMatch(/^NUL .? ?within$/u);
  });

  it("of metadata keeps every key but pollutes nothing", async () => {
    const metadata = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a.b":[1,{"c":null}]}';
    const { status } = await send(add, `{"messages":[{"role":"user","content":"x","metadata":${metadata}}]}`);
    expect(status).toBe(201);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
    const refused = await send(add, `{"messages":[{"role":"user","content":"x","metadata":${deep}}]}`);
    expect([refused.status, refused.json?.errors?.[0]?.field]).toEqual([422, expect.stringContaining("metadata")]);
  });
});

describe("a body of very many parts", () => {
  it("is refused before each element is checked, with a few errors instead of a million", async () => {
    const { url } = await start({ path: ":memory:" });
    const sent = async (path: string, body: object) => {
      const response = await fetch(`${url}/api/v1/${path}?user=ada`, { method: "POST", body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    };
    for (const [path, body] of [
      ["items/get", { ids: Array(400_000).fill(0) }],
      ["messages", { messages: Array(200_000).fill({}) }],
      ["rounds", { rounds: Array(2).fill(Array(100_000).fill(0)) }],
      ["query", { query: "x", metadata: Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [at, 0])) }],
    ] as const) {
      const { status, text } = await sent(path, body);
      expect([path, status, text.length < 1000]).toEqual([path, 413, true]);
    }
    const many = await sent("items/get", { ids: Array(100_000).fill("x".repeat(3)) });
    expect(many.status, "as many ids as a call may name").toBe(200);
    const wrong = await sent("messages", { messages: Array(5000).fill({ unknown: 1 }) });
    expect([wrong.status, wrong.text.length < 10_000]).toEqual([422, true]);
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`key${at}`, 0]));
    expect((await sent("query", { query: "x", ...keys })).text.length).toBeLessThan(2000);
  });
});

describe("an error", () => {
  it("names each field that is wrong, in words, and never what was said", async () => {
    const messages = [
      { role: "user", content: "fine" },
      { role: "owl", content: 7, secret: "hush-hush" },
    ];
    const { status, json, text } = await send(byName("add"), { messages });
    expect(status).toBe(422);
    expect(json?.errors?.map(({ field }) => field).sort()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^messages\[1\]/)]),
    );
    expect(json?.errors?.length).toBeGreaterThanOrEqual(2);
    expect(text).not.toContain("hush-hush");
  });

  it("of a path says so, whatever the method", async () => {
    for (const route of ["GET /", "GET /api", "GET /api/v1", "GET /api/v2/messages", "DELETE /api/v1/none"]) {
      const { status, json } = await anyone.send(route);
      expect([status, json?.error?.code], route).toEqual([404, "not_found"]);
    }
    for (const [route, allowed] of [
      ["GET /api/v1/messages", "POST"],
      ["PUT /api/v1/query", "POST"],
      ["PATCH /api/v1/blocks", "GET, POST"],
      ["PUT /api/v1/blocks/anything/history", "GET"],
      ["POST /metrics", "GET"],
      ["DELETE /health", "GET"],
    ] as const) {
      const { status, json, headers } = await anyone.send(route, { query: { user: "ada" } });
      expect([status, json?.code, headers.get("allow")], route).toEqual([405, 405, allowed]);
      expect(json?.error).toMatchObject({ code: "not_found", hint: expect.stringContaining(allowed) });
    }
  });
});

describe("a path", () => {
  it("may end in a slash", async () => {
    for (const listed of OPERATIONS.filter(({ method }) => method === "GET")) {
      const { route, sent } = requestOf(listed, world);
      const [plain, slashed] = [await anyone.send(route, sent), await anyone.send(`${route}/`, sent)];
      expect(slashed.status, route).toBe(plain.status);
    }
    const twice = await anyone.send("GET /api/v1//blocks", { query: { user: "ada" } });
    expect(twice.status).toBe(404);
  });

  it("answers HEAD as it answers GET, without a body, and OPTIONS with nothing", async () => {
    const { route, sent } = requestOf(byName("listBlocks"), world);
    const head = await anyone.fetch(route.replace("GET", "HEAD"), sent);
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
      ...[200, "application/json; charset=utf-8", ""],
    ]);
    const options = await anyone.fetch(route.replace("GET", "OPTIONS"), sent);
    expect([options.status, await options.text()]).toEqual([204, ""]);
    expect(options.headers.get("access-control-allow-origin")).toBeNull();
  });
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

  it("is kept as it is, in any position", async () => {
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
    ["x".repeat(513), 413],
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
    expect([404, status]).toContain(inPath.status);
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
      // "/blocks/." is "/blocks", which has no DELETE; "/blocks/.." is nothing.
      expect([404, 405]).toContain((await anyone.send(`DELETE /api/v1/blocks/${name}`, { query })).status);
      expect([404, 405]).toContain((await anyone.send(`DELETE /api/v1/registry/users/${name}`)).status);
    }
    expect(await anyone.data("GET /api/v1/blocks", { query })).toHaveLength(2);
  });
});

describe("a change of an entry", () => {
  it("whose new name is taken changes nothing else", async () => {
    for (const name of ["taken", "mine"]) await anyone.send("POST /api/v1/registry/users", { body: { name } });
    const change = { name: "taken", description: "changed" };
    expect((await anyone.send("PATCH /api/v1/registry/users/mine", { body: change })).status).toBe(409);
    const { text } = await anyone.send("GET /api/v1/registry/users", { query: { name: "mine" } });
    expect(text).not.toContain("changed");
    const right = await anyone.send("PATCH /api/v1/registry/users/mine", { body: { ...change, name: "ours" } });
    expect(right.text).toMatch(/"name":"ours".*"description":"changed"/);
  });
});

describe("a mistyped key or value", () => {
  const hintOf = async (route: string, body?: object, query: Record<string, string> = {}) => {
    const { status, json } = await anyone.send(route, { query: { user: "ada", ...query }, ...(body && { body }) });
    expect(status).toBe(422);
    return `${json?.message} (${json?.error?.hint})`;
  };

  it("got no suggestion over HTTP, unlike in the library", async () => {
    const memory = await openMemory({ path: ":memory:" });
    onTestFinished(async () => void (await memory.close()));
    const session = memory.session({ user: "ada" });
    const library = async (call: () => Promise<unknown>): Promise<string> =>
      call().then(
        () => "accepted",
        ({ message }: Error) => message.replace(/^options\.?/, ""),
      );
    const unknown = await library(() => session.query("x", { topk: 3 } as object));
    expect(unknown).toBe(' has an unknown key "topk"; did you mean "topK"?');
    expect(await hintOf("POST /api/v1/query", { query: "x", topk: 3 })).toContain(
      `the body${unknown} (known keys: query,`,
    );
    const synonym = await library(() => session.query("x", { limit: 3 } as object));
    expect(synonym).toBe(' has an unknown key "limit"; did you mean "topK"?');
    expect(await hintOf("POST /api/v1/query", { query: "x", limit: 3 })).toContain(`the body${synonym}`);
    const message = { role: "user", content: "x", metdata: {} };
    const nested = await library(() => session.add([message as { role: "user"; content: string }]));
    expect(nested).toContain('messages[0] has an unknown key "metdata"; did you mean "metadata"?');
    expect(await hintOf("POST /api/v1/messages", { messages: [message] })).toContain(nested);
    const choice = await library(() => session.query("x", { sortBy: "scores" as "score" }));
    expect(await hintOf("POST /api/v1/query", { query: "x", sortBy: "scores" })).toContain(choice);
  });

  it("of the query string gets one, too", async () => {
    expect(await hintOf("POST /api/v1/messages", { messages: [] }, { sesion: "s" })).toContain("did you mean session?");
    expect(await hintOf("GET /api/v1/blocks/b/history", undefined, { limt: "3" })).toContain(
      'the query string has an unknown key "limt"; did you mean "limit"?',
    );
    expect(await hintOf("GET /api/v1/blocks/b/history", undefined, { sesion: "3" })).toContain(
      'did you mean "session"?',
    );
  });
});
