/** The Retriever on the store in memory, with an embedder made of words and a clock in the test's hands. */
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../config.js";
import { GuardedEmbedder } from "../../embedding/guarded.js";
import { EmbeddingCache } from "../../embedding/question-cache.js";
import type { Question } from "../../input/question.js";
import { Reindexing } from "../../reindexing/reindexing.js";
import type { SearchRequest, SearchResult } from "../../stores/search.js";
import { SqliteStore } from "../../stores/sqlite/store.js";
import type { Done, NewRow, Write } from "../../stores/store.js";
import { FakeClock } from "../../testing/fake-clock.js";
import { HashEmbedder } from "../../testing/hash-embedder.js";
import { Meter } from "../meter.js";
import { Pipeline } from "../pipeline.js";
import { QuestionVectors } from "./question-vectors.js";
import { Retriever } from "./retriever.js";

const ADA = { user: "ada" } as const;
const QUESTION: Question = { text: "cat", spaces: [ADA], filter: {}, depth: 25, bufferOnly: false, recency: 0 };
const LATE = "not done by the deadline";
const NOTHING: SearchResult = {
  ...{ found: [], candidates: 0, isClockBound: false, outdated: [], fresh: 0 },
  words: { found: 0, ms: 0 },
  vectors: { found: 0, ms: 0 },
};

/** A store, a Retriever on it, and the hands of a test on both. */
class Desk {
  readonly clock = new FakeClock();
  readonly embedder = new HashEmbedder();
  readonly store: SqliteStore;
  readonly pipeline: Pipeline;
  readonly retriever: Retriever;
  /** What the store was asked. */
  readonly requests: SearchRequest[] = [];
  /** How the store answers; at first as it does by itself, however long it takes to load vectors. */
  search: (request: SearchRequest) => Promise<SearchResult>;
  #ids = 0;

  static async open({ hasModel = true } = {}): Promise<Desk> {
    const store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
    const desk = new Desk(store, hasModel);
    onTestFinished(async () => {
      const closed = desk.pipeline.finish(0).then(() => desk.pipeline.release());
      await settle();
      desk.clock.advance(10_000);
      await closed;
      await store.close();
    });
    return desk;
  }

  private constructor(store: SqliteStore, hasModel: boolean) {
    const { clock } = this;
    this.store = store;
    const search = store.search.bind(store);
    this.search = ({ vector, ...request }) =>
      search({ ...request, ...(vector && { vector: { ...vector, readyMs: Infinity } }) });
    store.search = async (request) => {
      this.requests.push(request);
      return this.search(request);
    };
    const embedder = new GuardedEmbedder(this.embedder, { clock });
    this.pipeline = new Pipeline({
      ...{ store, clock, embedder, meter: new Meter(clock), enabled: true, onFlushed: () => {} },
      countTokens: async (texts) => texts.map(() => 1),
      roundBuffer: { maxTokens: 800, maxSize: 5, idleMs: 60_000, eager: false },
      hybridBuffer: {
        ...{ maxSize: 5, maxBytes: 32 * 1024 * 1024, idleMs: 60_000, forceMs: 1_800_000, leaseMs: 10_000 },
        chunkStrategy: "message",
      },
    });
    const cache = new EmbeddingCache({ max: 10, maxBytes: 1_000_000 });
    const vectors = new QuestionVectors({ store, clock, embedder, cache, pipeline: this.pipeline });
    this.retriever = new Retriever({ store, clock, ...(hasModel && { vectors }) });
  }

  rank(question: Partial<Question> = {}) {
    return this.retriever.rank({ ...QUESTION, ...question }, this.clock.now());
  }

  async commit(write: Write): Promise<Done> {
    const [outcome] = (await this.store.commit([[write]], this.clock.now(), "")).outcomes;
    if (!outcome?.ok) throw new Error(outcome?.error.message ?? "no outcome");
    return outcome.done[0] as Done;
  }

  /** Adds messages that wait to be embedded. */
  async add(contents: readonly string[], more: Partial<NewRow> & { readonly session?: string } = {}) {
    const { session, ...rest } = more;
    const items = contents.map(
      (content): NewRow => ({
        ...{ id: `m${++this.#ids}`, kind: "message", role: "user", content, metadata: {}, tier: "episodic" },
        occurredAt: this.clock.now(),
        ...rest,
      }),
    );
    await this.commit({ op: "add", space: ADA, ...(session !== undefined && { session }), items, existing: "same" });
    return items.map(({ id }) => id);
  }

