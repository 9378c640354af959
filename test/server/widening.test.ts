/** Requests that try to reach more than their key covers, each in its own way. */
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "./parts.js";
import { ask, byName, placeOf, requestOf } from "./requests.js";
import { exportLines } from "./samples.js";
import { type Caller, startWithKeys } from "./started.js";
import { contentsOf, makeKey, makeMarkedWorld, makeWorld, spacesOf, type World } from "./world.js";

const MARKER = "Xanadu9182";

let anyone: Caller;
let admin: Caller;
let victim: World;
let mallory: World;
/** For her user, team and agent. */
let stranger: Caller;
/** For her user alone: it names no agent, so that it may say it is any. */
let unbound: Caller;
let before: string;

beforeAll(async () => {
  ({ anyone, admin } = await startWithKeys());
  victim = await makeMarkedWorld(admin, "vic9182", MARKER);
  mallory = await makeWorld(admin, "mal9182");
  stranger = anyone.as((await makeKey(admin, { access: "write", spaces: spacesOf(mallory) })).secret);
  unbound = anyone.as((await makeKey(admin, { access: "write", spaces: [{ user: mallory.user }] })).secret);
  before = await contentsOf(admin, victim);
});

const own = () => placeOf(mallory);

/** The victim's memory was neither told nor touched. */
async function expectUntouched(...texts: readonly string[]): Promise<void> {
  for (const text of texts) expect(text).not.toContain(MARKER);
  expect(await contentsOf(admin, victim)).toBe(before);
}

describe("a body that names another's space", () => {
  const withBody = OPERATIONS.filter(({ operation }) => operation.body && operation.access !== "admin");

  it.each(withBody)("is refused by $name", async (listed) => {
    const { route, sent } = requestOf(listed, mallory);
    const wider = [
      ...[{ spaces: [{ user: victim.user }] }, { spaces: [{ user: mallory.user }, { user: victim.user }] }],
      ...[{ space: { user: victim.user } }, { to: { user: victim.user } }, { to: { team: victim.team } }],
      { scope: { user: victim.user } },
      { user: victim.user },
    ];
    const answers = await Promise.all(
      wider.map((more) => unbound.send(route, { ...sent, body: { ...(sent.body as object), ...more } })),
    );
    for (const [at, { status, text }] of answers.entries()) {
      // The MemFuse dialect ignores fields that it does not know, as MemFuse does.
      if (!listed.name.startsWith("memfuse"))
        expect([403, 422], `${JSON.stringify(wider[at])} ${text}`).toContain(status);
      expect(text).not.toContain(MARKER);
    }
  });

  it("and leaves that space alone", async () => {
    await expectUntouched();
  });
});

describe("a turn", () => {
  it("writes to its own scope, whatever its writes name", async () => {
    const writes = [
      { op: "edit_block", block: victim.block, append: "owned", space: { user: victim.user } },
      { op: "edit_block", block: victim.block, append: "owned", user: victim.user },
      { op: "save_message", message: { role: "user", content: "owned" }, user: victim.user },
      { op: "upsert_fact", category: "c", content: "owned", confidence: 1, space: { user: victim.user } },
    ];
    for (const write of writes) {
      const answer = await stranger.send("POST /api/v1/turns", { query: own(), body: { writes: [write] } });
      expect(answer.status, JSON.stringify(write)).toBe(422);
      expect(answer.text).not.toContain("owned");
    }
    const borrowed = { op: "upsert_fact", category: "c", content: "mine", confidence: 1, supersedes: victim.fact };
    const answer = await stranger.send("POST /api/v1/turns", { query: own(), body: { writes: [borrowed] } });
    expect(answer.status).toBeLessThan(500);
    await expectUntouched(answer.text);
  });
});

