/** MemFuse's Python SDK, unchanged, with this server. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, start } from "../../server/started.js";
import { type Library, MemFuse, MemFuseHTTPError } from "./sdk.js";

let server: Caller;
let url: string;

beforeAll(async () => {
  server = await start();
  ({ url } = server);
});

/** The status with which a call was refused. */
const refusal = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 0,
    (error: unknown) => {
      if (error instanceof MemFuseHTTPError) return error.statusCode;
      throw error;
    },
  );

describe("init", () => {
  it("looks up names, creates what answers 404, and finds all of it the next time", async () => {
    const client = new MemFuse(url);
    const first = await client.init("alice", undefined, "monday");
    expect(client.sent.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      "GET /api/v1/users?name=alice 404",
      "POST /api/v1/users 201",
      "GET /api/v1/agents?name=agent_default 404",
      "POST /api/v1/agents 201",
      `GET /api/v1/sessions?name=monday&user_id=${first.ids.user} 404`,
      "POST /api/v1/sessions 201",
    ]);
    const again = new MemFuse(url);
    expect((await again.init("alice", undefined, "monday")).ids).toEqual(first.ids);
    expect(again.sent.map(({ method, status }) => `${method} ${status}`)).toEqual(["GET 200", "GET 200", "GET 200"]);
    expect([client.healthChecks, again.healthChecks]).toEqual([6, 3]);
  });

  it("creates a session if none is named", async () => {
    const client = new MemFuse(url);
    const [one, other] = [await client.init("bob", "clerk"), await client.init("bob", "clerk")];
    expect(one.session).toMatch(/^bob-clerk-[0-9a-f]{8}$/);
    expect(other.session).not.toBe(one.session);
    expect(other.ids).toMatchObject({ user: one.ids.user, agent: one.ids.agent });
  });

  describe.each<Library>(["requests", "aiohttp"])("over %s", (library) => {
    it.each([
      "Tom & Jerry",
      "a&b",
      "&",
      "x=1&name=y",
      "eve&user_id=0",
      "Jörg Ünal 漢字 🦊",
      "who? me/you",
      " spaces  inside ",
    ])("finds %j again", async (name) => {
      const client = new MemFuse(url, { library });
      const first = await client.init(name, `agent ${name}`, `talk ${name}`);
      expect((await client.init(name, `agent ${name}`, `talk ${name}`)).ids).toEqual(first.ids);
      const { data } = await client.request<"memfuseGetUser">("GET", `/api/v1/users/${first.ids.user}`);
      expect(data.user.name).toBe(name);
    });
  });

  it("does not match a name by its prefix", async () => {
    const client = new MemFuse(url);
    await client.init("eve");
    expect(await refusal(client.init("eve&limit=1")), "what cannot be told is refused").toBe(422);
    const tom = await client.init("Tom ", "clerk", "talk");
    const both = await client.init("Tom & Jerry", "clerk", "talk");
    expect(both.ids.user).not.toBe(tom.ids.user);
    expect(both.ids.session).not.toBe(tom.ids.session);
  });
});

