/** Two services on one store: what one does is news to the other, but not to itself. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { loadConfig } from "../config.js";
import { Memory } from "../memory.js";
import { BufferService } from "../service.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { Committed, Store } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import type { MemoryEvent } from "./event.js";

const ADA = { user: "ada" };
const BOB = { user: "bob" };

let clock: FakeClock;
let store: SqliteStore;
let mine: Memory;
let other: Memory;
let told: MemoryEvent[];

function openOn(one: Store, embedder?: HashEmbedder): Memory {
  const buffer = {
    roundBuffer: { eager: false },
    hybridBuffer: { embeddingModel: "none" },
    speculative: { maxSize: 0 },
  };
  const options = loadConfig({ code: { path: ":memory:", clock, buffer }, env: {}, file: undefined });
  return new Memory(new BufferService(one, options, { embedder }));
}

beforeEach(async () => {
  clock = new FakeClock();
  store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  [mine, other] = [openOn(store), openOn(store)];
  told = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await mine.close();
});

const say = (content: string) => [{ role: "user", content } as const];
const listen = () => mine.events.subscribe((event) => told.push(event), { spaces: [ADA] });

/** A complete poll. */
async function look(): Promise<void> {
  await turns();
  clock.advance(250);
  await turns();
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

it("reports once what another process adds, edits and removes in the watched spaces", async () => {
  const before = await other.session(ADA).add(say("before anybody listened"));
  listen();
  await look();
  expect(told).toEqual([]);
  const { ids } = await other.session(ADA).add([...say("a lamp"), ...say("a rope")]);
  await other.session(ADA).update(before.ids[0] ?? "", { content: "edited" });
  await other.session(BOB).add(say("of no interest"));
  await look();
  const edited = [...before.ids, ...ids].toSorted();
  expect(told.map((event) => ({ ...event, ids: "ids" in event ? event.ids.toSorted() : [] }))).toEqual([
    { at: clock.now(), type: "changed", space: ADA, ids: edited, removed: 0 },
  ]);
  told.length = 0;
  await other.session(ADA).delete(ids);
  await look();
  expect(told).toMatchObject([{ type: "changed", ids: [], removed: 2 }]);
  await look();
  expect(told).toHaveLength(1);
});

it("reports once what this process does, under its own type, even beside other processes", async () => {
  listen();
  await turns();
  await mine.session(ADA).add(say("mine"));
  const { ids } = await other.session(ADA).add(say("theirs"));
  const own = await mine.session(ADA).add(say("mine again"));
  await mine.session(ADA).delete(own.ids);
  await mine.session(ADA).blocks.create({ name: "persona", content: "kind" });
  await look();
  expect(told.map(({ type }) => type)).toEqual(["added", "added", "deleted", "block", "changed"]);
  expect(told.at(-1)).toMatchObject({ ids, removed: 0 });
  await mine.session(ADA).add(say("and again"));
  await mine.session(BOB).add(say("elsewhere"));
  await look();
  await look();
  expect(told.map(({ type }) => type).slice(5)).toEqual(["added"]);
});

it("does not report a commit as another's because its answer is late", async () => {
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const late = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "commit") return value.bind(target) as unknown;
      return async (...args: Parameters<Store["commit"]>): Promise<Committed> => {
        const committed = await target.commit(...args);
        await answered;
        return committed;
      };
    },
  });
  mine = openOn(late);
  listen();
  await turns();
  const adding = mine.session(ADA).add(say("committed, not answered"));
  await look();
  const meanwhile = [await store.versions([ADA]), [...told]];
  answer();
  await adding;
  expect(meanwhile).toEqual([[{ id: expect.any(String), version: 1 }], []]);
  await look();
  expect(told.map(({ type }) => type)).toEqual(["added"]);
});

it("reports that vectors were written, and that a space is gone", async () => {
  other = openOn(store, new HashEmbedder());
  await other.session(ADA).add(say("hello"));
  listen();
  await turns();
  await other.flush();
  await look();
  expect(told.splice(0)).toEqual([{ at: clock.now(), type: "changed", space: ADA, ids: [], removed: 0 }]);
  await other.forget(ADA);
  await look();
  expect(told).toMatchObject([{ type: "changed", ids: [], gone: true }]);
});

it.each([
  ["forgets", () => mine.forget(ADA), "forgotten"],
  ["renames", () => mine.users.rename("ada", "lovelace"), "renamed"],
] as const)("does not report a space as gone that this process %s itself", async (_, act, type) => {
  await other.session(ADA).add(say("hello"));
  listen();
  await turns();
  await act();
  await look();
  await look();
  expect(told.map((event) => event.type)).toEqual([type]);
  await other.session(ADA).add(say("back again"));
  await look();
  expect(told.at(-1)).toMatchObject({ type: "changed", space: ADA, ids: [expect.any(String)] });
});

it("reports no commits of other processes to a listener without spaces, and does not query the store", async () => {
  const asked = [vi.spyOn(store, "versions"), vi.spyOn(store, "changes")];
  mine.events.subscribe((event) => told.push(event));
  await other.session(ADA).add(say("theirs"));
  await look();
  expect([told, ...asked.map(({ mock }) => mock.calls.length)]).toEqual([[], 0, 0]);
});

it("continues after a failed poll without missing a change", async () => {
  listen();
  await turns();
  const error = await closedError();
  const { ids } = await other.session(ADA).add(say("hello"));
  const failing = vi.spyOn(store, "changes").mockRejectedValueOnce(error).mockRejectedValueOnce(error);
  await look();
  await look();
  expect([failing.mock.calls.length, told]).toEqual([2, []]);
  await look();
  expect(told).toMatchObject([{ type: "changed", ids }]);
});

it("begins with the first look if it could not when it was asked to", async () => {
  await other.session(ADA).add(say("before anybody listened"));
  vi.spyOn(store, "versions").mockRejectedValueOnce(await closedError());
  listen();
  await look();
  expect(told).toEqual([]);
  const { ids } = await other.session(ADA).add(say("hello"));
  await look();
  expect(told).toMatchObject([{ type: "changed", ids }]);
});

/** As a store rejects. */
async function closedError(): Promise<unknown> {
  const closed = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  await closed.close();
  return closed.versions([ADA]).catch((error: unknown) => error);
}