  /** Gives everything that waits a vector with this cosine to the question "cat". */
  async index(cosine: number, session?: string): Promise<void> {
    const lane = session === undefined ? { space: ADA } : { space: ADA, session };
    const owner = { id: "test", process: "1" };
    const vectorSpace = (await this.embedder.describe()).space;
    const vectors = await this.vectorAt(cosine);
    const claimed = await this.commit({ op: "claim", owner, lanes: [lane], evict: [] });
    const claim = claimed.op === "claim" ? claimed.claims[0] : undefined;
    const fence = claim && "fence" in claim ? claim.fence : expect.fail("the lane was not given");
    const page = { limit: 1_000, maxBytes: 2 ** 24, now: this.clock.now() };
    const pending = await this.store.pending({ lanes: [{ lane }], ...page });
    const items = pending.items.map(({ key, version, content }) => ({
      ...{ key, version, vectors, borrowed: [], spans: [{ start: 0, end: content.length }] },
    }));
    await this.commit({ op: "index", owner: owner.id, lane, fence, vectorSpace, items, release: true });
  }

  async vectorAt(cosine: number): Promise<Float32Array> {
    const [cat] = await new HashEmbedder().embed(["cat"]);
    const vector = cat as Float32Array;
    const axis = vector.indexOf(0);
    return vector.map((value, at) => (at === axis ? Math.sqrt(1 - cosine ** 2) : value * cosine));
  }
}

const many = (count: number, text: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => text(at));

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const never = new Promise<never>(() => {});

