/**
 * Retries of every operation. Each declares the effect of a second request (`retry`), and this test checks it against
 * the answers and the contents of the file. An operation without a declaration does not compile; a wrong one fails.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";
import { type Listed, OPERATIONS } from "./parts.js";
import { requestOf } from "./requests.js";
import { type Answer, type Caller, type Sent, start } from "./started.js";
import { contentsOf, makeWorld, type World } from "./world.js";

const RETRIES = ["read", "key", "repeatable", "noop"];

let anyone: Caller;
let worlds = 0;

beforeAll(async () => {
  const extractor = {
    name: "a test's",
    extract: async ({
      messages,
    }: {
      readonly messages: readonly { readonly id: string; readonly content: string }[];
    }) => messages.map(({ id, content }) => ({ category: "said", content, confidence: 0.5, source: id })),
  };
  anyone = await start({ extractor });
});

/** Somebody's memory for one test. */
const newWorld = (): Promise<World> => makeWorld(anyone, `user-${++worlds}`);

/** All that requests of this test can change: what its spaces hold, its registry and windows, all keys. */
async function everything(world: World): Promise<unknown> {
  const query = { user: world.user, session: world.session };
  const [contents, users, agents, sessions, keys, ledger] = await Promise.all([
    contentsOf(anyone, world),
    anyone.data("GET /api/v1/registry/users", { query: { limit: "1000" } }),
    anyone.data("GET /api/v1/registry/agents", { query: { limit: "1000" } }),
    anyone.data("GET /api/v1/registry/sessions", { query: { limit: "1000" } }),
    anyone.data("GET /api/v1/keys", { query: { limit: "1000" } }),
    anyone.data("GET /api/v1/context/ledger", { query }),
  ]);
  return { contents, users, agents, sessions, keys, ledger };
}

/** Answers without what is of the request, not of what was asked for. */
function comparable({ json }: Answer): unknown {
  const text = JSON.stringify(json?.data, (key, value: unknown) =>
    ["repeated", "commit", "total_messages", "tookMs", "updatedAt", "updated_at"].includes(key) ? undefined : value,
  );
  return text === undefined ? undefined : sorted(JSON.parse(text));
}

/** Equal as texts, too. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Requests of samples.ts that would do the same twice with or without a key are made to differ here. */
function requestFor(listed: Listed, world: World): { readonly route: string; readonly sent: Sent } {
  const request = requestOf(listed, world);
  const bodies: { readonly [name: string]: object } = {
    createEntry: { name: `${world.user}-new`, description: "new" },
    amendEntry: { name: `${world.user}-renamed`, description: "changed" },
    memfuseUpdateUser: { name: `${world.user}-renamed`, description: "changed" },
    memfuseCreateSession: { user_id: world.userId, agent_id: world.agentId },
  };
  const body = bodies[listed.name];
  return body ? { ...request, sent: { ...request.sent, body } } : request;
}

/** The body of another request to the same place, for every operation that takes a key. */
const OTHER: { readonly [name: string]: (body: never) => object | undefined } = {
  add: () => ({ messages: [{ role: "user", content: "I like pears." }] }),
  addBatch: ({ rounds }: { rounds: object[][] }) => ({
    rounds: rounds.map(() => [{ role: "user", content: "Pears." }]),
  }),
  addItems: () => ({ items: [{ kind: "knowledge", content: "Pears grow on trees." }] }),
  commitTurn: ({ writes }: { writes: object[] }) => ({ writes: writes.slice(0, 2) }),
  update: (body: object) => ({ ...body, content: "I moved to Faro." }),
  context: (body: object) => ({ ...body, query: "Where did I move in June?" }),
  windowReset: () => undefined,
  createBlock: (body: object) => ({ ...body, content: "- pears" }),
  editBlock: (body: object) => ({ ...body, append: "Less." }),
  configureBlock: (body: object) => ({ ...body, maxTokens: 301 }),
  renameBlock: () => ({ to: "another" }),
  restoreBlock: () => ({ version: 2 }),
  archiveBlock: () => ({ reason: "another" }),
  upsertFact: (body: object) => ({ ...body, content: "lives in Faro" }),
  retractFact: () => undefined,
  endFact: () => ({ at: 1 }),
  promote: (body: object) => ({ ...body, reason: "another" }),
  createEntry: (body: object) => ({ ...body, description: "another" }),
  amendEntry: (body: object) => ({ ...body, description: "another" }),
  createSession: (body: object) => ({ ...body, agent: "another" }),
  renameSession: (body: object) => ({ ...body, name: "another" }),
  createKey: (body: object) => ({ ...body, name: "desktop" }),
  memfuseCreateUser: (body: object) => ({ ...body, description: "another" }),
  memfuseUpdateUser: (body: object) => ({ ...body, description: "another" }),
  memfuseCreateAgent: (body: object) => ({ ...body, description: "another" }),
  memfuseUpdateAgent: (body: object) => ({ ...body, description: "another" }),
  memfuseCreateSession: () => undefined,
  memfuseUpdateSession: () => undefined,
  memfuseAddMessages: () => ({ messages: [{ role: "user", content: "I like pears." }] }),
  memfuseUpdateMessages: (body: object) => ({ ...body, new_messages: [{ role: "user", content: "Pears." }] }),
  memfuseAddKnowledge: () => ({ knowledge: ["Pears are green."] }),
  memfuseUpdateKnowledge: (body: object) => ({ ...body, new_knowledge: ["It is a village."] }),
  memfuseCreateApiKey: (body: object) => ({ ...body, name: "tablet" }),
};

