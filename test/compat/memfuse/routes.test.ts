/**
 * Every route of MemFuse: carried out, and refused for invalid input, for lack of permission, and for unknown ids. The
 * table of operations is the list. Every answer is checked against the OpenAPI document and against its operation.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Caller, type Keyed, startWithKeys } from "../../server/started.js";
import { checkAnswer, DIALECT, type Envelope, type Listed } from "./dialect.js";
import { MEMFUSE_MISTAKES, MEMFUSE_SAMPLES, makePlace, nowhere, type Place, type Sample } from "./samples.js";

const MARKER = "Xanadu7341";
/** These name a user; a request that names one that the key does not cover is told so. */
const BY_NAME: ReadonlySet<string> = new Set(["memfuseListUsers", "memfuseCreateUser"]);

let anyone: Caller;
let admin: Caller;
let victim: Place;
let before: string;
/** A key for another user, bound to that user's agent. */
let stranger: Caller;
/** A read-only key for the victim. */
let reader: Caller;
/** Separate memories for operations that change one, by operation. */
let forAdmin: ReadonlyMap<string, Place>;
let forOwner: ReadonlyMap<string, Place>;

beforeAll(async () => {
  ({ anyone, admin } = await startWithKeys());
  victim = await makePlace(admin, "victim", MARKER);
  await makePlace(admin, "mallory");
  stranger = await keyed("write", [{ user: "mallory" }, { agent: "mallory-bot" }]);
  reader = await keyed("read", [{ user: "victim" }, { agent: "victim-bot" }]);
  [forAdmin, forOwner] = await Promise.all([placesFor("admin's"), placesFor("owner's")]);
  before = await everything();
  expect(before.split(MARKER).length).toBeGreaterThan(3);
});

/** Created concurrently, which is fast: one commit for all. */
async function placesFor(whom: string): Promise<ReadonlyMap<string, Place>> {
  const names = DIALECT.map(({ name }) => name);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await makePlace(admin, `${whom} & ${name}`)] as const)),
  );
}

async function keyed(access: "read" | "write", spaces: readonly (object | string)[]): Promise<Caller> {
  const { secret } = await admin.data<Keyed>("POST /api/v1/keys", { body: { access, spaces } });
  return anyone.as(secret);
}

/** The whole memory of the victim, except for the line with the time of the export. */
async function everything(): Promise<string> {
  const { text } = await admin.send("GET /api/v1/export", { query: { user: "victim" } });
  return text.slice(text.indexOf("\n"));
}

async function ask(caller: Caller, { method, path }: Listed, sample: Sample, slash = ""): Promise<Answer> {
  const { params = {}, query, body } = sample;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const route = `/api/v1${filled}${slash}`;
  const answer = await caller.send(`${method} ${route}`, {
    ...(query && { query }),
    ...(body !== undefined && { body }),
  });
  checkAnswer(method, route, answer.status, answer.json as unknown as Envelope);
  return answer;
}

it("has a valid and an invalid sample for every operation", () => {
  const names = DIALECT.map(({ name }) => name).sort();
  expect(Object.keys(MEMFUSE_SAMPLES).sort()).toEqual(names);
  for (const { name, operation } of DIALECT) {
    expect(MEMFUSE_MISTAKES[name].length, name).toBeGreaterThan(0);
    const { params = {}, body } = MEMFUSE_SAMPLES[name](victim);
    expect(Object.keys(params).sort(), name).toEqual(Object.keys(operation.params?.shape ?? {}).sort());
    expect(body !== undefined, name).toBe(operation.body !== undefined);
  }
});