describe("memory", () => {
  it("adds, lists, reads, updates and deletes messages", async () => {
    const memory = await new MemFuse(url).init("carol", "tutor", "lesson");
    const { data: added } = await memory.add([
      { role: "user", content: "I moved to Lisbon in May." },
      { role: "assistant", content: "How do you like it?" },
    ]);
    const [question = "", answer = ""] = added.message_ids;
    expect(added).toMatchObject({ total_messages: 2, repeated: false, round_id: `${memory.ids.session}:1` });
    await memory.add([{ role: "user", content: "I like the hills." }]);

    const contents = async (...options: Parameters<typeof memory.list>): Promise<string[]> =>
      (await memory.list(...options)).data.messages.map(({ content }) => content);
    const all = ["I moved to Lisbon in May.", "How do you like it?", "I like the hills."];
    expect(await contents()).toEqual(all.toReversed());
    expect(await contents(20, "id", "asc")).toEqual(all);
    expect(await contents(2, "timestamp", "asc")).toEqual(all.slice(0, 2));
    expect(await contents(1000), "as many as MemFuse would give: up to 100").toEqual(all.toReversed());
    expect(await contents(10, "timestamp", "desc", false)).toEqual(all.toReversed());

    const { data: read } = await memory.read([answer, question]);
    expect(read.messages.map(({ id }) => id)).toEqual([answer, question]);
    expect(read.messages[1]).toMatchObject({ role: "user", session_id: memory.ids.session, metadata: {} });
    expect(Date.parse(read.messages[1]?.created_at ?? "")).toBeGreaterThan(Date.now() - 60_000);

    expect((await memory.update([question], [{ role: "user", content: "I moved to Porto." }])).data).toEqual({
      message_ids: [question],
    });
    expect((await memory.query("Porto")).data.results[0]?.content).toBe("I moved to Porto.");
    expect((await memory.query("Lisbon")).data.total, "the old text is in no answer").toBe(0);

    expect((await memory.delete([question, answer])).data).toEqual({ message_ids: [question, answer] });
    expect(await contents()).toEqual(["I like the hills."]);
    expect(await refusal(memory.read([question]))).toBe(404);
  });

  it("names what is missing, and does not affect the rest", async () => {
    const memory = await new MemFuse(url).init("dora", "tutor", "lesson");
    const { data } = await memory.add([{ role: "user", content: "Keep me." }]);
    const [id = ""] = data.message_ids;
    const other = await new MemFuse(url).init("dora", "tutor", "other lesson");
    const { data: elsewhere } = await other.add([{ role: "user", content: "Said elsewhere." }]);
    const ids = [id, "nobody", elsewhere.message_ids[0] ?? ""];
    const texts = ids.map(() => ({ role: "user", content: "Changed." }));
    for (const call of [memory.read(ids), memory.update(ids, texts), memory.delete(ids)]) {
      const error = await call.then(undefined, (thrown: MemFuseHTTPError) => thrown);
      expect(error).toMatchObject({ statusCode: 404 });
      const { errors } = (error as MemFuseHTTPError).response;
      expect(errors?.map(({ message }) => message)).toEqual([`nobody does not exist`, `${ids[2]} does not exist`]);
    }
    expect((await memory.read([id])).data.messages[0]?.content).toBe("Keep me.");
    expect((await other.list()).data.messages).toHaveLength(1);
  });

  it("keeps knowledge and finds it, even from a session with an agent", async () => {
    const memory = await new MemFuse(url).init("erin", "tutor", "lesson");
    const { data } = await memory.addKnowledge(["Erin is allergic to figs.", "Erin has two cats."]);
    const [figs = "", cats = ""] = data.knowledge_ids;
    expect((await memory.listKnowledge()).data.knowledge.map(({ id }) => id)).toEqual([figs, cats]);
    for (const ask of [memory.query("figs"), memory.querySession("figs")]) {
      const [hit] = (await ask).data.results;
      expect(hit).toMatchObject({ id: figs, type: "knowledge", role: null });
      expect(hit?.metadata).toMatchObject({ user_id: memory.ids.user, agent_id: null, session_id: null, scope: null });
    }
    expect((await memory.query("figs", { include_knowledge: false })).data.total).toBe(0);
    await memory.updateKnowledge([figs], ["Erin is allergic to nuts."]);
    expect((await memory.query("figs")).data.total).toBe(0);
    expect((await memory.readKnowledge([cats, figs])).data.knowledge[1]).toMatchObject({
      content: "Erin is allergic to nuts.",
      user_id: memory.ids.user,
    });
    expect(await refusal(memory.readKnowledge([figs, "nobody"]))).toBe(404);
    expect(await refusal(memory.deleteKnowledge([figs, "nobody"]))).toBe(404);
    await memory.deleteKnowledge([figs]);
    expect((await memory.listKnowledge()).data.knowledge.map(({ id }) => id)).toEqual([cats]);
  });

  it("tags hits by the asking session, over all sessions of the user", async () => {
    const client = new MemFuse(url);
    const here = await client.init("fred", "tutor", "here");
    const there = await client.init("fred", "tutor", "there");
    const other = await client.init("fred", "clerk", "desk");
    await here.add([{ role: "user", content: "Figs are ripe in August." }]);
    await there.add([{ role: "user", content: "Figs are sweet." }]);
    await other.add([{ role: "user", content: "Figs are sold out." }]);
    await here.addKnowledge(["Figs grow on trees."]);
    const tagsOf = async (ask: ReturnType<typeof here.query>): Promise<{ [content: string]: string | null }> =>
      Object.fromEntries((await ask).data.results.map(({ content, metadata }) => [content, metadata.scope]));
    expect(await tagsOf(here.query("figs"))).toEqual({
      "Figs are ripe in August.": null,
      "Figs are sweet.": null,
      "Figs are sold out.": null,
      "Figs grow on trees.": null,
    });
    expect(await tagsOf(here.querySession("figs")), "the agent's messages, and what belongs to no agent").toEqual({
      "Figs are ripe in August.": "in_session",
      "Figs are sweet.": "cross_session",
      "Figs grow on trees.": null,
    });
    expect(await tagsOf(here.querySession("figs", { include_knowledge: false }))).toEqual({
      "Figs are ripe in August.": "in_session",
      "Figs are sweet.": "cross_session",
    });
    expect(await tagsOf(other.querySession("figs", { include_knowledge: false, top_k: 1 }))).toEqual({
      "Figs are sold out.": "in_session",
    });
    expect(await tagsOf(here.query("figs", { include_messages: false, include_knowledge: false }))).toEqual({});
    const [hit] = (await here.query("August")).data.results;
    expect(hit?.metadata).toMatchObject({
      user_id: here.ids.user,
      agent_id: here.ids.agent,
      session_id: here.ids.session,
      session_name: "here",
      level: 0,
      retrieval: { source: "store", method: "keyword" },
    });
  });

  it("finds an agent's few messages among many of another's", async () => {
    const client = new MemFuse(url);
    const busy = await client.init("gina", "busy", "talk");
    const rare = await client.init("gina", "rare", "talk too");
    const many = Array.from({ length: 60 }, (_, at) => ({ role: "user", content: `Figs, figs, figs: basket ${at}.` }));
    await busy.add(many);
    await rare.add([{ role: "user", content: "There was a long story about a market, and figs were in it." }]);
    const { data } = await rare.querySession("figs", { top_k: 1 });
    expect(data.results.map(({ content }) => content)).toEqual([
      "There was a long story about a market, and figs were in it.",
    ]);
  });
});

describe("with a key of one user", () => {
  it("works for that user, with any agent, and for no other user", async () => {
    const body = { access: "write", spaces: [{ user: "Ernie & Bert" }] };
    const { secret } = await server.data<{ secret: string }>("POST /api/v1/keys", { body });
    const client = new MemFuse(url, { key: secret });
    const memory = await client.init("Ernie & Bert", "any agent", "talk");
    await memory.add([{ role: "user", content: "I like cheese." }]);
    expect((await memory.querySession("cheese")).data.total).toBe(1);
    expect(await refusal(client.init("alice"))).toBe(403);
    expect(await refusal(new MemFuse(url, { key: `${secret}x` }).init("Ernie & Bert"))).toBe(401);
    expect((await client.request<"memfuseListUsers">("GET", "/api/v1/users")).data.users).toHaveLength(1);
    expect((await client.request<"memfuseListSessions">("GET", "/api/v1/sessions")).data.sessions).toHaveLength(1);
  });
});
