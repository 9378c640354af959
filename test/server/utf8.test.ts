/**
 * Bytes that are not UTF-8, wherever names can occur: in bodies, URLs, headers, and lines of an import. With U+FFFD in
 * their place two names would become one, so they are refused, and nothing is written.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "./parts.js";
import { requestOf } from "./requests.js";
import { type Caller, type Envelope, newPath, start } from "./started.js";
import { type RawAnswer, rawRequest, Wire } from "./wire.js";
import { makeWorld, type World } from "./world.js";

/** Alone, out of place, cut off, too long, of a surrogate. */
const BROKEN = [[0xff], [0xc3, 0x28], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80]].map((bytes) =>
  Buffer.from(bytes),
);

let anyone: Caller;
let world: World;

beforeAll(async () => {
  const extractor = { name: "none", extract: async () => [] };
  anyone = await start({ path: newPath(), extractor });
  world = await makeWorld(anyone, "ada");
});

/** The text with the bytes in the place of each `?`. */
const withBytes = (text: string, bytes: Buffer): Buffer =>
  Buffer.from(text.replaceAll("?", bytes.toString("latin1")), "latin1");

/** Sent as it is, byte for byte. */
async function raw(head: string | Buffer, body: Uint8Array = Buffer.alloc(0)): Promise<RawAnswer> {
  const wire = new Wire(anyone.url);
  wire.send(Buffer.concat([Buffer.from(head), body]));
  const answer = await wire.answer();
  wire.destroy();
  return answer;
}

function headOf(route: string, headers: { readonly [name: string]: string } = {}): string {
  return rawRequest({ route, host: new URL(anyone.url).host, headers });
}

const errorIn = ({ body }: RawAnswer) => (JSON.parse(body) as Envelope).error;

async function itemsOf(user: string): Promise<readonly { readonly id: string }[]> {
  const { items } = await anyone.data<{ items: { id: string }[] }>("POST /api/v1/items/list", {
    query: { user },
    body: {},
  });
  return items;
}

