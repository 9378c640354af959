/**
 * One validation: what the library accepts HTTP accepts, and what it refuses HTTP refuses with the same code. Each field of
 * each operation gets each hostile value, in a memory of this process and, as JSON, in one behind a server.
 */
import { type Memory, openMemory, type Scope, type Session } from "holdfast";
import { type RunningServer, serve } from "holdfast/server";
import { FakeClock } from "holdfast/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type Body = { readonly [key: string]: unknown };

interface Rules {
  readonly route: string;
  /** A body that is accepted, with every field that it may have. */
  readonly body: Body;
  /** The path of the field of each case; the fields of the body itself if left out. */
  readonly inside?: string;
  /** The library takes the fields as arguments: there is no object that could have an unknown one. */
  readonly positional?: true;
  /** The operation is about no scope, and its route takes none. */
  readonly scopeless?: true;
  call(session: Session, body: never): Promise<unknown>;
}

const SCOPE = { user: "ada", agent: "tutor", session: "s" };
const AT = 1_700_000_000_000;
const FILTER = {
  session: "s",
  agent: "tutor",
  role: "user",
  kind: "message",
  tier: "episodic",
  from: 0,
  to: AT,
  metadata: { a: 1 },
};
const MESSAGE = {
  id: "m9",
  role: "user",
  name: "Ada",
  content: "hello",
  occurredAt: AT,
  metadata: { a: 1 },
  tier: "episodic",
  expiresAt: 4e12,
};
const NOTE = { reason: "because", actor: "me" };
const SETTINGS = { description: "what for", maxTokens: 100, counter: "chars4", policy: "manual", readOnly: false };
const EDIT = { ...NOTE, expectVersion: undefined, merge: undefined };