describe("a search", () => {
  it("is one call of the store, with the question's words, identifiers, vector, and what it says of when and by whom", async () => {
    const desk = await Desk.open();
    const askedAt = Date.UTC(2026, 4, 3);
    await desk.rank({ text: "What did you tell me in May 2023 about E-1234?", askedAt, recency: 0.2, depth: 7 });
    expect(desk.requests).toHaveLength(1);
    const [request] = desk.requests;
    expect(request).toMatchObject({ spaces: [ADA], filter: {}, limit: 7, now: desk.clock.now() });
    expect(request?.terms).toContain("tell");
    expect(request?.lookups.length).toBeGreaterThan(0);
    expect(request?.vector).toMatchObject({ space: { model: "hash-of-words" }, fresh: [], freshOnly: false });
    expect(request?.hints).toMatchObject({ refersBack: true, recency: 0.2, askedAt });
    expect(request?.hints.dates).toEqual([{ from: Date.UTC(2023, 4, 1), to: Date.UTC(2023, 5, 1) }]);
  });

  it("finds an item once that both arms have found, with both scores", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    const { found, candidates, sources, partial } = await desk.rank();
    expect([found.length, candidates, partial]).toEqual([1, 1, false]);
    expect(found[0]).toMatchObject({ id: "m1", version: 1, level: "round" });
    expect(found[0]?.why.words?.score).toBeGreaterThan(0);
    expect(found[0]?.why.meaning?.score).toBeGreaterThan(0);
    expect(sources.map(({ source, asked, found: count }) => [source, asked, count])).toEqual([
      ["words", true, 1],
      ["round", true, 1],
      ["hybrid", true, 1],
      ["meaning", true, 0],
    ]);
  });

  it("does not add what belongs to another version of the text, and drops that from the VectorCache", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps", "a cat barks"]);
    await desk.rank();
    expect(desk.pipeline.hybrid.cache.stats.items).toBe(2);
    desk.embedder.refuse((text) => text.includes("runs"));
    await desk.commit({ op: "update", space: ADA, id: "m1", patch: { content: "the cat runs" } }); // nobody here is told
    const { found, partial } = await desk.rank();
    const edited = found.find(({ id }) => id === "m1");
    expect(partial).toBe(true);
    expect(edited).toMatchObject({ version: 2, level: "store" });
    expect(edited?.why.words?.score).toBeGreaterThan(0);
    expect(edited?.why.meaning).toBeUndefined();
    expect(desk.pipeline.hybrid.cache.stats.items).toBe(1);
  });

  it("drops from the VectorCache what another process has forgotten, and nothing that a filter keeps out", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps", "a cat barks"]);
    await desk.rank();
    await desk.rank({ filter: { roles: ["assistant"] } });
    expect(desk.pipeline.hybrid.cache.stats.items).toBe(2);
    await desk.commit({ op: "forget", target: { space: ADA, ids: ["m1"] } });
    expect((await desk.rank()).found.map(({ id }) => id)).toEqual(["m2"]);
    expect(desk.pipeline.hybrid.cache.stats.items).toBe(1);
  });

  it("drops from the VectorCache what was in a space that another process has forgotten", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.rank();
    await desk.commit({ op: "forget", target: { space: ADA, entry: true } });
    expect((await desk.rank()).found).toEqual([]);
    expect(desk.pipeline.hybrid.cache.stats.items).toBe(0);
  });

  it("has what words alone found scored by meaning", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.index(0.125);
    await desk.add(many(200, (at) => `filler ${at}`));
    await desk.index(0.875);
    const { found } = await desk.rank({ depth: 40 });
    const { why } = found.find(({ id }) => id === "m1") ?? expect.fail("it was not found");
    expect(why.words?.score).toBeGreaterThan(0);
    expect(why.meaning?.score).toBeCloseTo(0.125, 5);
  });

  it("has what meaning alone found scored by words", async () => {
    const desk = await Desk.open();
    await desk.add([`the cat ${many(500, (at) => `word${at}`).join(" ")}`]);
    await desk.index(0.875);
    await desk.add(many(200, () => "cat"));
    await desk.index(0);
    const { found } = await desk.rank();
    expect(found[0]?.id).toBe("m1");
    expect(found[0]?.why.meaning?.score).toBeCloseTo(0.875, 5);
    expect(found[0]?.why.words?.score).toBeGreaterThan(0);
    expect(found[0]?.why.words?.score).toBeLessThan(found[1]?.why.words?.score ?? 0);
  });

  it("is bound to the clock if words that count are lent by what expires, also to what meaning alone has found", async () => {
    const rank = async (more: Partial<NewRow>) => {
      const desk = await Desk.open();
      await desk.add([`the cat ${many(500, (at) => `word${at}`).join(" ")}`], { session: "s", ...more });
      await desk.index(0, "s");
      const [near] = await desk.add(["it sleeps"], { session: "s" });
      await desk.index(0.875, "s");
      await desk.add(many(200, () => "cat"));
      await desk.index(0);
      const { found, isClockBound } = await desk.rank();
      const lent = found.find(({ id }) => id === near);
      expect(lent?.why.words?.score).toBeGreaterThan(0);
      return { isClockBound, until: lent?.until, others: found.filter(({ until }) => until !== undefined).length };
    };
    const expiresAt = Date.UTC(2027, 0, 1);
    expect(await rank({})).toEqual({ isClockBound: false, until: undefined, others: 0 });
    expect(await rank({ expiresAt })).toEqual({ isClockBound: true, until: expiresAt, others: 1 });
  });

  it("is answered by words where the vectors of a space are still being loaded, and says so", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.index(0.5);
    const search = desk.search;
    desk.search = async ({ vector: _, ...request }) => {
      const result = await search(request);
      return { ...result, vectors: { found: 0, ms: 0, missing: "loading" } };
    };
    const { found, partial, degraded, sources } = await desk.rank();
    expect([found.length, partial, degraded]).toEqual([1, true, undefined]);
    expect(sources.find(({ source }) => source === "meaning")?.why).toContain("loaded into memory");
  });

  it("is answered by words if the file was embedded again by another model, and says why", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.index(0.5);
    expect((await desk.rank()).degraded).toBeUndefined();
    const config = loadConfig({ file: undefined, env: {}, code: { path: ":memory:", clock: desk.clock } });
    await new Reindexing(desk.store, config).run({ embedder: new HashEmbedder({ model: "another" }) });
    const { found, partial, degraded, sources } = await desk.rank();
    expect(found.map(({ id }) => id)).toEqual(["m1"]);
    expect(found[0]?.why.meaning).toBeUndefined();
    expect(partial).toBe(true);
    expect(degraded).toContain("the file's vectors are now of another");
    expect(sources.find(({ source }) => source === "meaning")).toMatchObject({ found: 0, why: expect.any(String) });
  });

  it("is whole where nothing is embedded yet: all there is was embedded for the question", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    const search = desk.search;
    desk.search = async (request) => {
      const result = await search(request);
      return { ...result, vectors: { ...result.vectors, missing: "other_space" } }; // it has vectors of none
    };
    const { found, partial, degraded, sources } = await desk.rank();
    expect([found.length, partial, degraded]).toEqual([1, false, undefined]);
    expect(found[0]?.why.meaning?.score).toBeGreaterThan(0);
    expect(sources.at(-1)).toMatchObject({ source: "meaning", why: "nothing is embedded by this model yet" });
  });

  it("is answered by words if the embedder fails, and says why", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    desk.embedder.refuse((text) => text === "cat");
    const { found, partial, degraded, sources } = await desk.rank();
    expect([found.length, partial]).toEqual([1, true]);
    expect(degraded).toBeDefined();
    expect(desk.requests[0]?.vector).toBeUndefined();
    expect(sources.slice(1).every(({ asked, why }) => !asked && why === degraded)).toBe(true);
  });

  it("without an embedding model is by words, and says why the others were not asked", async () => {
    const desk = await Desk.open({ hasModel: false });
    await desk.add(["the cat sleeps"]);
    const { found, sources, partial, reading } = await desk.rank();
    expect(found.map(({ id }) => id)).toEqual(["m1"]);
    expect(partial).toBe(false);
    expect(reading).not.toHaveProperty("embedded");
    const silent = sources.filter(({ asked }) => !asked);
    expect(silent.map(({ source }) => source)).toEqual(["round", "hybrid", "meaning"]);
    expect(silent.every(({ why }) => why === "there is no embedding model")).toBe(true);
    await expect(desk.rank({ by: "meaning" })).rejects.toMatchObject({ code: "unsupported", hint: expect.any(String) });
  });

  it("by words alone embeds nothing", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    const { found, partial, sources } = await desk.rank({ by: "words" });
    expect([found.length, partial]).toEqual([1, false]);
    expect(desk.embedder.calls).toBe(0);
    expect(desk.requests[0]?.vector).toBeUndefined();
    expect(sources.slice(1).every(({ asked, why }) => !asked && why === "asked for words alone")).toBe(true);
  });

  it("by meaning alone looks for no words and no identifiers", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.index(0.5);
    await desk.add(["E-1234 is broken"]);
    const { found, sources, reading } = await desk.rank({ text: "cat E-1234", by: "meaning" });
    expect(desk.requests[0]).toMatchObject({ terms: [], lookups: [] });
    expect(found.map(({ id }) => id)).toContain("m1");
    expect(found.every(({ why }) => (why.words?.share ?? 0) === 0 && why.exact === 0)).toBe(true);
    expect(sources[0]).toEqual({ source: "words", asked: false, why: "asked for meaning alone", found: 0, ms: 0 });
    expect(reading.terms).toEqual([]);
  });

  it("does not ask for words where the question has none", async () => {
    const desk = await Desk.open();
    const { sources } = await desk.rank({ text: "?!" });
    expect(desk.requests.flatMap(({ terms }) => terms)).toEqual([]);
    expect(sources[0]).toEqual({ source: "words", asked: false, why: "the question has no words", found: 0, ms: 0 });
  });

  it("of the buffers alone looks at what is not indexed yet", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    await desk.index(0.875);
    await desk.add(["a cat barks"]);
    const { found, sources } = await desk.rank({ bufferOnly: true, filter: { roles: ["user"] } });
    expect(desk.requests[0]).toMatchObject({ filter: { roles: ["user"], pending: true }, vector: { freshOnly: true } });
    expect(found.map(({ id, level }) => [id, level])).toEqual([["m2", "round"]]);
    expect(sources.at(-1)).toMatchObject({ asked: false, why: "only the buffers were to be asked" });
  });

  it("runs beside two others at most; the next waits until one of them is done", async () => {
    const desk = await Desk.open();
    const open: (() => void)[] = [];
    desk.search = () => new Promise((resolve) => open.push(() => resolve(NOTHING)));
    const ranked = [1, 2, 3, 4].map(() => desk.rank());
    await settle();
    expect(desk.requests).toHaveLength(3);
    open[0]?.();
    await settle();
    expect(desk.requests).toHaveLength(4);
    for (const one of open) one();
    expect(await Promise.all(ranked)).toHaveLength(4);
  });
});