describe("an import", () => {
  const header = JSON.stringify({ type: "holdfast", version: 1, exportedAt: 0 });
  const send = (line: string, query: { readonly [name: string]: string } = {}) =>
    stranger.send("POST /api/v1/import", { query, body: `${header}\n${line}\n` });
  const item = (more: object) => ({
    ...{
      type: "item",
      id: "x1",
      kind: "message",
      role: "user",
      content: "owned",
      occurredAt: 1,
      recordedAt: 1,
      version: 1,
    },
    ...more,
  });

  it("may name no space that the key does not cover, in any line", async () => {
    const lines = before.split("\n").filter((line) => line !== "" && !line.includes('"type":"end"'));
    const types = new Set(lines.map((line) => (JSON.parse(line) as { type: string }).type));
    expect([...types].sort()).toEqual(["block", "entry", "fact", "item", "point", "session"]);
    const agent = victim.agent;
    const more = [
      { type: "session", space: { user: mallory.user }, name: "owned", agent },
      item({ space: { user: mallory.user }, agent }),
      { type: "superseded", space: { user: victim.user }, id: victim.fact, from: 1, by: "f1" },
    ];
    for (const line of [...lines, ...more.map((one) => JSON.stringify(one))]) {
      for (const query of [{}, own()]) {
        const { status, text } = await send(line, query);
        expect(status, `${line} ${text}`).toBe(403);
        expect(text).not.toContain(MARKER);
      }
    }
    await expectUntouched();
  });

  it("writes the lines before such a line, and nothing of the line itself", async () => {
    const body = [
      ...exportLines(mallory.user).split("\n").slice(0, 3),
      ...exportLines(victim.user).split("\n").slice(1),
    ].join("\n");
    const { status, json } = await stranger.send("POST /api/v1/import", { body });
    expect(status).toBe(403);
    expect(json?.error?.details).toMatchObject({ line: 4 });
    expect(await stranger.data("POST /api/v1/items/get", { query: own(), body: { ids: ["imported-1"] } })).toHaveLength(
      1,
    );
    await expectUntouched();
  });

  it("of another's lines goes where the key may write, and `into` needs to say where", async () => {
    const lines = exportLines(victim.user);
    const into = { ...own(), into: "scope" };
    expect((await stranger.send("POST /api/v1/import", { query: into, body: lines })).status).toBe(200);
    const { status, json } = await stranger.send("POST /api/v1/import", { query: { into: "scope" }, body: lines });
    expect([status, json?.errors?.[0]?.field]).toEqual([422, "into"]);
    const elsewhere = { user: victim.user, into: "scope" };
    expect(
      (await stranger.send("POST /api/v1/import", { query: elsewhere, body: exportLines(mallory.user) })).status,
    ).toBe(403);
    await expectUntouched();
  });

  const ended = (type: string, count = 1) => {
    const counts = { entry: 0, session: 0, item: 0, block: 0, fact: 0, superseded: 0, promotion: 0, [type]: count };
    return JSON.stringify({ type: "end", counts });
  };

  it("of a key that is bound to agents carries no other's name into the history of a block, or into the log", async () => {
    const block = { type: "block", space: { user: mallory.user }, id: "b1", version: 1, name: "signed", content: "x" };
    const promotion = { type: "promotion", space: { user: mallory.user }, id: "x2", reason: "r", at: 1 };
    for (const actor of [`agent ${victim.agent}`, victim.agent, `user ${victim.user}`, "the operator"]) {
      for (const line of [block, promotion]) {
        const { status, json } = await send(JSON.stringify({ ...line, actor }), own());
        expect([status, json?.error?.code], `${line.type} by ${actor}`).toEqual([403, "forbidden"]);
      }
    }
    expect((await send(JSON.stringify({ ...promotion, actor: `agent ${mallory.agent}` }), own())).status).toBe(403);
    const log = await stranger.send("GET /api/v1/promotions", { query: own() });
    expect(log.text).not.toContain('"x2"');

    const versions = [block, { ...block, version: 2, content: "y" }].map((line) => JSON.stringify(line)).join("\n");
    const { status, text } = await send(`${versions}\n${ended("block", 2)}`);
    expect(status, text).toBe(200);
    const [edit] = await stranger.data<{ actor: string }[]>("GET /api/v1/blocks/signed/history", { query: own() });
    expect(edit?.actor, "it signs as its own agent").toBe(`agent ${mallory.agent}`);

    const restored = `${header}\n${JSON.stringify({ ...promotion, actor: "agent of old" })}\n${ended("promotion")}`;
    expect((await admin.send("POST /api/v1/import", { body: restored })).status, "an admin restores the log").toBe(200);
    expect((await admin.send("GET /api/v1/promotions", { query: own() })).text).toContain("agent of old");
    await expectUntouched();
  });

  it("answers with the outcome as its status, also for one line of garbage", async () => {
    for (const body of ["hello", "hello\nworld", "", header, `${header}\n{"type":"it`]) {
      const { status, json } = await stranger.send("POST /api/v1/import", { query: own(), body });
      expect([status, json?.error?.code, json?.error?.details], body).toEqual([
        422,
        "invalid_input",
        expect.objectContaining({ line: expect.any(Number), report: expect.any(Object) }),
      ]);
    }
  });

  it("names no other's space as the origin of a promotion", async () => {
    const promotion = { type: "promotion", id: "x1", reason: "r", at: 1, from: { user: victim.user } };
    const line = JSON.stringify({ ...promotion, space: { user: mallory.user } });
    const { status, text } = await unbound.send("POST /api/v1/import", {
      body: `${header}\n${line}\n${ended("promotion")}`,
    });
    expect(status, text).toBe(200);
    const log = await stranger.send("GET /api/v1/promotions", { query: own() });
    expect(log.text).toContain('"x1"');
    expect(log.text).not.toContain(victim.user);
    await expectUntouched();
  });

  it("takes plain messages for its scope only", async () => {
    const plain = (more: object) => JSON.stringify({ role: "user", content: "owned", ...more });
    for (const more of [{ user: victim.user }, { space: { user: victim.user } }, { agent: victim.agent }]) {
      const { status } = await stranger.send("POST /api/v1/import", { query: own(), body: plain(more) });
      expect(status, JSON.stringify(more)).toBe(422);
    }
    expect((await stranger.send("POST /api/v1/import", { body: plain({}) })).status).toBe(422);
    await expectUntouched();
  });
});