it("every operation says what a retry does, and those that write are not reads", () => {
  for (const { name, method, operation } of OPERATIONS) {
    expect(RETRIES, name).toContain(operation.retry);
    if (method === "GET" || operation.access === "read") expect(operation.retry, name).toBe("read");
    else expect(operation.retry, name).not.toBe("read");
  }
});

it("docs/http.md says of every operation that writes what a retry does", () => {
  const text = readFileSync(join(root, "docs/http.md"), "utf8");
  const [, section = ""] = text.split("## Retries");
  const [table = ""] = section.split("\n## ");
  for (const { name, operation } of OPERATIONS) {
    if (operation.retry === "read" || name.startsWith("memfuse")) continue;
    const row = table.split("\n").find((line) => line.includes(`\`${operation.route}\``)) ?? "";
    expect(row, operation.route).toMatch(operation.retry === "key" ? /\| key/ : /\| needs no key/);
  }
});

const keyed = OPERATIONS.filter(({ operation }) => operation.retry === "key");

describe.each(keyed)("$method $path with an Idempotency-Key", (listed) => {
  const send = (request: { readonly route: string; readonly sent: Sent }, key: string): Promise<Answer> =>
    anyone.send(request.route, { ...request.sent, headers: { "idempotency-key": key } });
  const isSecret = /createKey|memfuseCreateApiKey/.test(listed.name);

  it("is carried out once, and the retry gets the first answer", async () => {
    const world = await newWorld();
    await fillFor(listed, world);
    const request = requestFor(listed, world);
    const first = await send(request, `once ${world.user}`);
    expect(first.status, first.text).toBe(listed.operation.status);
    const after = await everything(world);
    for (let time = 0; time < 2; time++) {
      const again = await send(request, `once ${world.user}`);
      if (isSecret)
        expect(again.json?.error, "a secret is shown once").toMatchObject({ code: "conflict", details: {} });
      else {
        expect(again.status, again.text).toBeLessThan(300);
        expect(comparable(again)).toEqual(comparable(first));
      }
      expect(await everything(world)).toEqual(after);
    }
  });

  it("is carried out once when ten come at the same time", async () => {
    const world = await newWorld();
    await fillFor(listed, world);
    const request = requestFor(listed, world);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(request, `race ${world.user}`)));
    const good = answers.filter(({ status }) => status < 300);
    expect(good, answers[0]?.text).toHaveLength(isSecret ? 1 : 10);
    expect(new Set(good.map((answer) => JSON.stringify(comparable(answer)))).size).toBe(1);
    const after = await everything(world);
    await send(request, `race ${world.user}`);
    expect(await everything(world)).toEqual(after);
    if (listed.operation.status === 201 && /repeated/.test(good[0]?.text ?? "")) {
      expect(good.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });

  it("is refused with the key of another request, and changes nothing", async () => {
    const world = await newWorld();
    await fillFor(listed, world);
    const { route, sent } = requestFor(listed, world);
    const key = `other ${world.user}`;
    await send({ route, sent }, key);
    const after = await everything(world);
    const makeOther = OTHER[listed.name];
    if (!makeOther) throw new Error(`OTHER has no body for ${listed.name}`);
    const body = makeOther(sent.body as never);
    if (body === undefined) return; // nothing in it could be another
    const other = await send({ route, sent: { ...sent, body } }, key);
    expect([other.status, other.json?.error?.code], other.text).toEqual([409, "conflict"]);
    expect(await everything(world)).toEqual(after);
  });

  it("refuses a key that is none", async () => {
    const world = await newWorld();
    const before = await everything(world);
    for (const key of ["", "x".repeat(513)]) {
      expect([413, 422], `${key.length}`).toContain((await send(requestFor(listed, world), key)).status);
    }
    expect(await everything(world)).toEqual(before);
  });
});

const others = OPERATIONS.filter(({ operation }) => operation.retry === "repeatable" || operation.retry === "noop");