describe.each(DIALECT)("$method $path", (listed: Listed) => {
  const { name, operation } = listed;
  const { access, status } = operation;
  const sample = MEMFUSE_SAMPLES[name];

  it("is carried out", async () => {
    const place = forAdmin.get(name) ?? victim;
    expect((await ask(admin, listed, sample(place))).status).toBe(status);
  });

  it("reports what is wrong with it", async () => {
    for (const mistake of MEMFUSE_MISTAKES[name]) {
      const answer = await ask(admin, listed, { ...sample(victim), ...mistake });
      expect([answer.status, mistake]).toEqual([422, mistake]);
      expect(answer.text).not.toContain(MARKER);
    }
  });

  it.runIf(access !== "none")("requires a key", async () => {
    expect((await ask(anyone, listed, sample(victim))).status).toBe(401);
  });

  it.runIf(access === "none")("needs no key, and reveals nothing", async () => {
    expect((await ask(anyone, listed, sample(victim))).json?.data).toEqual({
      status: "ok",
      version: expect.any(String),
    });
  });

  it("accepts the owner's key, even with a trailing slash", async () => {
    const place = forOwner.get(name) ?? victim;
    const owner = await keyed("write", [{ user: place.name }, { user: `${place.name} junior` }, "agent"]);
    const answer = await ask(owner, listed, sample(place), "/");
    const isTaken = name === "memfuseCreateUser"; // creating a key creates the users that it names
    expect(answer.status).toBe(access === "admin" ? 403 : isTaken ? 409 : status);
  });

  it.runIf(access !== "none")("does not let a read-only key write", async () => {
    expect((await ask(reader, listed, sample(victim))).status).toBe(access === "read" ? status : 403);
  });

  it.runIf(access !== "none")("reveals nothing of the victim to a stranger", async () => {
    const answer = await ask(stranger, listed, sample(victim));
    const isForbidden = access === "admin" || BY_NAME.has(name) || /(List|Create)Agents?$/.test(name);
    expect(answer.status).toBe(isForbidden ? 403 : 404);
    expect(answer.text).not.toMatch(/Xanadu7341|victim/);
    if (isForbidden) return;
    const unknown = await ask(stranger, listed, sample(nowhere(victim)));
    expect(unknown.text.replaceAll(/"[^"]* is not there"/g, ""), "as if it did not exist").toBe(
      answer.text.replaceAll(/"[^"]* is not there"/g, ""),
    );
  });

  it.runIf(/_id\}/.test(listed.path))("answers 404 to an unknown id", async () => {
    expect((await ask(admin, listed, sample(nowhere(victim)))).status).toBe(404);
  });
});

describe("a stranger's own requests", () => {
  it("cannot refer to the victim's objects", async () => {
    const { users } = await stranger.data<{ users: { id: string }[] }>("GET /api/v1/users");
    const [me] = users;
    expect(users).toHaveLength(1);
    const { sessions } = await stranger.data<{ sessions: { id: string; agent_id: string }[] }>("GET /api/v1/sessions");
    expect(sessions).toHaveLength(1);
    const { agents } = await stranger.data<{ agents: { id: string; name: string }[] }>("GET /api/v1/agents");
    expect(agents.map(({ name }) => name)).toEqual(["mallory-bot"]);
    const [mine] = sessions;
    const { user_id, agent_id, session_id, message_id, knowledge_id } = victim;
    const tries: readonly (readonly [string, { query?: Record<string, string>; body?: unknown }])[] = [
      ["POST /api/v1/sessions", { body: { user_id, agent_id: mine?.agent_id } }],
      ["POST /api/v1/sessions", { body: { user_id: me?.id, agent_id } }],
      [`POST /api/v1/users/${me?.id}/query`, { body: { query: "May", session_id } }],
      [`POST /api/v1/users/${me?.id}/query`, { body: { query: "May", agent_id } }],
      [`POST /api/v1/sessions/${mine?.id}/messages/read`, { body: { message_ids: [message_id] } }],
      [`DELETE /api/v1/sessions/${mine?.id}/messages`, { body: { message_ids: [message_id] } }],
      [`POST /api/v1/users/${me?.id}/knowledge/read`, { body: { knowledge_ids: [knowledge_id] } }],
      [`DELETE /api/v1/users/${me?.id}/knowledge`, { body: { knowledge_ids: [knowledge_id] } }],
      ["GET /api/v1/sessions", { query: { agent_id } }],
      ["GET /api/v1/sessions", { query: { name: `${MARKER} talk` } }],
      ["GET /api/v1/chunks/stats", { query: { user_id: me?.id ?? "", session_id } }],
    ];
    for (const [route, sent] of tries) {
      const answer = await stranger.send(route, sent);
      expect([route, answer.status]).toEqual([route, 404]);
      expect(answer.text).not.toContain(MARKER);
    }
    const renamed = await stranger.send(`PUT /api/v1/users/${me?.id}`, { body: { name: "free" } });
    expect(renamed.status, "a name that the key does not cover").toBe(403);
  });

  it("have not changed the victim's memory, and neither have invalid requests", async () => {
    expect(await everything()).toBe(before);
  });
});