describe("a key that names its agent", () => {
  it("may act as no other, in the scope or in a body", async () => {
    const as = { ...own(), agent: victim.agent };
    expect((await stranger.send("POST /api/v1/messages", { query: as, body: { messages: [] } })).status).toBe(403);
    expect((await stranger.send("POST /api/v1/query", { query: as, body: { query: "town" } })).status).toBe(403);
    const space = { user: mallory.user };
    for (const actor of [victim.agent, `agent ${victim.agent}`, victim.user, "the operator"]) {
      const block = { name: `signed ${actor}`, content: "x", actor };
      expect((await stranger.send("POST /api/v1/blocks", { query: own(), body: block })).status, actor).toBe(403);
      const writes = [{ op: "edit_block", block: "persona", append: "x", actor }];
      expect((await stranger.send("POST /api/v1/turns", { query: own(), body: { writes } })).status, actor).toBe(403);
    }
    const signed = { name: "signed by itself", content: "x", actor: `agent ${mallory.agent}` };
    expect((await stranger.send("POST /api/v1/blocks", { query: own(), body: signed })).status).toBe(201);
    const session = { space, name: "with another's agent", agent: victim.agent };
    expect((await stranger.send("POST /api/v1/registry/sessions", { body: session })).status).toBe(403);
    const theirs = { user_id: mallory.userId, agent_id: victim.agentId };
    expect((await stranger.send("POST /api/v1/sessions", { body: theirs })).status).toBe(404);
    const mine = { ...own(), agent: mallory.agent };
    expect((await stranger.send("POST /api/v1/query", { query: mine, body: { query: "town" } })).status).toBe(200);
  });
});

describe("a name", () => {
  it("of another's is not to be had, nor one that others may have been granted", async () => {
    for (const name of [victim.user, "somebody"]) {
      const rename = await stranger.send(`PATCH /api/v1/registry/users/${mallory.user}`, { body: { name } });
      expect(rename.status).toBe(403);
      const put = await stranger.send(`PUT /api/v1/users/${mallory.userId}`, { body: { name } });
      expect(put.status).toBe(403);
      expect((await stranger.send("POST /api/v1/registry/users", { body: { name } })).status).toBe(403);
      expect((await stranger.send("POST /api/v1/users", { body: { name } })).status).toBe(403);
    }
    expect(
      (await admin.send(`PATCH /api/v1/registry/users/${mallory.user}`, { body: { name: victim.user } })).status,
    ).toBe(409);
    await expectUntouched();
  });

  it("that is forgotten and taken by another opens nothing for the old key", async () => {
    const old = await makeWorld(admin, "phoenix");
    const key = anyone.as((await makeKey(admin, { access: "write", spaces: [{ user: old.user }] })).secret);
    expect((await ask(key, byName("query"), old)).status).toBe(200);
    await admin.data("DELETE /api/v1/registry/users/phoenix");
    const next = await makeWorld(admin, "phoenix", MARKER);
    for (const listed of OPERATIONS.filter(({ operation }) => operation.access !== "none")) {
      const answer = await ask(key, listed, next);
      // To a key that names no agent MemFuse's routes name any agent, whether there is one or not.
      const isOpen = listed.name === "listEntries" || listed.path.startsWith("/agents");
      if (listed.name === "caller") expect(answer.json?.data).toMatchObject({ access: "write", spaces: [] });
      else if (listed.name === "imports") expect(answer.json?.data).toEqual({ imports: [] });
      else if (!isOpen) expect([403, 404], listed.name).toContain(answer.status);
      expect(answer.text).not.toContain(MARKER);
    }
  });
});

