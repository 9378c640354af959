/** Another embedding model for a file that is in use: the old vectors serve until the new ones are whole. */
import type { Memory, NextSpace } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { auditVectors } from "../support/vectors.js";
import { isInFiles, vectorRows } from "./vector-tables.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });
const OLD = "old-mirror";
const NEW = "new-mirror";
const oldModel = () => new MirrorEmbedder({ model: OLD });
const newModel = () => new MirrorEmbedder({ model: NEW, dimensions: 256 });
const WORDS = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

/** A memory with the old model, with so many messages that are embedded. */
async function openOld(path: string, count: number): Promise<Memory> {
  const memory = await open({ path, embedder: oldModel() });
  await memory.session(ADA).add(Array.from({ length: count }, (_, at) => said(`message number${at} of many`)));
  await memory.session(ADA).add([said("blue kettle")]);
  await memory.flush();
  return memory;
}

/** Begins a reindex by another memory, and holds it at its first call of the new model. */
async function holdAt(path: string, embedder: HashEmbedder) {
  const release = embedder.stall();
  const memory = await open({ path, ...WORDS });
  const reindexed = memory.reindex({ embedder });
  reindexed.catch(() => undefined); // the test will wait for it
  while (embedder.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  return { memory, reindexed, release };
}

const first = async (memory: Memory, text: string) => {
  const hits = await memory.session(ADA).query(mirrored(text));
  return { content: hits[0]?.content, degraded: hits.degraded, partial: hits.partial };
};

describe("a reindex", () => {
  it("lets the old vectors serve until the new ones are whole, and then the new ones", async () => {
    const path = newPath();
    const old = await openOld(path, 20);
    const { memory, reindexed, release } = await holdAt(path, newModel());
    expect(await first(old, "blue kettle")).toMatchObject({ content: "blue kettle", partial: false });
    expect((await old.stats()).store).toMatchObject({
      vectorSpace: { model: OLD },
      next: { vectorSpace: { model: NEW, dimensions: 256 }, embedded: 0, remaining: 21 },
    });
    release();
    expect(await reindexed).toMatchObject({ vectorSpace: { model: NEW }, embedded: 21, refused: 0, switched: true });
    expect(vectorRows(path), "the old vectors are gone").toEqual({ [NEW]: 21 });
    const { next, ...store } = (await memory.stats()).store;
    expect(next).toBeUndefined();
    expect(store).toMatchObject({ vectorSpace: { model: NEW }, embedded: 21, pending: 0 });
    await expect(open({ path, embedder: oldModel() })).rejects.toMatchObject({ code: "vector_space" });
    const renewed = await open({ path, embedder: newModel() });
    expect(await first(renewed, "blue kettle")).toEqual({
      content: "blue kettle",
      degraded: undefined,
      partial: false,
    });
    expect(await auditVectors(path, "message", 0, newModel())).toMatchObject({ problems: [], pending: 0 });
  });

  it("makes right what others add, edit and delete meanwhile", async () => {
    const path = newPath();
    const old = await openOld(path, 300);
    const embedder = new HashEmbedder({ model: NEW, dimensions: 32 });
    const { reindexed, release } = await holdAt(path, embedder);
    const session = old.session(ADA);
    const { items } = await session.list({ limit: 200, order: "asc" });
    const ids = items.map(({ id }) => id);
    await session.update(ids[0] as string, { content: "green teapot" }); // read, and being embedded
    await session.update(ids[150] as string, { content: "red pan" }); // yet to be read
    await session.delete([ids[1] as string, ids[151] as string]);
    await session.add([said("late spoon")]);
    await old.flush();
    release();
    expect(await reindexed).toMatchObject({ switched: true });
    expect(await auditVectors(path, "message", 0, new HashEmbedder({ model: NEW, dimensions: 32 }))).toMatchObject({
      problems: [],
      pending: 0,
      items: 300,
      compared: 300,
    });
    expect(embedder.texts, "each text once, and those that were edited or new").toBeLessThanOrEqual(304);
  });

  it("continues where it was stopped, and reports its progress", async () => {
    const path = newPath();
    await (await openOld(path, 400)).close();
    const memory = await open({ path, ...WORDS });
    const abort = new AbortController();
    const embedder = newModel();
    const progress: NextSpace[] = [];
    const onProgress = (next: NextSpace): void => {
      progress.push(next);
      if (next.embedded >= 200) abort.abort(new Error("enough"));
    };
    await expect(memory.reindex({ embedder, onProgress, signal: abort.signal })).rejects.toThrow("enough");
    expect(progress.map(({ embedded, remaining }) => [embedded, remaining])).toEqual([
      [128, 273],
      [256, 145],
    ]);
    expect((await memory.stats()).store.next).toMatchObject({ embedded: 256, remaining: 145 });
    const again = newModel();
    expect(await memory.reindex({ embedder: again })).toMatchObject({ embedded: 145, switched: true });
    expect([embedder.texts, again.texts]).toEqual([256, 145]);
    expect(await memory.reindex({ embedder: newModel() }), "there is nothing to do").toMatchObject({ switched: false });
  });

  it("is refused for a third model while one is half done, until that is abandoned", async () => {
    const path = newPath();
    const old = await openOld(path, 200);
    const abort = new AbortController();
    const onProgress = () => abort.abort(new Error("enough"));
    await expect(old.reindex({ embedder: newModel(), onProgress, signal: abort.signal })).rejects.toThrow("enough");
    expect(vectorRows(path)).toEqual({ [OLD]: 201, [NEW]: 128 });
    const third = new MirrorEmbedder({ model: "third" });
    await expect(old.reindex({ embedder: third })).rejects.toMatchObject({ code: "conflict", hint: /abandon/ });
    expect(third.texts).toBe(0);
    expect(await old.abandonReindex()).toBe(true);
    expect(await old.abandonReindex()).toBe(false);
    expect(vectorRows(path)).toEqual({ [OLD]: 201 });
    expect(await first(old, "blue kettle")).toMatchObject({ content: "blue kettle", degraded: undefined });
    expect(await old.reindex({ embedder: third })).toMatchObject({ switched: true, embedded: 201 });
    expect(vectorRows(path)).toEqual({ third: 201 });
  });

  it("embeds a file that has no vectors yet", async () => {
    const path = newPath();
    const memory = await open({ path, ...WORDS });
    await memory.session(ADA).add([said("blue kettle"), said("  ")]);
    expect(await memory.reindex({ embedder: newModel() })).toMatchObject({ embedded: 2, switched: true });
    const renewed = await open({ path, embedder: newModel() });
    expect(await first(renewed, "blue kettle")).toMatchObject({ content: "blue kettle", partial: false });
  });

  it("parks what the new model does not take", async () => {
    const path = newPath();
    const old = await openOld(path, 5);
    const embedder = new HashEmbedder({ model: NEW });
    embedder.refuse((text) => text.includes("number3"));
    expect(await old.reindex({ embedder })).toMatchObject({ embedded: 5, refused: 1, switched: true });
    await old.close();
    const renewed = await open({ path, embedder: new HashEmbedder({ model: NEW }) });
    expect(await renewed.flush()).toEqual({ pending: 0, parked: 1 });
    expect(await renewed.service.backlog.parked(ADA)).toMatchObject({ items: [{ attempts: 1 }] });
    expect(await renewed.service.backlog.replay(ADA)).toBe(1);
    expect(await renewed.flush()).toEqual({ pending: 0, parked: 0 });
  });

  it("ends with the memory, keeps what is done, and needs a model", async () => {
    const path = newPath();
    await openOld(path, 3);
    const { memory, reindexed } = await holdAt(path, newModel());
    await expect(memory.reindex({ embedder: newModel() })).rejects.toMatchObject({ code: "conflict" });
    await memory.close();
    await expect(reindexed).rejects.toMatchObject({ code: "closed" });
    const next = await open({ path, ...WORDS });
    await expect(next.reindex({})).rejects.toMatchObject({ code: "invalid_input" });
    await expect(next.reindex({ model: "none" })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(next.reindex({ model: "unheard-of" })).rejects.toMatchObject({ code: "config" });
    expect(await next.reindex({ embedder: newModel() })).toMatchObject({ embedded: 4, switched: true });
  });

  it("ends even under constant writes", async () => {
    const path = newPath();
    const old = await openOld(path, 3);
    let added = 0;
    class Interrupted extends MirrorEmbedder {
      override async embed(...call: Parameters<HashEmbedder["embed"]>): ReturnType<HashEmbedder["embed"]> {
        await old.session(ADA).add([said(`late${added++}`)]);
        return super.embed(...call);
      }
    }
    const embedder = new Interrupted({ model: NEW });
    expect(await old.reindex({ embedder })).toMatchObject({ switched: true });
    await old.close();
    const renewed = await open({ path, embedder: new MirrorEmbedder({ model: NEW }) });
    expect(await renewed.flush()).toEqual({ pending: 0, parked: 0 });
    expect(await first(renewed, `late${added - 1}`)).toMatchObject({ content: `late${added - 1}` });
  });
});

describe("a process with the old model", () => {
  it("notices with its next question, answers by words, and says which model to open with", async () => {
    const path = newPath();
    const old = await openOld(path, 5);
    expect(await first(old, "blue kettle")).toMatchObject({ content: "blue kettle", degraded: undefined });
    await (await open({ path, ...WORDS })).reindex({ embedder: newModel() });
    const hits = await old.session(ADA).query("blue kettle");
    expect(hits.degraded).toContain(NEW);
    expect(hits.degraded).toContain("open it with that model");
    expect(hits[0]?.content, "by words").toBe("blue kettle");
    expect((await first(old, "blue kettle")).content, "not by meaning").toBeUndefined();
    expect((await old.stats()).meaning?.fault).toContain(NEW);
  });

  it("writes nothing of its own into the new space, and loses nothing: another process embeds what it added", async () => {
    const path = newPath();
    const clock = new FakeClock();
    const old = await open({ path, embedder: oldModel(), clock });
    await old.session(ADA).add([said("blue kettle")]);
    await old.flush();
    await (await open({ path, ...WORDS })).reindex({ embedder: newModel() });
    await old.session(ADA).add([said("green teapot")]);
    expect(await old.flush()).toEqual({ pending: 1, parked: 0 });
    expect(await old.flush()).toEqual({ pending: 1, parked: 0 });
    expect(vectorRows(path)).toEqual({ [NEW]: 1 });
    const renewed = await open({ path, embedder: newModel() });
    expect(await renewed.flush(), "the old one has left its lease").toEqual({ pending: 0, parked: 0 });
    expect(await first(renewed, "green teapot")).toMatchObject({ content: "green teapot", degraded: undefined });
    await old.session(ADA).add([said("red pan")]);
    expect((await old.session(ADA).query("red pan"))[0]?.content).toBe("red pan");
    await old.close();
    expect(await auditVectors(path, "message", 0, newModel())).toMatchObject({ problems: [] });
    expect(await renewed.flush()).toEqual({ pending: 0, parked: 0 });
    expect(await first(renewed, "red pan")).toMatchObject({ content: "red pan" });
  });
});

describe("forgetting", () => {
  it("takes the new vectors along while a reindex is half done, with their bytes", async () => {
    const path = newPath();
    const secretive = await open({ path, embedder: oldModel() });
    await secretive.session(ADA).add([said("amber basalt cobalt damson ebony fuchsia")]);
    await secretive.close();
    const old = await openOld(path, 199);
    const abort = new AbortController();
    const onProgress = () => abort.abort(new Error("enough"));
    const embedder = new HashEmbedder({ model: NEW, dimensions: 256 });
    await expect(old.reindex({ embedder, onProgress, signal: abort.signal })).rejects.toThrow("enough");
    const session = old.session(ADA);
    const [secret] = (await session.list({ limit: 1, order: "asc" })).items;
    const [vector] = await embedder.embed([String(secret?.content)]);
    expect(isInFiles(path, vector as Float32Array), "it is there").toBe(true);
    const receipt = await session.delete([String(secret?.id)]);
    expect(receipt).toMatchObject({ items: 1, purged: true, left: [] });
    expect(isInFiles(path, vector as Float32Array)).toBe(false);
    expect(vectorRows(path)).toEqual({ [OLD]: 200, [NEW]: 127 });
    expect(await old.reindex({ embedder })).toMatchObject({ embedded: 73, switched: true });
    expect(isInFiles(path, vector as Float32Array)).toBe(false);
    expect(await old.forget({ user: "ada" })).toMatchObject({ items: 200, purged: true });
    expect(vectorRows(path)).toEqual({ [NEW]: 0 });
  });
});