describe("extensions", () => {
  it("pages of users, agents, sessions and knowledge", async () => {
    const { user_id } = await makePlace(admin, "paging");
    await admin.data(`POST /api/v1/users/${user_id}/knowledge`, { body: { knowledge: ["One.", "Two."] } });
    for (const [path, field, limit] of [
      ["/users", "users", "30"],
      ["/agents", "agents", "30"],
      ["/sessions", "sessions", "30"],
      [`/users/${user_id}/knowledge`, "knowledge", "2"],
    ] as const) {
      type Page = { [field: string]: { id: string }[] } & { next?: string };
      const all = await admin.data<Page>(`GET /api/v1${path}`);
      const ids: (string | undefined)[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const query = { limit, ...(cursor !== "" && { cursor }) };
        const page: Page = await admin.data<Page>(`GET /api/v1${path}`, { query });
        ids.push(...(page[field] ?? []).map(({ id }) => id));
        cursor = page.next;
      }
      expect(ids.length, path).toBeGreaterThan(Number(limit));
      expect(ids, path).toEqual((all[field] ?? []).map(({ id }) => id));
    }
  });

  it("all fields of our messages; unknown fields are ignored", async () => {
    const { session_id } = await makePlace(admin, "fields");
    const route = `/api/v1/sessions/${session_id}/messages`;
    const own = { id: "mine", name: "Ada", occurredAt: "2020-01-01", metadata: { mood: "good" }, refusal: null };
    const messages = [{ role: "tool", content: [{ type: "text", text: "42 degrees" }], ...own }];
    const added = await admin.data<{ message_ids: string[] }>(`POST ${route}`, { body: { messages, stream: true } });
    expect(added.message_ids).toEqual(["mine"]);
    const read = await admin.data<{ messages: object[] }>(`POST ${route}/read`, { body: { message_ids: ["mine"] } });
    expect(read.messages).toEqual([
      expect.objectContaining({
        ...{ id: "mine", name: "Ada", role: "tool", content: "42 degrees", metadata: { mood: "good" } },
        ...{ occurred_at: "2020-01-01T00:00:00.000Z", created_at: expect.stringMatching(/^20[2-9]/) },
      }),
    ]);
  });

  it("sessions of teams and agents are hidden, and no question is too short", async () => {
    const { user_id } = await makePlace(admin, "lonely");
    for (const space of [{ team: "crew" }, { agent: "bot" }]) {
      const made = await admin.data<{ id: string }>("POST /api/v1/registry/sessions", {
        body: { space, name: "meeting" },
      });
      expect((await admin.send(`GET /api/v1/sessions/${made.id}`)).status).toBe(404);
    }
    expect((await admin.send("GET /api/v1/sessions", { query: { name: "meeting" } })).status).toBe(404);
    expect((await admin.send(`POST /api/v1/users/${user_id}/query`, { body: { query: "" } })).status).toBe(200);
  });
});

