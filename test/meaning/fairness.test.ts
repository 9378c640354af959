/**
 * One large text delays no other space: spaces take turns, and a text that is no longer wanted is not embedded further.
 */
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { SLICE_BYTES, SteppedEmbedder } from "./stepped.js";

const ANN = { user: "ann", session: "s" };
const BOB = { user: "bob", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

/** Sentences that all differ; each has a word of its own. */
function textOf(bytes: number, word = "harbour"): string {
  const sentences: string[] = [];
  for (let at = 0, length = 0; length < bytes; at++) {
    const sentence = `The ${word} master has written down that ship number ${at} came in from the sea. `;
    sentences.push(sentence);
    length += sentence.length;
  }
  return sentences.join("");
}

const bytesOf = (calls: readonly (readonly string[])[]): number =>
  calls.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Answers calls until one has this text; tells how many bytes were asked for before it. */
async function bytesUntil(embedder: SteppedEmbedder, text: string): Promise<number> {
  const from = embedder.asked.length;
  const at = () => embedder.asked.findIndex((texts) => texts.includes(text));
  while (at() < 0) await embedder.step();
  return bytesOf(embedder.asked.slice(from, at()));
}

describe("one large text", () => {
  it.each([
    ["of 8 MB", 8 * 1024 * 1024 - 1024],
    ["of some pages", 20_000],
  ])("%s delays the next message of another user by no more than a slice", async (_, bytes) => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder, buffer: { closeMs: 0 } });
    await memory.session(ANN).add([said(textOf(bytes))]);
    await embedder.step();
    await until(() => embedder.held === 1); // the second slice
    for (const number of [1, 2, 3]) {
      const text = `bob's message ${number}`;
      await memory.session(BOB).add([said(text)]);
      expect(await bytesUntil(embedder, text)).toBeLessThanOrEqual(2 * SLICE_BYTES);
      await embedder.step();
      await until(() => embedder.held === 1);
    }
  });

  it("is embedded in the end, beside another user's messages, every piece once", async () => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder });
    const { ids } = await memory.session(ANN).add([said(textOf(50_000))]);
    for (let number = 0; number < 5; number++) {
      await memory.session(BOB).add([said(`bob's message ${number}`)]);
      await embedder.step();
    }
    embedder.free();
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    const texts = embedder.asked.flat();
    expect(new Set(texts).size).toBe(texts.length);
    const { chunks } = await memory.stats().then(({ store }) => store);
    expect(chunks).toBe(texts.length);
    const [hit] = await memory.session(ANN).query("ship number 600");
    expect(hit).toMatchObject({ id: ids[0], level: "store" });
  });

  it("is in no answer by meaning until it is embedded whole, and then before it is written", async () => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder, buffer: { closeMs: 0 } });
    const session = memory.session(ANN);
    const { ids } = await session.add([said(textOf(20_000))]);
    await embedder.step();
    await until(() => embedder.held === 1);
    const [first] = await session.query("came sea", { topK: 1 });
    expect(first?.level).not.toBe("hybrid");
    expect((await session.query("came sea", { topK: 1 })).partial).toBe(true);
    embedder.free();
    await until(() => memory.service.buffers.hybrid?.itemCount === 1);
    const hits = await session.query("came sea", { topK: 1 });
    expect(hits.partial).toBe(false);
    expect(hits[0]).toMatchObject({ id: ids[0], level: "hybrid" });
  });

  it("does not delay later messages of its own session", async () => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder, buffer: { closeMs: 0 } });
    await memory.session(ANN).add([said(textOf(200_000))]);
    await embedder.step();
    await until(() => embedder.held === 1);
    await memory.session(ANN).add([said("and one thing more")]);
    expect(await bytesUntil(embedder, "and one thing more")).toBeLessThanOrEqual(2 * SLICE_BYTES);
  });
});

describe("many messages of one user", () => {
  it.each([
    ["in one session", () => "s"],
    ["in as many sessions", (at: number) => `session ${at}`],
  ])("%s delay the next message of another by no more than a slice", async (_, sessionOf) => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder, buffer: { closeMs: 0 } });
    await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        memory.session({ user: "ann", session: sessionOf(at) }).add([said(`${textOf(150)} Number ${at}.`)]),
      ),
    );
    for (let slice = 0; slice < 3; slice++) await embedder.step();
    await until(() => embedder.held === 1);
    await memory.session(BOB).add([said("bob's message")]);
    expect(await bytesUntil(embedder, "bob's message")).toBeLessThanOrEqual(2 * SLICE_BYTES);
  });
});

describe("a large text that is no longer wanted", () => {
  type Memory = Awaited<ReturnType<typeof open>>;
  const cases: readonly [string, (memory: Memory, id: string) => Promise<unknown>][] = [
    ["because its user is forgotten", (memory) => memory.forget({ user: "ann" })],
    ["because its session is forgotten", (memory) => memory.forget(ANN)],
    ["because it is deleted", (memory, id) => memory.session(ANN).delete([id])],
    ["because it is edited", (memory, id) => memory.session(ANN).update(id, { content: "nothing much" })],
  ];

  it.each(cases)("%s is embedded no further, and its vectors never appear", async (_, change) => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder });
    const { ids } = await memory.session(ANN).add([said(textOf(100_000))]);
    for (let slice = 0; slice < 3; slice++) await embedder.step();
    await until(() => embedder.held === 1);
    await change(memory, String(ids[0]));
    const before = embedder.asked.length;
    await memory.session(BOB).add([said("bob's message")]);
    embedder.free(); // the call under way was aborted: nobody waits for it
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    const after = embedder.asked.slice(before).flat();
    expect(after).toContain("bob's message");
    expect(after.filter((text) => text.includes("harbour"))).toEqual([]);
    const stored = await memory.session(ANN).query("harbour master");
    expect(stored.map(({ content }) => content).filter((content) => content.includes("harbour"))).toEqual([]);
  });

  it("frees the next message of another user at once: the call under way is aborted", async () => {
    const embedder = new SteppedEmbedder();
    const memory = await open({ path: ":memory:", embedder, buffer: { closeMs: 0 } });
    await memory.session(ANN).add([said(textOf(100_000))]);
    await embedder.step();
    await until(() => embedder.held === 1);
    await memory.session(BOB).add([said("bob's message")]);
    await memory.forget({ user: "ann" });
    await until(() => embedder.asked.at(-1)?.includes("bob's message") === true); // nobody has answered Ann's slice
  });
});

describe("closing beside a large text", () => {
  it("does not wait for an embedder beyond its limit; the next process that opens the file embeds all of it", async () => {
    const path = newPath();
    const embedder = new SteppedEmbedder();
    const memory = await open({ path, embedder, buffer: { closeMs: 20 } });
    const { ids } = await memory.session(ANN).add([said(`${textOf(50_000)} The lighthouse keeper was born in June.`)]);
    for (let slice = 0; slice < 3; slice++) await embedder.step();
    await until(() => embedder.held === 1);
    expect(await memory.close()).toMatchObject({ pending: 1 });
    const other = new SteppedEmbedder();
    other.free();
    const reopened = await open({ path, embedder: other });
    await reopened.session(BOB).add([said("bob's message")]);
    expect(await reopened.flush()).toEqual({ pending: 0, parked: 0 });
    const [hit] = await reopened.session(ANN).query("keeper of the lighthouse, born June");
    expect(hit).toMatchObject({ id: ids[0], level: "store" });
  });
});
