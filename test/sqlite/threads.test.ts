/** How the reading threads answer: what ends a search does not wait for searches that have just begun. */
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type { Thread as ThreadOf } from "../../dist/stores/sqlite/thread.js";
import { newPath } from "../support/opened.js";
import { root } from "../support/root.js";
import { Embedding, NOW, RandomVectors } from "./embedding.js";

const { Thread } = (await import(pathToFileURL(join(root, "dist/stores/sqlite/thread.js")).href)) as {
  readonly Thread: typeof ThreadOf;
};

const ADA = { user: "ada" };
const DIMENSIONS = 16;
const MANY = 40;

/** The names of the calls, in the order in which they were answered. */
async function answered(calls: readonly (readonly [name: string, call: () => Promise<unknown>])[]): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(calls.map(([name, call]) => call().then(() => order.push(name))));
  return order;
}

const lined = (name: string, call: () => Promise<unknown>) =>
  Array.from({ length: MANY }, (_, at) => [`${name} ${at}`, call] as const);

const page = (limit: number) =>
  ({ spaces: [ADA], filter: {}, order: "asc", sortBy: "arrival", limit, now: NOW }) as const;

async function opened() {
  const embedding = await Embedding.open(newPath(), DIMENSIONS);
  const random = new RandomVectors(3, DIMENSIONS);
  const items = Array.from({ length: 200 }, (_, at) => ({ id: `m${at}`, content: `the garden by the river ${at}` }));
  await embedding.add({ space: ADA, session: "s" }, items);
  await embedding.embed({ space: ADA, session: "s" }, () => random.next());
  const [hit] = await embedding.near([ADA], random.next(), 1);
  await embedding.store.list({ ...page(1), filter: { roles: ["user"] } }); // from here on both threads are there
  return { embedding, random, key: hit?.key ?? 0 };
}

it("what scores by words goes before searches by words that wait, which keep their order", async () => {
  const { embedding, key } = await opened();
  const request = { spaces: [ADA], terms: ["garden"], filter: {}, limit: 100, now: NOW };
  const search = () => embedding.store.searchWords(request);
  await search();
  const ending = () => embedding.store.searchWords({ ...request, keys: [key] });
  const order = await answered([...lined("search", search), ["ending", ending]]);
  expect(order.indexOf("ending")).toBeLessThan(MANY / 2);
  expect(order.filter((name) => name !== "ending")).toEqual(lined("search", search).map(([name]) => name));
});

it("what scores by vectors goes before searches by vectors that wait", async () => {
  const { embedding, random, key } = await opened();
  const { store, vectorSpace } = embedding;
  const vector = random.next();
  const score = { spaces: [ADA], vectorSpace, vector, items: [{ key, floor: Number.NEGATIVE_INFINITY }] };
  const search = () => embedding.near([ADA], vector, 10);
  const order = await answered([...lined("search", search), ["ending", () => store.scoreVectors(score)]]);
  expect(order.indexOf("ending")).toBeLessThan(MANY / 2);
});

it("a search is answered though others score without end", async () => {
  const { embedding, key } = await opened();
  const request = { spaces: [ADA], terms: ["garden"], filter: {}, limit: 100, now: NOW };
  const scoring = () => embedding.store.searchWords({ ...request, keys: [key] });
  const search = () => embedding.store.searchWords(request);
  const order = await answered([["search", search], ["waits", search], ...lined("scoring", scoring)]);
  expect(order.indexOf("waits")).toBeLessThan(MANY / 2);
});

it("a thread that is closed while calls wait answers all of them first", async () => {
  const { embedding, key } = await opened();
  const request = { spaces: [ADA], terms: ["river"], filter: {}, limit: 10, now: NOW };
  const words = Array.from({ length: MANY }, () => embedding.store.searchWords(request));
  const near = Array.from({ length: MANY }, (_, at) =>
    embedding.near([ADA], new RandomVectors(at, DIMENSIONS).next(), 5),
  );
  const ending = embedding.store.searchWords({ ...request, keys: [key] });
  await turn(); // they are on their way
  await embedding.store.close();
  for (const found of await Promise.all([...words, ...near, ending])) expect(found.length).toBeGreaterThan(0);
});

it("a thread that could not open its file tries again with the next call", async () => {
  const path = newPath();
  const options = { path, id: "x", busyTimeoutMs: 1_000, mirrorBytes: 0, rosterBytes: 0 };
  const thread = new Thread({ role: "vectors", options });
  await expect(thread.call("mirrorStats")).rejects.toThrow();
  await Embedding.open(path, DIMENSIONS);
  expect(await thread.call("mirrorStats")).toMatchObject({ spaces: 0 });
  await thread.close();
});

/** The threads that are started from here on. */
function started(): { count: number } {
  const threads = { count: 0 };
  const count = () => threads.count++;
  process.on("worker", count);
  onTestFinished(() => void process.off("worker", count));
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
  ["changes", (store: Embedding["store"]) => store.changes([ADA], 0)],
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
