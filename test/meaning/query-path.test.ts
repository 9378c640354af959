/** The path of a question: the cache first, then all sources at once, and one list of results. */
import type { Hits, Memory } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const ADA = { user: "ada", session: "s" };
const said = (id: string, content: string) => [{ id, role: "user" as const, content }];
const ids = (hits: Hits) => hits.map(({ id }) => id);

async function opened(buffer: Parameters<typeof open>[0]["buffer"] = {}) {
  const memory = await open({ path: ":memory:", clock: new FakeClock(), embedder: new MirrorEmbedder(), buffer });
  return { memory, session: memory.session(ADA) };
}

/** Questions that the cache has answered, and those that it has not. */
const cache = ({ service }: Memory) => {
  const { answers, misses } = service.buffers.query;
  return { hits: answers.hits, misses };
};

describe("questions", () => {
  it("are handled beside each other, and beside adds and lists", async () => {
    const embedder = new HashEmbedder();
    const buffer = { roundBuffer: { eager: false } };
    const memory = await open({ path: newPath(), clock: new FakeClock(), embedder, buffer });
    const session = memory.session(ADA);
    await session.add(said("k", "blue kettle"));
    await session.flush();
    const release = embedder.stall();
    onTestFinished(release);
    const answers = ["kettle", "lamp"].map((question) => session.query(question));
    await until(() => embedder.waiting === 2); // both are under way
    await session.add(said("l", "green lamp"));
    expect((await session.list()).items).toHaveLength(2);
    expect((await session.query("green lamp", { by: "words" }))[0]?.content).toBe("green lamp");
    expect(embedder.waiting).toBe(2);
    release();
    for (const hits of await Promise.all(answers)) expect(hits.degraded).toBeUndefined();
  });
});

describe("a question", () => {
  it("goes no further than the cache if that has the answer, and else on to the buffers and the store", async () => {
    const { memory, session } = await opened({ roundBuffer: { eager: false } });
    await session.add(said("stored", "blue kettle"));
    await memory.flush();
    const first = await session.query("kettle");
    expect(cache(memory)).toEqual({ hits: 0, misses: 1 });
    const hitsRead = memory.service.buffers.query.levels;
    expect(await session.query("kettle")).toBe(first);
    expect(cache(memory)).toEqual({ hits: 1, misses: 1 });
    expect(memory.service.buffers.query.levels).toEqual(hitsRead); // nothing was asked behind it

    await session.add(said("waiting", "green kettle"));
    const second = await session.query("kettle");
    expect(cache(memory)).toEqual({ hits: 1, misses: 2 });
    expect(Object.fromEntries(second.map(({ id, level }) => [id, level]))).toEqual({
      stored: "store",
      waiting: "round",
    });
  });

  it("gets one list of what words, the buffers and the store found: each item once, best first", async () => {
    const { memory } = await opened({ roundBuffer: { eager: false, maxSize: 2 } });
    // Sessions of their own, so that none counts the words of its neighbours.
    const add = (id: string, content: string, session = id) =>
      memory.session({ user: "ada", session }).add(said(id, content));
    await add("store", "blue kettle");
    await memory.flush();
    await add("hybrid", "green lamp");
    await add("other", "white chair", "hybrid");
    await until(() => memory.service.buffers.hybrid?.itemCount === 2);
    await add("round", "red door");

    const text = `kettle ${mirrored("lamp")} ${mirrored("door")}`;
    const hits = await memory.session({ user: "ada" }).query(text, { explain: true });
    expect(ids(hits).sort()).toEqual(["hybrid", "other", "round", "store"]);
    const found = new Map(hits.map((hit) => [hit.id, hit]));
    for (const level of ["store", "hybrid", "round"]) expect(found.get(level)?.level).toBe(level);
    const share = (id: string, by: "words" | "meaning") => found.get(id)?.why?.[by]?.share ?? 0;
    for (const id of ["store", "hybrid", "round"]) expect(share(id, "meaning")).toBeGreaterThan(0);
    expect([share("store", "words") > 0, share("hybrid", "words"), share("round", "words")]).toEqual([true, 0, 0]);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(hits.at(-1)?.id).toBe("other"); // it has nothing of the question
  });

  it("shares the cached answer of one that differs in blanks or composed characters only, not in case or punctuation", async () => {
    const { memory, session } = await opened();
    await session.add(said("a", "the café in Évora"));
    await memory.flush();
    const first = await session.query("café Évora");
    for (const form of ["  café   Évora ", "café\tÉvora\n", "café Évora".normalize("NFD")]) {
      expect(await session.query(form)).toBe(first);
    }
    expect(cache(memory)).toEqual({ hits: 3, misses: 1 });
    for (const other of ["CAFÉ ÉVORA", "café Évora?"]) expect(ids(await session.query(other))).toEqual(["a"]);
    expect(cache(memory)).toEqual({ hits: 3, misses: 3 });
  });
});