describe("invalid UTF-8 in a body", () => {
  it("does not make one message of two ids, nor one user of two names", async () => {
    for (const bytes of BROKEN) {
      const body = withBytes('{"messages":[{"id":"?","role":"user","content":"hello"}]}', bytes);
      const { status, json } = await anyone.send("POST /api/v1/messages", { query: { user: "one" }, body });
      expect([status, json?.error?.code, json?.errors?.[0]?.field]).toEqual([422, "invalid_input", "body"]);
      expect(json?.error?.hint).toMatch(/UTF-8/);
      const named = await anyone.send("POST /api/v1/registry/users", { body: withBytes('{"name":"?"}', bytes) });
      expect(named.status).toBe(422);
    }
    expect(await itemsOf("one")).toEqual([]);
    const { items } = await anyone.data<{ items: { name: string }[] }>("GET /api/v1/registry/users");
    expect(items.filter(({ name }) => name.includes("\ufffd"))).toEqual([]);
  });

  it.each(OPERATIONS.filter(({ operation }) => operation.body))("is refused by $name", async (listed) => {
    const { route, sent } = requestOf(listed, world);
    const body = withBytes('{"name":"?"}', Buffer.from([0xff]));
    const { status, json } = await anyone.send(route, { ...sent, body });
    expect([status, json?.errors?.[0]]).toEqual([
      422,
      { field: "body", message: expect.stringContaining("not text in UTF-8") },
    ]);
  });

  it("is refused by /mcp, as the protocol says it", async () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_save","arguments":{"content":"?"}}}';
    const answer = await fetch(`${anyone.url}/mcp?user=mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: withBytes(text, Buffer.from([0xff])),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: -32_700, message: expect.stringContaining("not text in UTF-8") },
    });
    expect(await itemsOf("mcp")).toEqual([]);
  });

  it("U+FFFD itself is a character as any other", async () => {
    const body = { messages: [{ id: "\ufffd", role: "user", content: "\ufffd" }] };
    const { ids } = await anyone.data<{ ids: string[] }>("POST /api/v1/messages", { query: { user: "\ufffd" }, body });
    expect(ids).toEqual(["\ufffd"]);
  });
});

describe("invalid UTF-8 in an address", () => {
  const ENCODINGS = ["%ff", "%C3%28", "%E2%82", "%C0%AF", "%ED%A0%80", "%zz", "%", "%2"];
  const expectRefused = async (route: string) => {
    const answer = await raw(headOf(route, { "content-length": "0" }));
    expect(answer.status, route).toBe(422);
    expect(errorIn(answer)).toMatchObject({ code: "invalid_input", hint: expect.stringContaining("%C3%A9") });
  };

  it.each(ENCODINGS)(
    "such as %s is refused in the query string and in the path, on every kind of route",
    async (name) => {
      await expectRefused(`GET /api/v1/blocks?user=${name}`);
      await expectRefused(`POST /api/v1/messages?user=ada&session=${name}`);
      await expectRefused(`GET /api/v1/blocks?user=ada&${name}=1`);
      await expectRefused(`GET /api/v1/blocks/${name}/history?user=ada`);
      await expectRefused(`DELETE /api/v1/registry/users/a${name}`);
      await expectRefused(`GET /api/v1/users?name=${name}`);
      await expectRefused(`POST /mcp?user=${name}`);
      await expectRefused(`GET /api/v1/export?user=${name}`);
      await expectRefused(`POST /api/v1/import?user=${name}`);
    },
  );

  it("does not make one user of two: an encoding that is broken is not the text that it is written with", async () => {
    const literal = await anyone.send("POST /api/v1/registry/users", { body: { name: "%ff" } });
    expect(literal.status).toBe(201);
    await expectRefused("GET /api/v1/users?name=%ff");
    const { users } = await anyone.data<{ users: object[] }>("GET /api/v1/users", { query: { name: "%ff" } });
    expect(users).toHaveLength(1);
  });

  it("is refused as bytes, and so is UTF-8 that is not encoded", async () => {
    for (const bytes of [...BROKEN, Buffer.from("é")]) {
      for (const target of ["/api/v1/blocks?user=?", "/api/v1/blocks/?/history"]) {
        const line = target.replace(/\?(?=$|\/)/, bytes.toString("latin1"));
        expect((await raw(Buffer.from(headOf(`GET ${line}`), "latin1"))).status).toBe(400);
      }
    }
    const good = await anyone.send("GET /api/v1/blocks", { query: { user: "é 🦊 %" } });
    expect(good.status).toBe(200);
  });
});

describe("invalid UTF-8 in a header", () => {
  const BAD_VALUES = ["\u00ff", "\u00c3\u00a9", "UTF-8''%ff", "UTF-8''%C3%28", "UTF-8''%zz", "UTF-8''\u00e9"];

  it.each(BAD_VALUES)("such as %j is refused as Idempotency-Key, and names no user of /mcp", async (value) => {
    const text = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
    const length = { "content-length": String(text.length) };
    const send = (route: string, header: string) =>
      raw(Buffer.from(headOf(route, { ...length, [header]: value }), "latin1"), Buffer.from(text));
    const keyed = await send("POST /api/v1/messages?user=headers", "Idempotency-Key");
    expect([keyed.status, errorIn(keyed)?.code]).toEqual([422, "invalid_input"]);
    const named = await send("POST /mcp", "Holdfast-User");
    expect([named.status, errorIn(named)?.code]).toEqual([422, "invalid_input"]);
    expect(await itemsOf("headers")).toEqual([]);
  });

  it("opens nothing as an API key", async () => {
    const head = headOf("GET /api/v1/blocks?user=ada", { authorization: "Bearer hf_\u00ff" });
    expect((await raw(Buffer.from(head, "latin1"))).status).toBe(401);
  });
});

describe("invalid UTF-8 in an import", () => {
  it("is refused with the number of its line; the lines before it are imported", async () => {
    for (const bytes of BROKEN) {
      const user = `importing ${bytes.toString("hex")}`;
      const line = '{"id":"a","role":"user","content":"one"}\n';
      const body = Buffer.concat([
        Buffer.from(line),
        withBytes('{"id":"?","role":"user","content":"two"}\n', bytes),
        Buffer.from(line.replace('"a"', '"c"')),
      ]);
      const { status, json } = await anyone.send("POST /api/v1/import", { query: { user, session: "s" }, body });
      expect([status, json?.error?.code, json?.message]).toEqual([422, "invalid_input", "line 2 is not text in UTF-8"]);
      expect(json?.error?.details).toMatchObject({ line: 2, report: { lines: 1, items: 1 } });
      expect((await itemsOf(user)).map(({ id }) => id)).toEqual(["a"]);
    }
  });
});

describe("half of a surrogate pair", () => {
  it.each(["\\ud800", "\\udc00 x", "a\\ud83d"])(
    "such as %s is not allowed in a name, in any position",
    async (half) => {
      const body = (text: string) => text.replace("?", half);
      const add = body('{"messages":[{"id":"?","role":"user","content":"hello"}]}');
      expect((await anyone.send("POST /api/v1/messages", { query: { user: "half" }, body: add })).status).toBe(422);
      for (const [route, text] of [
        ["POST /api/v1/registry/users", '{"name":"?"}'],
        ["POST /api/v1/users", '{"name":"?"}'],
        ["POST /api/v1/keys", '{"access":"read","spaces":[{"user":"?"}]}'],
      ] as const) {
        expect((await anyone.send(route, { body: body(text) })).status, route).toBe(422);
      }
      const line = body('{"id":"?","role":"user","content":"hello"}');
      const imported = await anyone.send("POST /api/v1/import", { query: { user: "half", session: "s" }, body: line });
      expect([imported.status, imported.json?.error?.details?.["line"]]).toEqual([422, 1]);
      expect(await itemsOf("half")).toEqual([]);
    },
  );
});
