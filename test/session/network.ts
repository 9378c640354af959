/** A network that loses answers, keys that allow little, callers that change their mind: against a real server. */
import { type ConnectOptions, connect } from "holdfast/client";
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

  it("appends once where an answer is lost: the caller is told that the outcome is not known", async () => {
    const plain = connect(server.url).session({ user: "eve" });
    await plain.blocks.create({ name: "b", content: "" });
    const { fetch: lossy, tries } = losing(1);
    const { blocks } = connect(server.url, { fetch: lossy }).session({ user: "eve" });
    await expect(blocks.edit("b", { append: "x" })).rejects.toMatchObject({ code: "unreachable" });
    expect(tries()).toBe(1);
    expect((await plain.blocks.get("b"))?.content.trim()).toBe("x");
  });

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

  it("exports everything, imports it elsewhere, and tells what moves", async () => {
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
    expect(report).toMatchObject({ items: 5, facts: 1, conflicts: 0, complete: true });
    expect(await memory.import(lines, { into: { user: "copy" } })).toMatchObject({
      items: 0,
      facts: 0,
      complete: true,
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
