/**
 * Bodies, names and paths that nobody should send. Whatever comes, the answer says what is wrong with which field, is of the
 * documented form, and is no fault of the server's; what is refused has changed nothing.
 */
import { beforeAll, describe, expect, it } from "vitest";
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
      // A parser may drop `__proto__` before anyone sees it.
      if (isStrict(listed) && key !== "__proto__") expect(status, key).toBe(422);
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
    const strange = { nonsense: "1" };
    expect(
      (await send({ ...listed, operation: { ...listed.operation, scope: "own" } }, sample(), strange)).status,
    ).toBe(422);
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
  const content = async (body: string | Uint8Array) => {
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
    const bytes = Buffer.from(saying("bad ? bytes"));
    bytes[bytes.indexOf("?")] = 0xff;
    expect(await content(bytes)).toBe("bad \ufffd bytes");
    expect(await content(saying("🦊 \\u0041 \\n ä"))).toBe("🦊 A \n ä");
    expect(await content(`\ufeff${saying("after a mark")}`)).toBe("after a mark");
    expect(await content(saying("NUL \\u0000 within"))).toMatch(/^NUL .? ?within$/u);
  });

  it("of metadata keeps every key but pollutes nothing", async () => {
    const metadata = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a.b":[1,{"c":null}]}';
    const { status } = await send(add, `{"messages":[{"role":"user","content":"x","metadata":${metadata}}]}`);
    expect([201, 422]).toContain(status);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
    const refused = await send(add, `{"messages":[{"role":"user","content":"x","metadata":${deep}}]}`);
    expect([refused.status, refused.json?.errors?.[0]?.field]).toEqual([422, expect.stringContaining("metadata")]);
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
    for (const route of [
      "GET /",
      "GET /api",
      "GET /api/v1",
      "GET /api/v2/messages",
      "POST /metrics",
      "DELETE /health",
    ]) {
      const { status, json } = await anyone.send(route);
      expect([status, json?.error?.code], route).toEqual([404, "not_found"]);
    }
    for (const route of [
      "GET /api/v1/messages",
      "PUT /api/v1/query",
      "DELETE /api/v1/blocks",
      "PATCH /api/v1/export",
    ]) {
      const { status, json } = await anyone.send(route, { query: { user: "ada" } });
      expect([status, json?.error?.hint], route).toEqual([404, expect.stringContaining("method")]);
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