describe("at the deadline", () => {
  it("half of it is spent on the vector; without one the answer is by words, and says so", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    const release = desk.embedder.stall();
    const ranked = desk.rank({ deadlineMs: 20 });
    await settle();
    desk.clock.advance(9);
    await settle();
    expect(desk.requests).toEqual([]);
    desk.clock.advance(1);
    const { found, partial, sources } = await ranked;
    expect(found.map(({ id }) => id)).toEqual(["m1"]);
    expect(partial).toBe(true);
    expect(desk.requests[0]?.vector).toBeUndefined();
    expect(sources[0]).toMatchObject({ source: "words", asked: true, found: 1 });
    expect(sources.slice(1).map(({ source, asked, why }) => [source, asked, why])).toEqual([
      ["round", true, LATE],
      ["hybrid", true, LATE],
      ["meaning", true, LATE],
    ]);
    release();
  });

  it("an answer without the store's is empty, and says so", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"]);
    desk.search = () => never;
    const ranked = desk.rank({ deadlineMs: 20 });
    await settle();
    expect(desk.requests[0]?.vector?.readyMs).toBe(10);
    desk.clock.advance(20);
    const { found, candidates, partial, sources } = await ranked;
    expect([found, candidates, partial]).toEqual([[], 0, true]);
    const late = sources.filter(({ why }) => why === LATE).map(({ source }) => source);
    expect(late).toEqual(["words", "hybrid", "meaning"]);
  });

  it("a question that still waits for its turn is answered with nothing, and the next ones get theirs", async () => {
    const desk = await Desk.open();
    const open: (() => void)[] = [];
    desk.search = () => new Promise((resolve) => open.push(() => resolve(NOTHING)));
    const before = [1, 2, 3].map(() => desk.rank());
    await settle();
    const hurried = desk.rank({ deadlineMs: 20 });
    await settle();
    desk.clock.advance(20);
    expect(await hurried).toMatchObject({ found: [], partial: true });
    for (const one of open) one();
    await Promise.all(before);
    desk.search = async () => NOTHING;
    const after = [1, 2, 3].map(() => desk.rank());
    expect((await Promise.all(after)).map(({ partial }) => partial)).toEqual([false, false, false]);
  });

  it("an error of the store after the deadline is not reported", async () => {
    const desk = await Desk.open();
    let fail = (_error: Error): void => {};
    desk.search = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const ranked = desk.rank({ deadlineMs: 20 });
    await settle();
    desk.clock.advance(20);
    expect((await ranked).found).toEqual([]);
    fail(new Error("too late"));
    await settle();
  });

  it("an error of the embedder after the deadline is not reported", async () => {
    const desk = await Desk.open();
    const release = desk.embedder.stall();
    desk.embedder.failNext(9, new Error("too late"));
    const ranked = desk.rank({ deadlineMs: 20 });
    await settle();
    desk.clock.advance(20);
    expect((await ranked).partial).toBe(true);
    release();
    await settle();
  });

  it("nothing is left that waits for it", async () => {
    const desk = await Desk.open();
    const before = desk.clock.pending;
    await desk.rank({ deadlineMs: 20, by: "words" });
    expect(desk.clock.pending).toBe(before);
  });

  it("a store that fails in time fails the question", async () => {
    const desk = await Desk.open();
    desk.search = () => Promise.reject(new Error("the disk is full"));
    await expect(desk.rank({ deadlineMs: 20 })).rejects.toThrow("the disk is full");
    await expect(desk.rank()).rejects.toThrow("the disk is full");
  });
});

describe("the clock binds", () => {
  it.each([
    ["a relative date", { text: "what did she say last week?" }, true],
    ["a date of its own", { text: "what did she say in May 2023?" }, false],
    ["being new", { recency: 0.2 }, true],
    ["nothing", {}, false],
  ] as const)("a question that has %s", async (_, question, isBound) => {
    expect((await (await Desk.open()).rank(question)).isClockBound).toBe(isBound);
  });

  it("nothing that says itself when it is asked", async () => {
    const desk = await Desk.open();
    const question = { text: "what did she say last week?", recency: 0.2, askedAt: desk.clock.now() };
    expect((await desk.rank(question)).isClockBound).toBe(false);
  });

  it("a question that found something that expires", async () => {
    const desk = await Desk.open();
    await desk.add(["the cat sleeps"], { expiresAt: desk.clock.now() + 1 });
    expect((await desk.rank()).isClockBound).toBe(true);
  });
});