describe("the registry", () => {
  it("lists what the key covers, and finds nothing else by name or id", async () => {
    const names = async (kind: string, query = {}) =>
      (await stranger.data<{ items: { name: string }[] }>(`GET /api/v1/registry/${kind}`, { query })).items.map(
        ({ name }) => name,
      );
    expect(await names("users")).toEqual([mallory.user]);
    expect(await names("agents")).toEqual([mallory.agent]);
    expect(await names("users", { limit: "1000" })).toEqual([mallory.user]);
    for (const query of [{ name: victim.user }, { id: victim.userId }]) expect(await names("users", query)).toEqual([]);
    for (const query of [{ name: victim.agent }, { id: victim.agentId }])
      expect(await names("agents", query)).toEqual([]);
    expect(await names("teams", { name: victim.team })).toEqual([]);
    expect(await names("sessions", { id: victim.sessionId })).toEqual([]);
    expect(await names("sessions", { id: mallory.sessionId })).toHaveLength(1);
    expect((await stranger.send("GET /api/v1/registry/sessions")).status).toBe(403);
    const { sessions } = await stranger.data<{ sessions: { user_id: string }[] }>("GET /api/v1/sessions");
    expect(new Set(sessions.map(({ user_id }) => user_id))).toEqual(new Set([mallory.userId]));
    expect((await stranger.send("GET /api/v1/sessions", { query: { name: `about ${MARKER}` } })).status).toBe(404);
  });
});

describe("what others have", () => {
  it("looks like something that does not exist", async () => {
    const explained = async (id: string) => {
      const body = { query: "Where did I move in May?", explain: [id] };
      const { explanation } = await stranger.data<{ explanation: object }>("POST /api/v1/query", {
        query: own(),
        body,
      });
      return JSON.stringify({ ...explanation, sources: [] }).replaceAll(id, "id");
    };
    expect(await explained(victim.item)).toBe(await explained("019a0000-0000-7000-8000-000000000000"));
    for (const [route, body] of [
      ["PATCH /api/v1/items/ID", { content: "owned" }],
      ["DELETE /api/v1/items", { ids: ["ID"] }],
      ["POST /api/v1/facts/ID/retract", undefined],
      ["POST /api/v1/facts/get", { ids: ["ID"] }],
      ["POST /api/v1/promotions", { ids: ["ID"], to: { team: mallory.team }, reason: "r" }],
    ] as const) {
      const told = async (id: string) => {
        const filled = JSON.stringify(body)?.replaceAll("ID", id);
        const answer = await stranger.send(route.replace("ID", id), { query: own(), ...(filled && { body: filled }) });
        return [answer.status, answer.text.replaceAll(id, "id")];
      };
      const id = route.includes("facts") ? victim.fact : victim.item;
      expect(await told(id), route).toEqual(await told(id.replaceAll(/\d/g, "7")));
    }
    await expectUntouched();
  });

  it("is not to be had by its cursor", async () => {
    const victims = { user: victim.user };
    const page = await admin.data<{ next: string }>("POST /api/v1/items/list", { query: victims, body: { limit: 1 } });
    expect(page.next).toBeDefined();
    const body = { cursor: page.next, limit: 100 };
    const answer = await stranger.send("POST /api/v1/items/list", { query: own(), body });
    expect(answer.status).toBeLessThan(500);
    expect(answer.text).not.toContain(MARKER);
    const rounds = Array.from({ length: 120 }, (_, at) => [message(at)]);
    await admin.data("POST /api/v1/rounds", { query: { user: "odysseus" }, body: { rounds } });
    const { text } = await admin.send("GET /api/v1/export", { query: { user: "odysseus" } });
    const [, cursor = ""] = /"cursor":"([^"]+)"/.exec(text) ?? [];
    expect(cursor).not.toBe("");
    const on = await stranger.send("GET /api/v1/export", { query: { ...own(), cursor } });
    expect([on.status, on.text.includes("odysseus")]).toEqual([422, false]);
  });

  it("is not to be had by its idempotency key", async () => {
    const add = (caller: Caller, user: string, session: string) =>
      caller.send("POST /api/v1/messages", {
        query: { user, session },
        headers: { "idempotency-key": "order 66" },
        body: { messages: [message(0)] },
      });
    const theirs = await add(admin, "third", "s");
    const mine = await add(stranger, mallory.user, "s");
    expect([theirs.status, mine.status]).toEqual([201, 201]);
    const { ids } = (theirs.json?.data ?? { ids: [] }) as { ids: string[] };
    expect(ids).toHaveLength(1);
    expect(mine.text).not.toContain(ids[0]);
  });
});

describe("a query string", () => {
  it("that names two users is about one at most, and that one is checked", async () => {
    for (const search of [`user=${mallory.user}&user=${victim.user}`, `user=${victim.user}&user=${mallory.user}`]) {
      const { status, text } = await stranger.send(`POST /api/v1/items/list?${search}`, { body: {} });
      expect([200, 403, 422]).toContain(status);
      expect(text).not.toContain(MARKER);
    }
    const both = { user: mallory.user, team: victim.team, space: "team" };
    expect((await stranger.send("POST /api/v1/items/list", { query: both, body: {} })).status).toBe(403);
  });

  it("of a route that takes no scope may hold none", async () => {
    const { status } = await admin.send("GET /api/v1/stats", { query: { user: mallory.user } });
    expect(status).toBe(422);
  });
});

const message = (at: number) => ({ role: "user", content: `a long story, part ${at}` });
