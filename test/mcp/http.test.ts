/** MCP over HTTP: real clients of both eras, and of the previous SDK, on a real server; scopes and permissions. */
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { FakeClock } from "holdfast/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, start, startWithKeys } from "../server/started.js";
import { makeKey, makeMarkedWorld } from "../server/world.js";
import { addressOf, callOf, ERAS, type Era, HttpAgent, type Place, post } from "./http-agent.js";

const CORE = ["save", "search", "get", "context", "forget", "block", "status"].map((name) => `memory_${name}`);
const MARKER = "Xanadu7714";

interface Saved {
  readonly ids: readonly [string];
}
interface Status {
  readonly scope: { readonly [key: string]: string };
  readonly blocks: readonly string[];
}

/** Lets nobody in without a key. */
let anyone: Caller;
let admin: Caller;

beforeAll(async () => {
  ({ anyone, admin } = await startWithKeys({ clock: new FakeClock(Date.now()) })); // no deadline passes
});

const connect = (place: Place, era?: Era) => HttpAgent.connect(anyone.url, { key: admin.secret ?? "", ...place }, era);

const keyFor = (access: "read" | "write", ...spaces: Parameters<typeof makeKey>[1]["spaces"][number][]) =>
  makeKey(admin, { access, spaces });

/** Status, and the error of the envelope if it is one, of a call by hand. */
async function asked(place: Place, { url } = anyone) {
  const { body, headers } = callOf("legacy", "memory_status");
  const response = await post(url, { ...place, headers: { ...headers, ...place.headers }, body });
  const text = await response.text();
  const { message, error } = (response.ok ? {} : JSON.parse(text)) as {
    message?: string;
    error?: { code: string; hint: string };
  };
  return { status: response.status, message, error, headers: response.headers };
}

const scopeOf = async (agent: HttpAgent) => (await agent.call<Status>("memory_status")).data.scope;