describe("status is outcome", () => {
  it("409 for a name that is taken", async () => {
    const place = await makePlace(admin, "taken");
    await makePlace(admin, "takes");
    const { user_id, agent_id, session_id } = place;
    const tries: readonly (readonly [string, unknown])[] = [
      ["POST /api/v1/users", { name: "taken" }],
      ["POST /api/v1/agents", { name: "taken-bot" }],
      ["POST /api/v1/sessions", { user_id, agent_id, name: "plain talk" }],
      [`PUT /api/v1/users/${user_id}`, { name: "takes" }],
      [`PUT /api/v1/agents/${agent_id}`, { name: "takes-bot" }],
    ];
    for (const [route, body] of tries)
      expect([route, (await admin.send(route, { body })).status]).toEqual([route, 409]);
    expect((await admin.send(`PUT /api/v1/sessions/${session_id}`, { body: { name: "plain talk" } })).status).toBe(200);
  });

  it("404 for what was deleted, 200 for the rest", async () => {
    const { user_id, agent_id, session_id } = await makePlace(admin, "leaving");
    await admin.data(`DELETE /api/v1/agents/${agent_id}`);
    const { session } = await admin.data<{ session: { agent_id: null } }>(`GET /api/v1/sessions/${session_id}`);
    expect(session.agent_id).toBeNull();
    await admin.data(`DELETE /api/v1/sessions/${session_id}`);
    const body = { messages: [{ role: "user", content: "Is anybody there?" }] };
    expect((await admin.send(`POST /api/v1/sessions/${session_id}/messages`, { body })).status).toBe(404);
    expect((await admin.send(`GET /api/v1/users/${user_id}`)).status).toBe(200);
    await admin.data(`DELETE /api/v1/users/${user_id}`);
    expect((await admin.send(`GET /api/v1/users/${user_id}/knowledge`)).status).toBe(404);
  });

  it("200, and nothing new, for a retry with the same Idempotency-Key", async () => {
    const { user_id, session_id } = await makePlace(admin, "retrying");
    const headers = { "idempotency-key": "once" };
    const messages = { headers, body: { messages: [{ role: "user", content: "Only once.", occurredAt: 1 }] } };
    const knowledge = { headers, body: { knowledge: ["Only once."] } };
    for (const [route, sent, ids] of [
      [`POST /api/v1/sessions/${session_id}/messages`, messages, "message_ids"],
      [`POST /api/v1/users/${user_id}/knowledge`, knowledge, "knowledge_ids"],
    ] as const) {
      const [first, again] = [await admin.send(route, sent), await admin.send(route, sent)];
      expect([first.status, again.status]).toEqual([201, 200]);
      const idsOf = ({ json }: Answer) => (json?.data as { [field: string]: unknown } | undefined)?.[ids];
      expect(idsOf(again)).toEqual(idsOf(first));
    }
    const listed = await admin.data<{ messages: { content: string; occurred_at: string }[] }>(
      `GET /api/v1/sessions/${session_id}/messages`,
    );
    expect(listed.messages.filter(({ content }) => content === "Only once.")).toHaveLength(1);
    expect(listed.messages.at(-1)?.occurred_at, "when it was said, not when it came").toBe("1970-01-01T00:00:00.001Z");
  });

  it("a key created for a user gives access to that user, until it is deleted", async () => {
    const { user_id, session_id } = await makePlace(admin, "holder");
    const made = await admin.data<{ api_key: { id: string; key: string } }>(`POST /api/v1/users/${user_id}/api-keys`);
    const holder = anyone.as(made.api_key.key);
    expect((await holder.send(`GET /api/v1/sessions/${session_id}`)).status).toBe(200);
    expect((await holder.send(`GET /api/v1/users/${victim.user_id}`)).status).toBe(404);
    expect((await admin.send(`DELETE /api/v1/users/${victim.user_id}/api-keys/${made.api_key.id}`)).status).toBe(404);
    await admin.data(`DELETE /api/v1/users/${user_id}/api-keys/${made.api_key.id}`);
    expect((await holder.send(`GET /api/v1/sessions/${session_id}`)).status).toBe(401);
    const { api_keys } = await admin.data<{ api_keys: { id: string }[] }>(`GET /api/v1/users/${user_id}/api-keys`);
    expect(api_keys.map(({ id }) => id)).not.toContain(made.api_key.id);
  });
});
