/** A network that loses answers, keys that allow little, callers that change their mind: against a real server. */
import { type ConnectOptions, connect, type RemoteMemory } from "holdfast/client";
import { type RunningServer, serve } from "holdfast/server";
import { afterAll, beforeAll, expect, it } from "vitest";

/** What is asked arrives and is done; the answers to the first so many tries are lost. */
function losing(answers: number): { readonly fetch: NonNullable<ConnectOptions["fetch"]>; tries(): number } {
  let tries = 0;
  return {
    tries: () => tries,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      await response.arrayBuffer();
      if (tries++ < answers) throw new TypeError("terminated");
      return fetch(url, init);
    },
  };
}

interface World {
  readonly memory: RemoteMemory;
  readonly user: string;
  readonly item: string;
  readonly fact: string;
}

const sessionOf = ({ memory, user }: World) => memory.session({ user, session: "s" });

/** Every write of the client that it repeats. What it adds with a key, or not at all, is in transport.test.ts as well. */
const WRITES: { readonly [what: string]: (world: World) => Promise<unknown> } = {
  add: (world) => sessionOf(world).add([{ role: "user", content: "two" }]),
  addBatch: (world) =>
    sessionOf(world).addBatch([[{ role: "user", content: "two" }], [{ role: "user", content: "3" }]]),
  addItems: (world) => sessionOf(world).addItems([{ kind: "knowledge", content: "two" }]),
  commit: (world) => {
    const session = sessionOf(world);
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "two" } });
    turn.push({ op: "upsert_fact", category: "c", content: `a fact of ${world.user}`, confidence: 1 });
    turn.push({ op: "edit_block", block: "human", append: "two" });
    return session.commit(turn);
  },
  update: (world) => sessionOf(world).update(world.item, { content: "edited lamp" }, { expectVersion: 1 }),
  context: (world) => sessionOf(world).context({ query: "lamp", counter: "chars4" }),
  windowReset: (world) => sessionOf(world).windowReset(),
  promote: ({ memory, user, item }) => {
    const to = { team: `${user} team` };
    return memory.session({ user }, { grants: [to] }).promote([item], { to, reason: "r" });
  },
  "blocks.create": (world) => sessionOf(world).blocks.create({ name: "new", content: "x" }),
  "blocks.edit": (world) => sessionOf(world).blocks.edit("human", { append: "x" }),
  "blocks.edit, a replacement": (world) => sessionOf(world).blocks.edit("human", { replace: "Ada", with: "Eve" }),
  "blocks.edit, of a version": (world) => sessionOf(world).blocks.edit("human", { append: "x", expectVersion: 1 }),
  "blocks.rename": (world) => sessionOf(world).blocks.rename("human", "person"),
  "blocks.configure": (world) => sessionOf(world).blocks.configure("human", { readOnly: true }),
  "blocks.restore": (world) => sessionOf(world).blocks.restore("human", 1),
  "blocks.archiveOverflow": (world) => sessionOf(world).blocks.archiveOverflow("long"),
  "facts.upsert": (world) => sessionOf(world).facts.upsert({ category: "c", content: `new of ${world.user}` }),
  "facts.end": (world) => sessionOf(world).facts.end(world.fact),
  "facts.retract": (world) => sessionOf(world).facts.retract(world.fact),
  flush: (world) => sessionOf(world).flush(),
  "users.create": ({ memory, user }) => memory.users.create(`${user} new`, "about"),
  "users.ensure": ({ memory, user }) => memory.users.ensure(`${user} new`),
  "users.rename": ({ memory, user }) => memory.users.rename(user, `${user} renamed`),
  "users.describe": ({ memory, user }) => memory.users.describe(user, "about"),
  "users.retain": ({ memory, user }) => memory.users.retain(user, 86_400_000),
  "sessions.create": ({ memory, user }) => memory.sessions.create({ user }, "t"),
  "sessions.rename": ({ memory, user }) => memory.sessions.rename({ user }, "s", "t"),
  import: ({ memory, user }) =>
    memory.import(['{"id":"i","role":"user","content":"x"}'], { scope: { user, session: "s" } }),
};

