/** Answers say what they lack: partial when some items were not embedded in time, degraded when the embedder fails. */
import type { HoldfastError } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });
const waiting = { buffer: { roundBuffer: { eager: false, maxSize: 100 } } };

describe("an answer is partial", () => {
  it("while more than sixteen messages wait to be embedded, and no longer", async () => {
    const memory = await open({ path: newPath(), embedder: new MirrorEmbedder(), ...waiting });
    const session = memory.session(ADA);
    await session.add([said("blue kettle")]);
    await session.add(Array.from({ length: 15 }, (_, at) => said(`message ${at}`)));
    expect((await session.query(mirrored("blue kettle"))).partial).toBe(false);
    await session.add([said("one more")]);
    // Fifteen of the seventeen are embedded by now; the oldest is beyond the sixteen newest, but it is known.
    const hits = await session.query(mirrored("blue kettle"));
    expect([hits.partial, hits[0]?.content]).toEqual([true, "blue kettle"]);
    await session.flush();
    expect((await session.query(mirrored("blue kettle"))).partial).toBe(false);
    expect((await memory.session({ user: "bob" }).query("anything")).partial).toBe(false);
  });

  it("when the embedder does not answer for the newest messages within 100 ms; words find them all the same", async () => {
    const clock = new FakeClock();
    const embedder = new SlowEmbedder();
    const memory = await open({ path: newPath(), embedder, clock, ...waiting });
    const session = memory.session(ADA);
    await session.query("warm up");
    await session.add([said("blue kettle")]);
    embedder.isSlow = true;
    const before = clock.pending;
    const asking = session.query("kettle");
    while (clock.pending <= before + 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
    const hits = await asking;
    expect([hits.partial, hits.degraded, hits[0]?.content]).toEqual([true, undefined, "blue kettle"]);
    embedder.isSlow = false;
    expect((await session.query(mirrored("kettle"))).partial).toBe(false);
  });
});

/** Answers questions at once, and, if it is slow, never for messages. */
class SlowEmbedder extends MirrorEmbedder {
  isSlow = false;

  override embed(...[texts, options]: Parameters<MirrorEmbedder["embed"]>): ReturnType<MirrorEmbedder["embed"]> {
    const isQuestion = texts.length === 1 && !texts[0]?.includes("blue");
    if (!this.isSlow || isQuestion) return super.embed(texts, options);
    return new Promise((_, reject) => options?.signal?.addEventListener("abort", () => reject(options.signal?.reason)));
  }
}

describe("an embedder that fails", () => {
  it("leaves the words, and the answer says why; when it is back, answers are whole again by themselves", async () => {
    const clock = new FakeClock();
    const embedder = new MirrorEmbedder();
    const memory = await open({ path: newPath(), embedder, clock, ...waiting });
    const session = memory.session(ADA);
    await session.add([said("blue kettle"), said("green lamp")]);
    embedder.failNext(Number.POSITIVE_INFINITY);
    for (let time = 0; time < 4; time++) {
      const hits = await session.query("kettle");
      expect([hits[0]?.content, hits[0]?.level]).toEqual(["blue kettle", "store"]);
      expect([hits.partial, hits.degraded]).toEqual([true, expect.stringMatching(/told to fail|not called/)]);
      expect(await session.query(mirrored("kettle"))).toHaveLength(0);
    }
    expect((await memory.stats()).meaning?.embedder.circuit).toBe("open");
    embedder.failNext(0);
    clock.advance(60_000);
    const hits = await session.query(mirrored("kettle"));
    expect([hits.partial, hits.degraded, hits[0]?.content]).toEqual([false, undefined, "blue kettle"]);
  });
});

describe("a file with vectors of one model", () => {
  async function filled(): Promise<string> {
    const path = newPath();
    const memory = await open({ path, embedder: new MirrorEmbedder() });
    await memory.session(ADA).add([said("blue kettle"), said("green lamp")]);
    await memory.close();
    return path;
  }

  const contentsOf = (path: string): unknown => {
    const database = openRaw(path);
    const tables = ["head", "item", "vector_space", "vector_1", "lease", "owner", "parked", "outbox"];
    const rows = tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
    database.close();
    return rows;
  };

  it("is refused with another model, and stays as it was", async () => {
    const path = await filled();
    const before = contentsOf(path);
    const other = Object.assign(new HashEmbedder({ dimensions: 512 }), { model: "another-model" });
    const error = (await open({ path, embedder: other }).catch((reason: unknown) => reason)) as HoldfastError;
    expect(error.code).toBe("vector_space");
    expect(error.hint).toContain("hash-of-words");
    expect(contentsOf(path)).toEqual(before);
  });

  it("keeps its vectors when the same model makes longer ones; questions are answered by words and say why", async () => {
    const path = await filled();
    const memory = await open({ path, embedder: new HashEmbedder({ dimensions: 32 }) });
    const session = memory.session(ADA);
    await session.add([said("red door")]);
    const hits = await session.query("kettle door");
    expect(hits.degraded).toContain("512");
    const best = hits.slice(0, 2).map(({ content }) => content);
    expect(best.sort()).toEqual(["blue kettle", "red door"]);
    expect((await memory.stats()).store).toMatchObject({ embedded: 2, pending: 1, vectorSpace: { dimensions: 512 } });
    await memory.close();
    const again = await open({ path, embedder: new MirrorEmbedder() });
    expect((await again.session(ADA).query(mirrored("red door")))[0]?.content).toBe("red door");
  });

  it("works by words without a model; what was added then is embedded when the model is there again", async () => {
    const path = await filled();
    const words = await open({ path });
    await words.session(ADA).add([said("red door")]);
    const hits = await words.session(ADA).query("kettle");
    expect(hits[0]?.content).toBe("blue kettle");
    expect([hits.partial, hits.degraded]).toEqual([false, undefined]);
    expect(await words.session(ADA).query(mirrored("kettle"))).toHaveLength(0);
    expect(await words.close()).toMatchObject({ items: 3, pending: 1 });
    const again = await open({ path, embedder: new MirrorEmbedder() });
    expect((await again.session(ADA).query(mirrored("red door")))[0]?.content).toBe("red door");
    expect(await again.flush()).toEqual({ pending: 0, parked: 0 });
  });
});
