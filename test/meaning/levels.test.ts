/** Each hit says which level answered. An added message is found by meaning at once, in every state. */
import type { Hits, Memory } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const said = (content: string) => [{ role: "user" as const, content }];
const found = (hits: Hits) => hits.map(({ content, level }) => [content, level]);

/** The HybridBuffer holds so many items. */
const buffered = (memory: Memory, count: number) => until(() => memory.service.buffers.hybrid?.itemCount === count);

describe("a hit's level", () => {
  it("is round, then hybrid, then store, as the message moves on", async () => {
    const memory = await open({
      path: ":memory:",
      clock: new FakeClock(), // no time passes: a question waits for what is embedded as long as that takes
      embedder: new MirrorEmbedder(),
      buffer: { roundBuffer: { eager: false, maxSize: 2 } },
    });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add(said("blue kettle"));
    expect(found(await session.query(mirrored("blue kettle")))).toEqual([["blue kettle", "round"]]);
    await session.add(said("green lamp"));
    await buffered(memory, 2);
    expect(found(await session.query(mirrored("blue kettle")))).toEqual([
      ["blue kettle", "hybrid"],
      ["green lamp", "hybrid"],
    ]);
    await memory.flush();
    expect(found(await session.query(mirrored("green lamp")))).toEqual([
      ["green lamp", "store"],
      ["blue kettle", "store"],
    ]);
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
  });

  it("changes no score: a message has that of its equal which was written before", async () => {
    const embedder = new HashEmbedder({ dimensions: 384 });
    const memory = await open({ path: newPath(), embedder, buffer: { roundBuffer: { eager: false } } });
    for (const content of ["a kettle of blue iron", "the lamp is green", "nine red chairs", "who paints the fence"]) {
      const session = memory.session({ user: content, session: "s" });
      await session.add(said(content));
      await memory.flush();
      await session.add(said(content));
      const meanings = async () =>
        (await session.query(`${content} or not`, { explain: true })).map(({ why }) => why?.meaning?.score);
      const [score, other] = await meanings();
      expect(score).toBe(other);
      await memory.flush();
      expect(await meanings()).toEqual([score, score]);
    }
  });

  it("of a message found by words alone is store", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add(said("blue kettle"));
    expect(found(await session.query("kettle"))).toEqual([["blue kettle", "store"]]);
  });
});

describe("query; add; query", () => {
  it.each([
    ["eager", { eager: true }],
    ["not eager", { eager: false }],
  ])("sees the new message by meaning at once, however often, %s", async (_, roundBuffer) => {
    const memory = await open({
      path: ":memory:",
      clock: new FakeClock(),
      embedder: new MirrorEmbedder(),
      buffer: { roundBuffer },
    });
    const session = memory.session({ user: "ada", session: "s" });
    for (let round = 0; round < 30; round++) {
      const topic = `topic${"abcdefghij"[Math.floor(round / 10)]}${"abcdefghij"[round % 10]}`; // one word, mirrored too
      const content = `talking about ${topic}`;
      const before = await session.query(mirrored(topic));
      expect(before.map((hit) => hit.content)).not.toContain(content);
      await session.add(said(content));
      const [first] = await session.query(mirrored(topic));
      expect(first?.content).toBe(content);
    }
  });

  it("sees it while the buffers are switched off, and when another memory on the file has added it", async () => {
    const path = newPath();
    const common = { path, clock: new FakeClock(), embedder: new MirrorEmbedder() };
    const memory = await open({ ...common, buffer: { enabled: false } });
    const other = await open({ ...common, buffer: { roundBuffer: { eager: false } } });
    const scope = { user: "ada", session: "s" };
    await memory.session(scope).add(said("blue kettle"));
    await other.session(scope).add(said("green lamp"));
    for (const one of [memory, other]) {
      expect((await one.session(scope).query(mirrored("blue kettle")))[0]?.content).toBe("blue kettle");
      expect((await one.session(scope).query(mirrored("green lamp")))[0]?.content).toBe("green lamp");
    }
  });
});

describe("an edit by another process", () => {
  it("hides no message that is embedded here and not yet written: found by its new words, and its new meaning", async () => {
    const path = newPath();
    const memory = await open({ path, clock: new FakeClock(), embedder: new MirrorEmbedder() });
    const session = memory.session({ user: "ada", session: "s" });
    const { ids } = await session.add(said("blue kettle"));
    await session.add(said("green lamp"));
    await buffered(memory, 2);
    const other = await open({ path });
    await other.session({ user: "ada", session: "s" }).update(String(ids[0]), { content: "yellow boat" });
    expect(found(await session.query("yellow boat"))[0]?.[0]).toBe("yellow boat");
    expect(found(await session.query(mirrored("yellow boat")))[0]?.[0]).toBe("yellow boat");
    await other.session({ user: "ada" }).delete([String(ids[0])]);
    expect(found(await session.query(mirrored("blue kettle"))).map(([content]) => content)).toEqual(["green lamp"]);
    await memory.flush();
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
  });
});