describe.each(others)("$method $path, which takes no key,", (listed) => {
  it("changes nothing the second time", async () => {
    const world = await newWorld();
    const { route, sent } = requestFor(listed, world);
    const first = await anyone.send(route, sent);
    expect(first.status, first.text).toBe(listed.operation.status);
    const after = await everything(world);
    const again = await anyone.send(route, sent);
    expect(again.status === 404 || again.status === listed.operation.status, again.text).toBe(true);
    if (listed.operation.retry === "repeatable" && listed.name !== "import") {
      expect(comparable(again)).toEqual(comparable(first));
    }
    expect(await everything(world)).toEqual(after);
  });
});

describe("a retried turn edits blocks twice", () => {
  const turn = { writes: [{ op: "edit_block", block: "persona", append: "Likes figs." }] };

  it("not with a key: once, however it is edited", async () => {
    const world = await newWorld();
    const query = { user: world.user };
    const edits = [
      { append: "Likes figs." },
      { replace: "Still plain.", with: "No longer plain." },
      { insert: "First of all:", line: 0 },
      { content: "Nothing else.", expectVersion: 5 },
    ];
    for (const [at, edit] of edits.entries()) {
      const body = { writes: [{ op: "edit_block", block: world.block, ...edit }] };
      const headers = { "idempotency-key": `turn ${at}` };
      const answers = [];
      for (let time = 0; time < 3; time++) {
        answers.push(await anyone.send("POST /api/v1/turns", { query, headers, body }));
      }
      expect(
        answers.map(({ status }) => status),
        answers.at(-1)?.text,
      ).toEqual([201, 200, 200]);
    }
    const { content, version } = await anyone.data<{ content: string; version: number }>("GET /api/v1/blocks/persona", {
      query,
    });
    expect([content, version]).toEqual(["Nothing else.", 6]);
  });

  it("and each time without one", async () => {
    const world = await newWorld();
    const query = { user: world.user };
    for (let time = 0; time < 2; time++) await anyone.data("POST /api/v1/turns", { query, body: turn });
    const { content } = await anyone.data<{ content: string }>("GET /api/v1/blocks/persona", { query });
    expect(content.match(/Likes figs/g)).toHaveLength(2);
  });
});

describe("a retry of an edit", () => {
  it("gives the version that it made, also when others have edited since", async () => {
    const { user } = await newWorld();
    const edit = (key: string, append: string) =>
      anyone.data<{ version: number; content: string }>("POST /api/v1/blocks/persona/edits", {
        query: { user },
        headers: { "idempotency-key": key },
        body: { append },
      });
    const first = await edit("one", "one");
    await edit("two", "two");
    expect(await edit("one", "one")).toEqual(first);
  });

  it("gives what overflowed by it", async () => {
    const { user } = await newWorld();
    const query = { user };
    const body = { name: "tight", content: "1234", maxTokens: 1, policy: "archive" };
    await anyone.data("POST /api/v1/blocks", { query, body });
    const edit = () =>
      anyone.data("POST /api/v1/blocks/tight/edits", {
        query,
        headers: { "idempotency-key": "k" },
        body: { append: "walrus" },
      });
    const first = await edit();
    expect(first["archived"]).toMatchObject({ text: "\nwalrus" });
    expect(await edit()).toEqual(first);
  });

  it("says that the block was forgotten, and makes none", async () => {
    const { user } = await newWorld();
    const send = () =>
      anyone.send("POST /api/v1/blocks/persona/edits", {
        query: { user },
        headers: { "idempotency-key": "k" },
        body: { append: "x" },
      });
    expect((await send()).status).toBe(200);
    await anyone.data("DELETE /api/v1/blocks/persona", { query: { user } });
    await anyone.data("POST /api/v1/blocks", { query: { user }, body: { name: "persona", content: "another" } });
    const again = await send();
    expect([again.status, again.json?.message]).toEqual([404, expect.stringContaining("forgotten")]);
    const { content } = await anyone.data("GET /api/v1/blocks/persona", { query: { user } });
    expect(content).toBe("another");
  });
});

it("a context whose answer was lost is given again by a retry, with all that it held", async () => {
  const { user, session } = await newWorld();
  const send = (key: string) =>
    anyone.data<{ tail: string; added: object[] }>("POST /api/v1/context", {
      query: { user, session },
      headers: { "idempotency-key": key },
      body: { query: "Where did I move in May?", budgetTokens: 500, counter: "chars4" },
    });
  const first = await send("one");
  expect(first.added.length).toBeGreaterThan(0);
  expect(await send("one")).toEqual(first);
  expect((await send("two")).added, "what stands in the window is not given again").toEqual([]);
});

/** What some requests need to have something to do. */
async function fillFor({ name }: Listed, { user }: World): Promise<void> {
  if (name !== "archiveBlock") return;
  const long = { content: "a long text that is over its budget. ".repeat(9) };
  const query = { user };
  await anyone.data("PATCH /api/v1/blocks/persona", { query, body: { maxTokens: 10 } });
  await anyone.data("POST /api/v1/blocks/persona/edits", { query, body: long });
}
