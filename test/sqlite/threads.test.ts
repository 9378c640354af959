/** How the storage threads answer, start and end. */
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { HoldfastError } from "holdfast";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Searcher } from "../../build/lib/stores/sqlite/search/searcher.js";
import type { Thread as ThreadOf } from "../../build/lib/stores/sqlite/thread.js";
import { newPath } from "../support/opened.js";
import { root } from "../support/root.js";
import { Embedding, NOW, RandomVectors } from "./embedding.js";

const { Thread } = (await import(pathToFileURL(join(root, "build/lib/stores/sqlite/thread.js")).href)) as {
  readonly Thread: typeof ThreadOf;
};

const ADA = { user: "ada" };
const DIMENSIONS = 16;
const MANY = 40;

const page = (limit: number) =>
  ({ spaces: [ADA], filter: {}, order: "asc", sortBy: "arrival", limit, now: NOW }) as const;

async function opened() {
  const embedding = await Embedding.open(newPath(), DIMENSIONS);
  const random = new RandomVectors(3, DIMENSIONS);
  const items = Array.from({ length: 200 }, (_, at) => ({ id: `m${at}`, content: `the garden by the river ${at}` }));
  await embedding.add({ space: ADA, session: "s" }, items);
  await embedding.embed({ space: ADA, session: "s" }, () => random.next());
  await embedding.near([ADA], random.next(), 1);
  await embedding.store.list({ ...page(1), filter: { roles: ["user"] } }); // from here on both threads are there
  return embedding;
}

it("a thread that is closed while calls wait answers all of them first", async () => {
  const embedding = await opened();
  const { store, vectorSpace: space } = embedding;
  const hints = { refersBack: false, dates: [], recency: 0, askedAt: NOW };
  const request = { spaces: [ADA], terms: ["river"], lookups: [], filter: {}, hints, limit: 10, now: NOW };
  const words = Array.from({ length: MANY }, () => store.search(request));
  const near = Array.from({ length: MANY }, (_, at) => {
    const numbers = new RandomVectors(at, DIMENSIONS).next();
    const vector = { space, numbers, fresh: [], freshOnly: false, readyMs: 60_000 };
    return store.search({ ...request, terms: [], vector });
  });
  await turn(); // they are on their way
  await embedding.store.close();
  for (const { found } of await Promise.all([...words, ...near])) expect(found.length).toBeGreaterThan(0);
});

it("a thread that could not open its file tries again with the next call", async () => {
  const path = newPath();
  const options = { path, id: "x", busyTimeoutMs: 1_000, mirrorBytes: 0 };
  const thread = new Thread<Searcher>("search", options);
  await expect(thread.call("mirrorStats")).rejects.toThrow();
  await Embedding.open(path, DIMENSIONS);
  expect(await thread.call("mirrorStats")).toMatchObject({ spaces: 0 });
  await thread.close();
});

/** The threads that are started from here on. */
function started(onStart: (worker: Worker) => void = () => {}): { count: number } {
  const threads = { count: 0 };
  const note = (worker: Worker) => {
    threads.count++;
    onStart(worker);
  };
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return threads;
}

it("short reads start no thread; what may look at every item does, and gives the same", async () => {
  const threads = started();
  const embedding = await Embedding.open(newPath(), DIMENSIONS);
  await embedding.add({ space: ADA, session: "s" }, [{ id: "a", content: "the garden" }]);
  const { store } = embedding;
  const here = await store.list(page(10));
  expect(here.items.map(({ id }) => id)).toEqual(["a"]);
  expect((await store.entries({ kind: "user", limit: 10 })).items).toHaveLength(1);
  expect((await store.sessions({ kind: "session", space: ADA, limit: 10 })).items).toHaveLength(1);
  expect(threads.count, "the writer's").toBe(1);
  expect(await store.list({ ...page(10), filter: { roles: ["user"] } })).toEqual(here);
  expect(threads.count).toBe(2);
  expect(await store.list(page(10)), "in the thread").toEqual(here);
});

it.each([
  ["a list by time", (store: Embedding["store"]) => store.list({ ...page(10), sortBy: "timestamp" })],
  ["changes", (store: Embedding["store"]) => store.changes([{ space: ADA }])],
])("%s may look at every item, and is read by a thread", async (_, read) => {
  const threads = started();
  const { store } = await Embedding.open(newPath(), DIMENSIONS);
  await read(store);
  expect(threads.count).toBe(2);
});

it("a read that turns out to be long has the reader's thread started for the next ones", async () => {
  const embedding = await Embedding.open(newPath(), DIMENSIONS);
  const items = Array.from({ length: 4_000 }, (_, at) => ({ id: `m${at}`, content: `the garden ${at}`.repeat(20) }));
  await embedding.add({ space: ADA, session: "s" }, items);
  const another = once(process, "worker");
  expect((await embedding.store.list(page(4_000))).items).toHaveLength(4_000);
  await another;
  expect((await embedding.store.list(page(10))).items).toHaveLength(10);
});

describe("a thread that is lost during a read", () => {
  /** What a reading thread does, and by which calls of the store. */
  const READS: readonly (readonly [what: string, read: (embedding: Embedding) => Promise<unknown>])[] = [
    ["a list", ({ store }) => store.list({ ...page(10), sortBy: "timestamp" })],
    ["a search by vectors", (embedding) => embedding.near([ADA], new RandomVectors(1, DIMENSIONS).next(), 5)],
    ["what changed", ({ store }) => store.changes([{ space: ADA }])],
  ];

  async function filled(): Promise<Embedding> {
    const embedding = await Embedding.open(newPath(), DIMENSIONS);
    const random = new RandomVectors(3, DIMENSIONS);
    await embedding.add({ space: ADA, session: "s" }, [{ id: "a", content: "the garden" }]);
    await embedding.embed({ space: ADA, session: "s" }, () => random.next());
    return embedding;
  }

  it.each(READS)("costs %s nothing: it is read again in another thread", async (_, read) => {
    const embedding = await filled();
    let lost = 0;
    const threads = started((worker) => {
      if (lost++ === 0) void worker.terminate();
    });
    const found = await read(embedding);
    expect(threads.count).toBe(2);
    expect(found).toEqual(await read(embedding));
  });

  it.each(READS)("that cannot be kept alive fails %s as something to try again, not as unknown", async (_, read) => {
    const embedding = await filled();
    let isDeadly = true;
    started((worker) => {
      if (isDeadly) void worker.terminate();
    });
    const error = await read(embedding).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: "store_failed", retryable: true, hint: expect.stringContaining("try again") });
    isDeadly = false;
    await read(embedding);
  });

  it("a writer that was lost while nothing was written is replaced by the next call", async () => {
    let writer: Worker | undefined;
    started((worker) => {
      writer ??= worker;
    });
    const embedding = await Embedding.open(newPath(), DIMENSIONS);
    await embedding.add({ space: ADA, session: "s" }, [{ id: "a", content: "the garden" }]);
    await writer?.terminate();
    expect(await embedding.store.stats()).toMatchObject({ items: 1 });
    await embedding.add({ space: ADA, session: "s" }, [{ id: "b", content: "the river" }]);
    expect(await embedding.store.stats()).toMatchObject({ items: 2 });
  });
});