const OPERATIONS: { readonly [name: string]: Rules } = {
  "a message of add": {
    route: "POST /messages",
    body: { messages: [MESSAGE] },
    inside: "messages",
    call: (session, { messages }: { messages: never }) => session.add(messages),
  },
  "the messages of add": {
    positional: true,
    route: "POST /messages",
    body: { messages: [MESSAGE] },
    call: (session, { messages }: { messages: never }) => session.add(messages),
  },
  "the rounds of addBatch": {
    positional: true,
    route: "POST /rounds",
    body: { rounds: [[MESSAGE]] },
    call: (session, { rounds }: { rounds: never }) => session.addBatch(rounds),
  },
  "an item of addItems": {
    route: "POST /items",
    body: { items: [{ kind: "knowledge", role: "user", content: "hello" }] },
    inside: "items",
    call: (session, { items }: { items: never }) => session.addItems(items),
  },
  "a message of a turn": {
    route: "POST /turns",
    body: { writes: [{ op: "save_message", message: MESSAGE }] },
    inside: "writes",
    call: commit,
  },
  "a fact of a turn": {
    route: "POST /turns",
    body: {
      writes: [
        {
          op: "upsert_fact",
          category: "c",
          content: "x",
          confidence: 1,
          sourceSession: "s",
          sourceMessage: "m1",
          supersedes: "none",
        },
      ],
    },
    inside: "writes",
    call: commit,
  },
  "an edit of a turn": {
    route: "POST /turns",
    body: { writes: [{ op: "edit_block", block: "notes", append: "x", reason: "because", actor: "me" }] },
    inside: "writes",
    call: commit,
  },
  "a point of a turn": {
    route: "POST /turns",
    body: {
      writes: [{ op: "store_embedding", collection: "c", pointId: "p", vector: [1, 2], payload: { a: 1 } }],
    },
    inside: "writes",
    call: commit,
  },
  "a search of points": {
    positional: true,
    route: "POST /points/search",
    body: { collection: "c", vector: [1, 2], topK: 5, spaces: [{ user: "ada" }] },
    call: (session, { collection, vector, ...options }: { collection: never; vector: never }) =>
      session.points.search(collection, vector, options),
  },
  "a list of points": {
    positional: true,
    route: "POST /points/list",
    body: { collection: "c", limit: 5, cursor: undefined },
    call: (session, { collection, ...options }: { collection: never }) => session.points.list(collection, options),
  },
  "points by id": {
    positional: true,
    route: "POST /points/get",
    body: { collection: "c", ids: ["p"] },
    call: (session, { collection, ids }: { collection: never; ids: never }) => session.points.get(collection, ids),
  },
  query: {
    route: "POST /query",
    body: {
      query: "hello",
      ...FILTER,
      topK: 5,
      offset: 0,
      sortBy: "score",
      order: "desc",
      within: "space",
      spaces: [{ user: "ada" }],
      askedAt: AT,
      recency: 0.5,
      deadlineMs: 60_000,
      bufferOnly: false,
      by: "words",
      explain: ["m1"],
    },
    call: (session, { query, ...options }: { query: never }) => session.query(query, options),
  },
  list: {
    route: "POST /items/list",
    body: {
      ...FILTER,
      limit: 5,
      sortBy: "arrival",
      order: "asc",
      bufferOnly: false,
      start: "m1",
      embedding: true,
      cursor: undefined,
    },
    call: (session, options) => session.list(options),
  },
  get: {
    positional: true,
    route: "POST /items/get",
    body: { ids: ["m1"] },
    call: (session, { ids }: { ids: never }) => session.get(ids),
  },
  delete: {
    positional: true,
    route: "DELETE /items",
    body: { ids: ["none"] },
    call: (session, { ids }: { ids: never }) => session.delete(ids),
  },
  update: {
    route: "PATCH /items/m1",
    body: {
      role: "user",
      name: "Ada",
      content: "hello",
      occurredAt: AT,
      metadata: {},
      tier: "episodic",
      expiresAt: 4e12,
      expectVersion: undefined,
    },
    call: (session, { expectVersion, ...patch }: { expectVersion: never }) =>
      session.update("m1", patch, expectVersion === undefined ? {} : { expectVersion }),
  },
  "blocks.create": {
    route: "POST /blocks",
    body: { name: "notes", content: "x", ...SETTINGS, ...NOTE },
    call: (session, block) => session.blocks.create(block),
  },
  "blocks.edit by content": edit({ content: "x", ...EDIT }),
  "blocks.edit by append": edit({ append: "x" }),
  "blocks.edit by replace": edit({ replace: "x", with: "y", all: true }),
  "blocks.edit by insert": edit({ insert: "x", line: 0 }),
  "blocks.edit by patch": edit({ patch: "" }),
  "blocks.configure": {
    route: "PATCH /blocks/notes",
    body: { ...SETTINGS, ...NOTE },
    call: (session, settings) => session.blocks.configure("notes", settings),
  },
  "blocks.rename": {
    route: "POST /blocks/notes/rename",
    body: { to: "notes", ...EDIT },
    call: (session, { to, ...options }: { to: never }) => session.blocks.rename("notes", to, options),
  },
  "blocks.restore": {
    route: "POST /blocks/notes/restore",
    body: { version: 1, ...EDIT },
    call: (session, { version, ...options }: { version: never }) => session.blocks.restore("notes", version, options),
  },
  "blocks.archiveOverflow": {
    route: "POST /blocks/notes/archive",
    body: EDIT,
    call: (session, options) => session.blocks.archiveOverflow("notes", options),
  },
  "facts.upsert": {
    route: "POST /facts",
    body: {
      category: "c",
      content: "x",
      confidence: 0.5,
      source: { message: "m1" },
      supersedes: ["none"],
      validFrom: AT,
      pinned: true,
      force: true,
    },
    call: (session, fact) => session.facts.upsert(fact),
  },
  "facts.upsert with a source": {
    route: "POST /facts",
    body: { category: "c", content: "x", source: [{ session: "s", message: "m1" }] },
    inside: "source",
    call: (session, fact) => session.facts.upsert(fact),
  },
  "facts.list": {
    route: "POST /facts/list",
    body: {
      category: "c",
      pinned: true,
      state: "holds",
      asOf: AT,
      spaces: [{ user: "ada" }],
      limit: 5,
      cursor: undefined,
    },
    call: (session, options) => session.facts.list(options),
  },
  "facts.query": {
    route: "POST /facts/query",
    body: { query: "x", category: "c", asOf: AT, spaces: [{ user: "ada" }], topK: 5 },
    call: (session, { query, ...options }: { query: never }) => session.facts.query(query, options),
  },
  "facts.get": {
    positional: true,
    route: "POST /facts/get",
    body: { ids: ["none"] },
    call: (session, { ids }: { ids: never }) => session.facts.get(ids),
  },
  "facts.end": {
    route: "POST /facts/none/end",
    body: { at: AT },
    call: (session, options) => session.facts.end("none", options),
  },
  context: {
    route: "POST /context",
    body: {
      query: "hello",
      budgetTokens: 100,
      counter: "chars4",
      shares: { blocks: 1 },
      turns: 1,
      topK: 5,
      spaces: [{ user: "ada" }],
      asOf: AT,
      askedAt: AT,
      fresh: true,
      dryRun: true,
      deadlineMs: 60_000,
    },
    call: (session, options) => session.context(options),
  },
  "the shares of context": {
    route: "POST /context",
    body: { shares: [{ blocks: 1, facts: 1, turns: 1, recall: 1 }], dryRun: true },
    inside: "shares",
    call: (session, options) => session.context(options),
  },
  promote: {
    route: "POST /promotions",
    body: { ids: ["none"], to: { user: "ada" }, ...NOTE },
    call: (session, { ids, ...options }: { ids: never; to: never; reason: never }) => session.promote(ids, options),
  },
  anticipate: {
    route: "POST /query/anticipate",
    body: { query: "hello", role: "user", topK: 5, within: "space", spaces: [{ user: "ada" }], askedAt: AT },
    call: (session, { query, ...options }: { query: never }) => session.anticipate(query, options),
  },
  "points.delete": {
    positional: true,
    route: "DELETE /points",
    body: { collection: "c", ids: ["none"] },
    call: (session, { collection, ids }: { collection: never; ids: never }) => session.points.delete(collection, ids),
  },
  replay: {
    positional: true,
    route: "POST /dead-letters/replay",
    body: { ids: ["none"] },
    call: (session, { ids }: { ids: never }) => session.replay(ids),
  },
  "users.create": {
    scopeless: true,
    positional: true,
    route: "POST /registry/users",
    body: { name: "new", description: "who it is" },
    call: (_, { name, description }: { name: never; description: never }) => memory.users.create(name, description),
  },
  "users.amend": {
    scopeless: true,
    route: "PATCH /registry/users/amended",
    body: { name: "amended", description: "who it is", retentionMs: 1e12 },
    call: (_, change) => memory.users.amend("amended", change),
  },
  "keys.create": {
    scopeless: true,
    route: "POST /keys",
    body: { name: "for tests", access: "read", spaces: [{ user: "ada" }], expiresAt: 4e12 },
    call: (_, key) => memory.keys.create(key),
  },
};