/** Those that it does not repeat. */
const FORGETS: { readonly [what: string]: (world: World) => Promise<unknown> } = {
  delete: (world) => sessionOf(world).delete([world.item]),
  forget: (world) => sessionOf(world).forget(),
  "blocks.delete": (world) => sessionOf(world).blocks.delete("human"),
  "users.delete": ({ memory, user }) => memory.users.delete(user),
  "sessions.delete": ({ memory, user }) => memory.sessions.delete({ user }, "s"),
  replay: (world) => sessionOf(world).replay(),
};

/** Without names, ids, times and numbers that are a world's own. */
function shape(value: unknown, { user }: Omit<World, "memory">): unknown {
  const text = JSON.stringify(value ?? null, (key, inner: unknown) =>
    /^(id|key|commit|repeated|.*At|from|to|at|message|block|items|ms|saved|resets)$/.test(key) &&
    typeof inner !== "object"
      ? typeof inner
      : inner,
  );
  const plain = text
    .replaceAll(user, "U")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
    .replaceAll(/fact-[\w-]{43}/g, "FACT");
  return JSON.parse(plain.replaceAll(/\[(message|fact) [\w-]{8}/g, "[$1"));
}

export function itSurvives(): void {
  let server: RunningServer;

  beforeAll(async () => {
    server = await serve({ path: ":memory:", server: { port: 0, logLevel: "silent" } });
  });
  afterAll(() => server.stop());

  it("adds nothing twice when answers are lost, and gives the answer of the first time", async () => {
    const { fetch: lossy, tries } = losing(2);
    const session = connect(server.url, { fetch: lossy }).session({ user: "ada", session: "s" });
    expect(await session.add([{ role: "user", content: "one" }])).toMatchObject({ sequences: [1], repeated: true });
    expect(tries()).toBe(3);
    const batch = await session.addBatch([[{ role: "user", content: "two" }], [{ role: "user", content: "three" }]]);
    expect(batch.map(({ sequences }) => sequences)).toEqual([[2], [3]]);
    await session.addItems([{ kind: "knowledge", content: "known" }]);
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "four" } });
    turn.push({ op: "upsert_fact", category: "c", content: "a fact", confidence: 1 });
    await session.commit(turn);
    const { items } = await connect(server.url).session({ user: "ada" }).list({ order: "asc" });
    expect(items.map(({ content }) => content).toSorted()).toEqual(
      ["a fact", "four", "known", "one", "three", "two"].toSorted(),
    );
  });

  it.each(Object.entries(WRITES))(
    "carries out once what it repeats because an answer was lost: %s",
    async (what, write) => {
      const world = await newWorld(`lossy ${what}`);
      const { fetch: lossy, tries } = losing(2);
      const lost = await write({ ...world, memory: connect(server.url, { fetch: lossy }) });
      expect(tries(), "two answers were lost").toBe(3);
      const twin = await newWorld(`plain ${what}`);
      const plain = await write({ ...twin, memory: connect(server.url) });
      expect(shape(lost, world), "the same answer").toEqual(shape(plain, twin));
      expect(shape(await contentsOf(world), world), "the same memory").toEqual(shape(await contentsOf(twin), twin));
    },
  );

  it("says that a key was made when the answer with its secret is lost, and makes no second one", async () => {
    const { fetch: lossy } = losing(1);
    const before = (await connect(server.url).keys.list()).items.length;
    const lost = connect(server.url, { fetch: lossy }).keys.create({ access: "read", spaces: [{ user: "eve" }] });
    const { items } = await lost.then(
      () => expect.fail("nobody knows the secret"),
      async (error: { readonly code: string; readonly details: { readonly id: string } }) => {
        const keys = await connect(server.url).keys.list();
        expect(error).toMatchObject({ code: "conflict", details: { id: keys.items.at(-1)?.id } });
        return keys;
      },
    );
    expect(items).toHaveLength(before + 1);
  });

  it.each(Object.entries(FORGETS))(
    "tells that the outcome is not known, and does it once: %s",
    async (what, forget) => {
      const world = await newWorld(`unknown ${what}`);
      const { fetch: lossy, tries } = losing(1);
      await expect(forget({ ...world, memory: connect(server.url, { fetch: lossy }) })).rejects.toMatchObject({
        code: "unreachable",
      });
      expect(tries()).toBe(1);
      const twin = await newWorld(`known ${what}`);
      await forget({ ...twin, memory: connect(server.url) });
      expect(shape(await contentsOf(world), world)).toEqual(shape(await contentsOf(twin), twin));
    },
  );

  /** Somebody's memory with something of every sort in it. */
  async function newWorld(user: string): Promise<Omit<World, "memory">> {
    const memory = connect(server.url);
    const session = memory.session({ user, session: "s" });
    const { ids } = await session.add([{ role: "user", content: "one lamp" }]);
    await session.blocks.create({ name: "human", content: "Ada" });
    await session.blocks.create({ name: "long", content: "x".repeat(99), maxTokens: 9 });
    const { fact } = await session.facts.upsert({ category: "home", content: `lives in ${user}` });
    return { user, item: ids[0] ?? "", fact: fact.id };
  }

  /** What is in a world, and what it has promoted. */
  async function contentsOf({ user }: Omit<World, "memory">): Promise<unknown> {
    const memory = connect(server.url);
    const lines: unknown[] = [];
    for (const scope of [{ user }, { user: `${user} renamed` }, { user: `${user} new` }, { team: `${user} team` }]) {
      for await (const line of memory.export({ scope })) lines.push(JSON.parse(line));
    }
    return { lines, ledger: await memory.session({ user, session: "s" }).ledger() };
  }

  it("lets a key do what it allows and nothing else, and a key that is none nothing at all", async () => {
    const admin = connect(server.url);
    const { secret } = await admin.keys.create({ access: "read", spaces: [{ user: "ada" }] });
    const reader = connect(server.url, { key: secret });
    const ada = reader.session({ user: "ada", session: "s" });
    expect((await ada.list()).items.length).toBeGreaterThan(0);
    expect((await ada.context({ query: "one", fresh: true, counter: "chars4" })).tail).toContain("one");
    expect((await ada.context({ query: "one", dryRun: true, counter: "chars4" })).tail).toContain("one");
    const refusal = { code: "forbidden", hint: expect.any(String) };
    await expect(ada.context({ query: "one" })).rejects.toMatchObject(refusal);
    await expect(ada.add([{ role: "user", content: "x" }])).rejects.toMatchObject(refusal);
    await expect(reader.session({ user: "eve" }).list()).rejects.toMatchObject(refusal);
    await expect(reader.stats()).rejects.toMatchObject(refusal);
    await expect(connect(server.url, { key: "hf_no" }).stats()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("ends what is under way when its signal aborts, with the signal's reason", async () => {
    const controller = new AbortController();
    const session = connect(server.url).session({ user: "ada" }, { signal: controller.signal });
    const asked = session.query("one");
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect((await connect(server.url).session({ user: "ada" }).query("one")).length).toBeGreaterThan(0);
  });

  it("exports everything, imports it elsewhere, and reports its progress", async () => {
    const memory = connect(server.url);
    const lines: string[] = [];
    for await (const line of memory.export({ scope: { user: "ada" } })) lines.push(line);
    expect(JSON.parse(lines.at(-1) ?? "{}")).toMatchObject({ type: "end" });
    const ending = new AbortController();
    const told = (async () => {
      for await (const event of memory.events({ scope: { user: "copy" }, signal: ending.signal })) return event;
      return undefined;
    })();
    async function* oneByOne() {
      yield* lines;
    }
    const report = await memory.import(oneByOne(), { into: { user: "copy" } });
    expect(report).toMatchObject({ items: 5, facts: 1, conflicts: 0 });
    expect(await memory.import(lines, { into: { user: "copy" } })).toMatchObject({
      items: 0,
      facts: 0,
    });
    const copy = memory.session({ user: "copy" });
    const contents = async (session: typeof copy) =>
      (await session.list({ order: "asc" })).items.map(({ content }) => content).toSorted();
    expect(await contents(copy)).toEqual(await contents(memory.session({ user: "ada" })));
    await copy.addItems([{ kind: "knowledge", content: "one more, if the stream was opened late" }]);
    expect(await told).toMatchObject({ space: { user: "copy" }, at: expect.any(Number) });
    ending.abort();
    await expect(memory.import(['{"role":"boss"}'], { scope: { user: "copy" } })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
}
