/** Answers to one tenant reveal nothing about others: neither how much they write nor what their agents are called. */
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "./parts.js";
import { ask } from "./requests.js";
import { EventReader } from "./sse.js";
import { type Caller, startWithKeys } from "./started.js";
import { makeKey, makeWorld, spacesOf, type World } from "./world.js";

let url: string;
let admin: Caller;
let ada: World;
let bob: World;
/** For ada's user, team and agent. */
let owner: Caller;
/** For ada's user alone: it may say that it is any agent. */
let unbound: Caller;

beforeAll(async () => {
  const started = await startWithKeys();
  ({ admin } = started);
  url = started.server.url;
  [ada, bob] = await Promise.all([makeWorld(admin, "ada"), makeWorld(admin, "bob")]);
  const keyOf = async (spaces: Parameters<typeof makeKey>[1]["spaces"]) =>
    started.anyone.as((await makeKey(admin, { access: "write", spaces })).secret);
  [owner, unbound] = await Promise.all([keyOf(spacesOf(ada)), keyOf([{ user: ada.user }])]);
});

const add = (caller: Caller, user: string, more = {}) =>
  caller.data<{ ids: string[] }>("POST /api/v1/messages", {
    query: { user, session: "talk", ...more },
    body: { messages: [{ role: "user", content: "tea" }] },
  });

describe("a cursor", () => {
  /** The first page of one thing, of every list that a tenant has. */
  const LISTS = {
    items: (cursor?: string) => owner.send("POST /api/v1/items/list", list({ limit: 1, ...(cursor && { cursor }) })),
    "items by time": (cursor?: string) =>
      owner.send("POST /api/v1/items/list", list({ limit: 1, sortBy: "timestamp", ...(cursor && { cursor }) })),
    facts: (cursor?: string) => owner.send("POST /api/v1/facts/list", list({ limit: 1, ...(cursor && { cursor }) })),
    sessions: (cursor?: string) => owner.send("GET /api/v1/registry/sessions", page(cursor)),
    promotions: (cursor?: string) =>
      owner.send("GET /api/v1/promotions", { query: { team: ada.team, ...limited(cursor) } }),
  };
  const list = (body: object) => ({ query: { user: ada.user }, body });
  const limited = (cursor?: string) => ({ limit: "1", ...(cursor && { cursor }) });
  const page = (cursor?: string) => ({ query: { user: ada.user, ...limited(cursor) } });
  const nextOf = async (answer: Promise<{ json?: { data: unknown } | undefined }>) =>
    ((await answer).json?.data as { next?: string } | undefined)?.next ?? "";

  beforeAll(async () => {
    const query = { user: ada.user };
    await add(owner, ada.user, { session: "second" });
    await owner.data("POST /api/v1/facts", { query, body: { category: "c", content: "another fact" } });
    const body = { ids: [ada.item, ada.knowledge], to: { team: ada.team }, reason: "all should know" };
    await owner.data("POST /api/v1/promotions", { query, body });
  });

  it.each(Object.keys(LISTS))(
    "of %s does not reveal how much others write, and still leads to the next page",
    async (name) => {
      const read = LISTS[name as keyof typeof LISTS];
      const [first, again] = [await nextOf(read()), await nextOf(read())];
      expect(first).toMatch(/^[\w-]{59}$/);
      expect(again, "two of one place cannot be compared").not.toBe(first);
      for (let times = 0; times < 5; times++) await add(admin, bob.user);
      const [one, other] = await Promise.all([read(first), read(again)]);
      expect([one.status, other.status]).toEqual([200, 200]);
      const items = (answer: typeof one) => (answer.json?.data as { items: unknown[] } | undefined)?.items;
      expect(items(one)).toEqual(items(other));
      expect(items(one)).toHaveLength(1);
    },
  );

  it("of one list leads nowhere in another, nor in another space, nor if it was changed", async () => {
    for (const [name, read] of Object.entries(LISTS)) {
      const cursor = await nextOf(read());
      for (const [other, readOther] of Object.entries(LISTS)) {
        if (other !== name) expect((await readOther(cursor)).status, `${name} → ${other}`).toBe(422);
      }
      const turned = cursor.slice(0, 20) + (cursor[20] === "A" ? "B" : "A") + cursor.slice(21);
      expect((await read(turned)).status).toBe(422);
    }
    const { next } = await admin.data<{ next: string }>("POST /api/v1/items/list", {
      query: { user: bob.user },
      body: { limit: 1 },
    });
    expect((await LISTS.items(next)).status).toBe(422);
  });
});