/** What was made by chance or at a time, left out. */
const plain = (value: unknown, user: string): string =>
  JSON.stringify(value)
    .replaceAll(/\b[0-9a-f]{8}((-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b/g, "(id)")
    .replaceAll(/"(tokens|prefixTokens|tailTokens)":\d+/g, "($1)")
    .replaceAll(/\b1\d{12}\b/g, "(time)")
    .replaceAll(user, "(user)");

describe("the core tools", () => {
  const lives: { readonly [era: string]: string[] } = { legacy: [], modern: [] };

  it.each(ERAS)("all work in the %s era", async (era) => {
    const user = `life-${era}`;
    const agent = await connect({ query: { user, session: "one" } }, era);
    expect(agent.client.getProtocolEra()).toBe(era);
    expect(await agent.names()).toEqual(CORE);
    const told = async (name: string, args: object = {}) => {
      const { text, data, isError } = await agent.call<Saved>(name, args);
      expect([name, isError, text]).toEqual([name, false, expect.stringMatching(/\S/)]);
      lives[era]?.push(plain(data, user));
      return { text, data };
    };
    const { ids } = (await told("memory_save", { content: "The boat is called Nellie.", role: "user" })).data;
    expect((await told("memory_search", { query: "What is the boat called?" })).text).toContain("> The boat is called");
    await told("memory_get", { ids });
    const name = "crew";
    await told("memory_block", { command: "create", name, content: "ada\nbob", reason: "who is aboard" });
    await told("memory_block", { command: "str_replace", name, old: "bob", new: "eve" });
    await told("memory_block", { command: "insert", name, new: "dan", line: 1 });
    await told("memory_block", { command: "rename", name, to: "people" });
    await told("memory_block", { command: "restore", name: "people", version: 1 });
    await told("memory_block", { command: "history", name: "people" });
    expect((await told("memory_block", { command: "view", name: "people" })).text).toContain("> bob");
    expect((await told("memory_context", { query: "boat" })).text).toContain("Nellie");
    await told("memory_status");
    await told("memory_forget", { ids });
    expect((await agent.call("memory_get", { ids })).data).toEqual({ items: [], missing: ids });
    expect((await agent.client.listResources()).resources).toMatchObject([{ uri: "memory://blocks/people", size: 7 }]);
    const read = await agent.client.readResource({ uri: "memory://blocks/people" });
    expect(read.contents).toEqual([{ uri: "memory://blocks/people", mimeType: "text/plain", text: "ada\nbob" }]);
    expect((await agent.client.getPrompt({ name: "use_memory", arguments: {} })).messages).toHaveLength(1);
  });

  it("give the same structured content in both", () => {
    expect(lives["legacy"]).toHaveLength(13);
    expect(lives["modern"]).toEqual(lives["legacy"]);
  });

  it("show a model what is wrong with its input, and a client what does not exist", async () => {
    for (const era of ERAS) {
      const agent = await connect({ query: { user: "wrong" } }, era);
      for (const [name, args] of [
        ["memory_save", {}],
        ["memory_save", { content: "x", user: "bob" }],
        ["memory_block", { command: "burn" }],
        ["memory_block", { command: "view", name: "none" }],
      ] as const) {
        const { isError, text } = await agent.call(name, args);
        expect([name, isError]).toEqual([name, true]);
        expect(text).not.toMatch(/\bat .*:\d+|node_modules/);
      }
      await expect(agent.client.callTool({ name: "memory_burn", arguments: {} })).rejects.toMatchObject({
        code: -32_602,
      });
      await expect(agent.client.readResource({ uri: "memory://blocks/none" })).rejects.toMatchObject({
        message: expect.stringContaining("not found"),
      });
    }
  });

  it("work for a client of the SDK before", async () => {
    const client = new OldClient({ name: "old", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${admin.secret}` } };
    // Its types are of a time before exactOptionalPropertyTypes.
    const transport = new OldTransport(addressOf(anyone.url, { query: { user: "old" } }), { requestInit });
    await client.connect(transport as Parameters<OldClient["connect"]>[0]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(CORE);
    const status = await client.callTool({ name: "memory_status", arguments: {} });
    expect(status["structuredContent"]).toMatchObject({ scope: { user: "old" } });
    await client.close();
  });
});

describe("a key", () => {
  it("is asked for, and must be one", async () => {
    for (const place of [{}, { key: "hf_wrong" }, { headers: { authorization: "Basic YTpi" } }]) {
      const { status, headers, error } = await asked({ query: { user: "ada" }, ...place });
      expect([status, headers.get("www-authenticate"), error?.code]).toEqual([401, "Bearer", "unauthorized"]);
    }
    for (const era of ERAS) {
      await expect(HttpAgent.connect(anyone.url, { query: { user: "ada" } }, era)).rejects.toThrow(/401|nauthorized/);
    }
  });

  it("for reading shows no tools that write, and lets none be called", async () => {
    const { secret } = await keyFor("read", { user: "reader" });
    await admin.data("POST /api/v1/blocks", { query: { user: "reader" }, body: { name: "a", content: "kept" } });
    for (const era of ERAS) {
      const query = { tools: "core,admin,openai,reference" };
      const agent = await HttpAgent.connect(anyone.url, { key: secret, query }, era);
      const { tools } = await agent.client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["memory_search", "memory_block", "fetch"]));
      const writers = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
      expect(writers, "which check by themselves").toEqual(["memory_block", "memory_fact"]);
      for (const [name, args] of [
        ["memory_save", { content: "sneaked in" }],
        ["memory_forget", { ids: ["x"] }],
        ["memory_update", { id: "x", content: "sneaked in" }],
        ["memory_forget_session", { name: "x" }],
        ["memory_flush", {}],
        ["create_entities", { entities: [] }],
      ] as const) {
        await expect(agent.client.callTool({ name, arguments: args }), name).rejects.toMatchObject({ code: -32_602 });
      }
      for (const args of [
        { command: "create", name: "b", content: "sneaked in" },
        { command: "str_replace", name: "a", old: "kept", new: "sneaked in" },
        { command: "insert", name: "a", new: "sneaked in", line: 0 },
        { command: "rename", name: "a", to: "b" },
        { command: "restore", name: "a", version: 1 },
      ]) {
        const { isError, text } = await agent.call("memory_block", args);
        expect([args.command, isError, text]).toEqual([args.command, true, expect.stringContaining("write")]);
      }
      const fact = { command: "record", category: "x", content: "sneaked in" };
      expect((await agent.call("memory_fact", fact)).isError).toBe(true);
      expect((await agent.block("view", { name: "a" })).text).toContain("> kept");
      expect((await agent.call<Status>("memory_status")).data.blocks).toEqual(["a"]);
    }
  });

  it("for one space needs no address of it, and opens no other", async () => {
    const { secret: key } = await keyFor("write", { user: "only" });
    expect(await scopeOf(await HttpAgent.connect(anyone.url, { key }))).toEqual({ user: "only" });
    const inSession = await HttpAgent.connect(anyone.url, { key, query: { session: "one" } }, "legacy");
    expect(await scopeOf(inSession)).toEqual({ user: "only", session: "one" });
    for (const place of [
      { query: { user: "other" } },
      { headers: { "holdfast-user": "other" } },
      { query: { team: "only" } },
      { query: { agent: "only" } },
      { query: { user: "only", team: "crew", space: "team" } },
    ]) {
      expect(await asked({ key, ...place })).toMatchObject({ status: 403, error: { code: "forbidden" } });
    }
  });

  it("for more than one has to be named", async () => {
    const all = await keyFor("write", "user");
    const two = await keyFor("write", { user: "one" }, { team: "crew" });
    for (const { secret: key } of [all, two, { secret: admin.secret ?? "" }]) {
      expect(await asked({ key })).toMatchObject({
        status: 422,
        message: expect.stringContaining("names no scope"),
        error: { code: "invalid_input", hint: expect.stringContaining("/mcp?user=NAME") },
      });
    }
    const place = { key: all.secret, query: { user: "anybody" } };
    expect(await scopeOf(await HttpAgent.connect(anyone.url, place))).toEqual({ user: "anybody" });
    expect((await asked({ key: all.secret, query: { team: "crew" } })).status).toBe(403);
    expect((await asked({ key: two.secret, query: { team: "crew" } })).status).toBe(200);
  });

  it("that names an agent acts as that one only", async () => {
    const { secret: key } = await keyFor("write", { user: "boss" }, { agent: "bot" });
    const query = { user: "boss", agent: "bot" };
    const agent = await HttpAgent.connect(anyone.url, { key, query });
    await agent.block("create", { name: "signed", content: "x", reason: "first" });
    await agent.block("insert", { name: "signed", new: "y", line: 1, reason: "second" });
    const { data } = await agent.call<{ history: readonly object[] }>("memory_block", {
      command: "history",
      name: "signed",
    });
    expect(data.history[0]).toMatchObject({ actor: "agent bot", reason: "second" });
    expect((await asked({ key, query: { user: "boss", agent: "other" } })).status).toBe(403);
    expect((await asked({ key, query: { user: "boss" }, headers: { "holdfast-agent": "other" } })).status).toBe(403);
    const bot = await keyFor("write", { agent: "bot" });
    expect(await scopeOf(await HttpAgent.connect(anyone.url, { key: bot.secret }))).toEqual({ agent: "bot" });
  });

  it("that is revoked opens nothing from the next request on", async () => {
    const { id, secret: key } = await keyFor("write", { user: "gone" });
    const agents = [
      await HttpAgent.connect(anyone.url, { key }),
      await HttpAgent.connect(anyone.url, { key }, "legacy"),
    ];
    for (const agent of agents) expect((await agent.call("memory_status")).isError).toBe(false);
    await admin.data(`DELETE /api/v1/keys/${id}`);
    for (const agent of agents) await expect(agent.call("memory_status")).rejects.toThrow(/401|nauthorized/);
    expect((await asked({ key })).status).toBe(401);
  });

  it("follows its space when that is renamed, and leaves the old name", async () => {
    await admin.data("POST /api/v1/blocks", { query: { user: "maiden" }, body: { name: "mine", content: "x" } });
    const { secret: key } = await keyFor("write", { user: "maiden" });
    const agent = await HttpAgent.connect(anyone.url, { key });
    await admin.data("PATCH /api/v1/registry/users/maiden", { body: { name: "married" } });
    const { data } = await agent.call<Status>("memory_status");
    expect(data).toMatchObject({ scope: { user: "married" }, blocks: ["mine"] });
    expect((await asked({ key, query: { user: "maiden" } })).status).toBe(403);
  });
});

describe("the scope", () => {
  it("is given in the address, in headers, or in both if they agree", async () => {
    const odd = "Zoë 雪/?&#+%";
    const encoded = `UTF-8''${encodeURIComponent(odd)}`;
    for (const [place, scope] of [
      [{ query: { user: "ada", agent: "bot", session: "s" } }, { user: "ada", agent: "bot", session: "s" }],
      [{ headers: { "Holdfast-User": "ada", "Holdfast-Session": "s" } }, { user: "ada", session: "s" }],
      [{ query: { user: "ada" }, headers: { "holdfast-team": "crew", "holdfast-space": "team" } }, undefined],
      [{ query: { team: "crew" } }, { team: "crew" }],
      [{ query: { user: "ada" }, headers: { "holdfast-user": "ada" } }, { user: "ada" }],
      [{ query: { user: odd } }, { user: odd }],
      [{ headers: { "holdfast-user": encoded } }, { user: odd }],
      [{ query: { user: odd }, headers: { "holdfast-user": encoded } }, { user: odd }],
    ] as const) {
      expect(await scopeOf(await connect(place))).toEqual(scope ?? { user: "ada", team: "crew", space: "team" });
    }
  });

  it("that contradicts itself, or cannot be read, is refused", async () => {
    const key = admin.secret ?? "";
    const url = `${anyone.url}/mcp?user=ada&user=bob`;
    const twice = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: "{}" });
    expect(twice.status).toBe(422);
    for (const [place, says] of [
      [{ query: { user: "ada" }, headers: { "holdfast-user": "bob" } }, /holdfast-user/],
      [{ query: { user: "ada", session: "a" }, headers: { "holdfast-session": "b" } }, /holdfast-session/],
      [{ query: { user: "" } }, /user/],
      [{ headers: { "holdfast-user": "jos\u00e9" } }, /not well encoded/],
      [{ headers: { "holdfast-user": "UTF-8''%E2%82" } }, /not well encoded/],
      [{ query: { user: "a\0b" } }, /user/],
      [{ query: { user: "ada", space: "team" } }, /space/],
      [{ query: { user: "ada", usre: "bob" } }, /unknown query parameter: usre/],
      [{ query: { user: "ada", tools: "core,nope" } }, /unknown tool group: "nope"/],
      [{ query: { user: "ada", tools: "" } }, /unknown tool group/],
      [{ query: { user: "ada", maxTokens: "many" } }, /maxTokens/],
      [{ query: { user: "ada", maxTokens: "10" } }, /maxTokens/],
    ] as const) {
      const { status, message, error } = await asked({ key, ...place });
      expect([status, message, error]).toEqual([
        422,
        expect.stringMatching(says),
        expect.objectContaining({ code: "invalid_input", hint: expect.stringMatching(/\S/) }),
      ]);
    }
  });

  it("is the default user's if no keys are required", async () => {
    const open = await start({ path: ":memory:" });
    for (const era of ERAS) {
      const agent = await HttpAgent.connect(open.url, {}, era);
      expect(await scopeOf(agent)).toEqual({ user: "default" });
    }
    expect((await asked({ key: "hf_wrong" }, open)).status, "a key that is given counts").toBe(401);
  });

  it("is never given by the model", async () => {
    const agent = await connect({ query: { user: "ada", tools: "core,admin,openai,reference" } });
    const { tools } = await agent.client.listTools();
    for (const { name, inputSchema } of tools) {
      const fields = Object.keys(inputSchema.properties ?? {});
      expect([name, ...fields.filter((field) => ["user", "agent", "team", "space", "scope"].includes(field))]).toEqual([
        name,
      ]);
    }
  });
});

describe("settings in the address", () => {
  it("choose groups of tools", async () => {
    const named = async (tools: string) => (await connect({ query: { user: "ada", tools } })).names();
    expect(await named("openai")).toEqual(["search", "fetch"]);
    expect(await named("openai, core")).toEqual(["search", "fetch", ...CORE]);
    expect(await named("core,core")).toEqual(CORE);
    expect(await named("core,admin")).toEqual(expect.arrayContaining([...CORE, "memory_list"]));
    expect(await named("reference")).toHaveLength(9);
  });

  it("bound what one answer may hold", async () => {
    const long = Array.from({ length: 400 }, (_, at) => `word${at}`).join(" ");
    const roomy = await connect({ query: { user: "long" } });
    const { ids } = (await roomy.call<Saved>("memory_save", { content: long })).data;
    const tight = await connect({ query: { user: "long", maxTokens: "500" } });
    const [whole, cut] = [await roomy.call("memory_get", { ids }), await tight.call("memory_get", { ids })];
    expect(whole.data).toMatchObject({ items: [{ content: long }] });
    expect(cut.data).toMatchObject({ items: [{ next: expect.any(Number) }] });
    expect(cut.text.length).toBeLessThan(2_000);
  });
});

describe("another's memory", () => {
  it.each(ERAS)("is seen by no tool and no resource, in the %s era", async (era) => {
    const victim = `victim-${era}`;
    const { item, fact } = await makeMarkedWorld(admin, victim, MARKER);
    const user = `ada-${era}`;
    const agent = await connect({ query: { user, tools: "core,admin,openai,reference" } }, era);
    await agent.block("create", { name: "persona", content: "mine" });
    await agent.call("memory_save", { content: "Something of my own." });
    const query = `Who lives in ${MARKER}?`;
    const calls: readonly (readonly [name: string, args?: object])[] = [
      ["memory_search", { query }],
      ["memory_search", { query, within: "session" }],
      ["memory_get", { ids: [item, fact] }],
      ["memory_context", { query }],
      ["memory_status"],
      ["memory_block", { command: "view" }],
      ["memory_block", { command: "view", name: "persona" }],
      ["memory_block", { command: "history", name: "persona" }],
      ["memory_list", {}],
      ["memory_list", { session: "talk" }],
      ["memory_sessions"],
      ["memory_fact", { command: "list" }],
      ["search", { query }],
      ["fetch", { id: item }],
      ["read_graph"],
      ["search_nodes", { query: MARKER }],
      ["open_nodes", { names: [MARKER] }],
      ["memory_forget", { ids: [item, fact] }],
      ["memory_update", { id: item, content: "overwritten" }],
      ["memory_forget_session", { name: "talk" }],
    ];
    const { tools } = await agent.client.listTools();
    const called = new Set(calls.map(([name]) => name));
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect([...called], "all that read").toEqual(expect.arrayContaining(reading));
    for (const [name, args = {}] of calls) {
      const { text, data } = await agent.call(name, args);
      // What was asked for may be repeated; an id is known to whoever names it.
      expect(JSON.stringify([text, data]).replaceAll(query, ""), name).not.toContain(MARKER);
    }
    const { resources } = await agent.client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("memory://blocks/")).map(({ name }) => name)).toEqual([
      "persona",
    ]);
    for (const { uri } of resources) {
      expect(JSON.stringify(await agent.client.readResource({ uri }))).not.toContain(MARKER);
    }
    const owner = await connect({ query: { user: victim } }, era);
    const { data } = await owner.call<{ items: readonly object[] }>("memory_get", { ids: [item] });
    expect(data.items, "and nothing of it was touched").toMatchObject([{ content: expect.stringContaining(MARKER) }]);
  });
});