function edit(change: Body): Rules {
  return {
    route: "POST /blocks/notes/edits",
    body: change,
    call: (session, body) => session.blocks.edit("notes", body),
  };
}

function commit(session: Session, { writes }: { readonly writes: readonly never[] }): Promise<unknown> {
  const turn = session.turn();
  for (const write of writes) turn.push(write);
  return session.commit(turn);
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

/** All of it can be said in JSON. */
const HOSTILE: { readonly [what: string]: unknown } = {
  null: null,
  true: true,
  false: false,
  zero: 0,
  one: 1,
  "minus one": -1,
  "a fraction": 1.5,
  "a large number": 2 ** 53,
  "a huge number": 1e308,
  "1001": 1001,
  "an empty text": "",
  "a space": " ",
  "a word": "hello",
  "a number as text": "5",
  NUL: "a\0b",
  "half a pair": "a\ud800",
  "512 characters": "x".repeat(512),
  "513 characters": "x".repeat(513),
  "512 characters beyond ASCII": "é".repeat(512),
  "70,000 characters": "x".repeat(70_000),
  "an empty list": [],
  "a list of null": [null],
  "a list of empty texts": [""],
  "a list of texts": ["hello"],
  "a list of NUL": ["a\0b"],
  "a list of long texts": ["x".repeat(513)],
  "a list of lists": [[]],
  "a list of objects": [{}],
  "a list of 1,001": Array.from({ length: 1001 }, (_, at) => `v${at}`),
  "a deep list": deep(40),
  "an empty object": {},
  "an object": { a: 1 },
  "an object with an empty key": { "": 1 },
  "an object with __proto__": JSON.parse('{"__proto__":{"a":1}}'),
  "an object of objects": { a: { b: {} } },
  "a user": { user: "ada" },
  "a user of no name": { user: "" },
  "a user with NUL": { user: "a\0b" },
  "a user of a long name": { user: "x".repeat(513) },
  "a user and a team": { user: "ada", team: "t" },
  "a list of users": [{ user: "ada" }],
  "a list of a user of no name": [{ user: "" }],
  "a list of a user of a long name": [{ user: "x".repeat(513) }],
  "a list of 101 users": Array.from({ length: 101 }, () => ({ user: "ada" })),
  "a text part": [{ type: "text", text: "hello" }],
  "a part without a type": [{ text: "hello" }],
  "a day": "2025-05-01",
  "a day that is none": "2025-02-30",
  "a time without an offset": "2025-05-01T10:00",
  "a time beyond all dates": 8.64e15 + 1,
  "the name of a property": "constructor",
};

let memory: Memory;
let server: RunningServer;

const OPTIONS = { path: ":memory:", clock: new FakeClock(AT) };

beforeAll(async () => {
  memory = await openMemory(OPTIONS);
  server = await serve({ ...OPTIONS, server: { port: 0, logLevel: "silent" } });
});
afterAll(async () => {
  await memory.close();
  await server.stop();
});

async function inProcess(rules: Rules, scope: Scope, body: Body): Promise<string> {
  try {
    await rules.call(memory.session(scope, { grants: [{ user: "ada" }] }), body as never);
    return "accepted";
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

async function overHttp(
  { route, scopeless }: Pick<Rules, "route" | "scopeless">,
  scope: Scope,
  body: Body,
): Promise<string> {
  const [method = "", path] = route.split(" ");
  const response = await fetch(`${server.url}/api/v1${path}?${new URLSearchParams(scopeless ? {} : { ...scope })}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } | null };
  return error?.code ?? "accepted";
}

const withField = (whole: unknown, field: string, value: unknown): Body => ({ ...(whole as Body), [field]: value });

/** The body with one field changed, in it or in the first element of the list inside. */
function changed({ body, inside }: Rules, field: string, value: unknown): Body {
  if (inside === undefined) return withField(body, field, value);
  const [first] = body[inside] as readonly Body[];
  const one = withField(first, field, value);
  return { ...body, [inside]: inside === "source" || inside === "shares" ? one : [one] };
}

const fieldsOf = ({ body, inside, positional }: Rules): readonly string[] => {
  const whole = inside === undefined ? body : ((body[inside] as readonly Body[])[0] ?? {});
  return [...Object.keys(whole), ...(positional ? [] : ["unknown"])];
};

describe.each(Object.entries(OPERATIONS))("library and HTTP apply the same rules to %s:", (name, rules) => {
  it.each(fieldsOf(rules))("%s", async (field) => {
    const scope = { ...SCOPE, user: `${name}, ${field}` };
    await memory.session(scope).add([{ id: "m1", role: "user", content: "hello" }]);
    await overHttp({ route: "POST /messages" }, scope, { messages: [{ id: "m1", role: "user", content: "hello" }] });
    await memory.session(scope).blocks.create({ name: "notes", content: "x" });
    await overHttp({ route: "POST /blocks" }, scope, { name: "notes", content: "x" });
    await memory.users.ensure("amended");
    await overHttp({ route: "POST /registry/users", scopeless: true }, scope, { name: "amended", ensure: true });
    const drifts: string[] = [];
    for (const [what, value] of Object.entries(HOSTILE)) {
      const body = changed(rules, field, value);
      const [here, there] = [await inProcess(rules, scope, body), await overHttp(rules, scope, body)];
      if (here !== there) drifts.push(`${what}: library ${here}, HTTP ${there}`);
    }
    expect(drifts).toEqual([]);
  });
});