describe("the number of a commit", () => {
  it("is in no answer to a tenant", async () => {
    const shown: string[] = [];
    const world = await makeWorld(admin, "carol");
    const { secret } = await makeKey(admin, { access: "write", spaces: spacesOf(world) });
    const deletesLast = OPERATIONS.toSorted((one, other) => Number(isDelete(one)) - Number(isDelete(other)));
    for (const listed of deletesLast) {
      if (listed.operation.access === "admin" || listed.name === "events") continue;
      const { text } = await ask(admin.as(secret), listed, world);
      if (/"commit"/.test(text)) shown.push(listed.name);
    }
    expect(shown).toEqual([]);
    const rounds = [[{ id: "r1", role: "user", content: "x" }], [{ id: "r1", role: "user", content: "another" }]];
    const { status, text } = await owner.send("POST /api/v1/rounds", { query: { user: ada.user }, body: { rounds } });
    expect([status, text.includes('"ids":["r1"]'), /"commit"/.test(text)]).toEqual([409, true, false]);
  });

  it("is in no event", async () => {
    const events = new EventReader(await owner.fetch("GET /api/v1/events", { query: { user: ada.user } }));
    await add(owner, ada.user);
    const event = await events.next();
    await events.close();
    expect(event).toMatchObject({ type: "added", data: { ids: expect.any(Array) } });
    expect(event).not.toHaveProperty("data.commit");
  });

  it("and the amount of pending work are not part of the readiness answer", async () => {
    const asked = async (caller: Caller) => (await caller.send("GET /health/ready")).json;
    const { checks } = (await (await fetch(`${url}/health/ready`)).json()) as { checks: object };
    expect(checks).not.toHaveProperty("queue");
    expect(await asked(owner)).not.toHaveProperty("checks.queue");
    expect(await asked(admin)).toHaveProperty("checks.queue");
  });
});

const isDelete = ({ method, name }: { readonly method: string; readonly name: string }): boolean =>
  method === "DELETE" || name.includes("Delete");

describe("an agent's name", () => {
  it("cannot be tested by a key that may act as any", async () => {
    const told = async (agent: string, id: string) => {
      const space = { user: ada.user };
      const scope = { ...space, session: `with ${agent}` };
      const own = async (path: string, sent: object) => {
        const { status, text } = await unbound.send(path, sent);
        const times = /"(?:recordedAt|updatedAt|createdAt|occurredAt|at|created_at|updated_at)":("[^"]*"|\d+)/g;
        return [
          status,
          text.replaceAll(agent, "NAME").replaceAll(id, "ID").replaceAll(times, "").replaceAll(UUID, "UUID"),
        ];
      };
      return [
        await own("GET /api/v1/registry/agents", { query: { name: agent } }),
        await own("GET /api/v1/registry/agents", { query: { id } }),
        await own("POST /api/v1/registry/agents", { body: { name: agent } }),
        await own("POST /api/v1/registry/agents", { body: { name: agent, ensure: true } }),
        await own(`PATCH /api/v1/registry/agents/${agent}`, { body: { description: "x" } }),
        await own(`DELETE /api/v1/registry/agents/${agent}`, {}),
        await own("GET /api/v1/agents", { query: { name: agent } }),
        await own("POST /api/v1/agents", { body: { name: agent } }),
        await own(`GET /api/v1/agents/${id}`, {}),
        await own("POST /api/v1/sessions", { body: { user_id: ada.userId, agent_id: id } }),
        await own("GET /api/v1/sessions", { query: { agent_id: id } }),
        await own(`POST /api/v1/users/${ada.userId}/query`, { body: { query: "tea", agent_id: id } }),
        await own("GET /api/v1/registry/sessions", { query: { ...space, agent } }),
        await own("POST /api/v1/query", { query: space, body: { query: "tea", agent } }),
        await own("POST /api/v1/registry/sessions", { body: { space, name: `of ${agent}`, agent } }),
        await own("POST /api/v1/items", {
          query: { ...scope, agent },
          body: { items: [{ kind: "knowledge", content: "x" }] },
        }),
        await own("GET /api/v1/sessions", { query: { user_id: ada.userId, name: `of ${agent}` } }),
        await own("GET /api/v1/registry/sessions", { query: { ...space, name: `of ${agent}` } }),
        await own("DELETE /api/v1/memory", { query: { agent } }),
        await own("DELETE /api/v1/memory", { query: { ...space, session: `of ${agent}` } }),
      ];
    };
    const [there, absent] = [await told(bob.agent, bob.agentId), await told("no-such-bot", ABSENT_ID)];
    for (const [at, answer] of there.entries()) expect(answer, `call ${at}`).toEqual(absent[at]);
  });
});

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ABSENT_ID = "019a0000-0000-7000-8000-000000000000";
