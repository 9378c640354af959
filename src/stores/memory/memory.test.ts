import { describe, expect, it } from "vitest";
import { type OpenedStore, storeConformance } from "../../testing/store-conformance.js";
import { storeModel } from "../../testing/store-model.js";
import type { Unit } from "../store.js";
import { MemoryStore, type MemoryStoreOptions } from "./memory-store.js";

const SPACE = { user: "ada" };

function opening(options?: MemoryStoreOptions): () => Promise<OpenedStore> {
  return async () => {
    const store = new MemoryStore(options);
    return { store, close: () => store.close() };
  };
}

function adding(...ids: string[]): Unit {
  const row = { kind: "message", content: "lamp", metadata: {}, tier: "episodic", occurredAt: 0 } as const;
  return [{ op: "add", space: SPACE, items: ids.map((id) => ({ ...row, id })), existing: "same" }];
}

const forgetting = (...ids: string[]): Unit => [{ op: "forget", target: { space: SPACE, ids } }];

storeConformance({ name: "MemoryStore", open: opening() });
storeConformance({ name: "MemoryStore in small slices", open: opening({ forgetMax: 2 }) });
storeModel({ name: "MemoryStore", open: opening(), runs: 200 });
storeModel({ name: "MemoryStore in small slices", open: opening({ forgetMax: 2 }), runs: 100 });

describe("MemoryStore", () => {
  it("forgets at most `forgetMax` items at once", async () => {
    const store = new MemoryStore({ forgetMax: 2 });
    await store.commit([adding("a", "b", "c")], 0, "1");
    const forget: Unit = [{ op: "forget", target: { space: SPACE, entry: true } }];
    const first = await store.commit([forget], 0, "2");
    expect(first.outcomes).toMatchObject([{ done: [{ items: 2, entries: 0, remaining: true }] }]);
    expect(await store.stats()).toMatchObject({ items: 1 });
    const second = await store.commit([forget], 0, "3");
    expect(second.outcomes).toMatchObject([{ done: [{ items: 1, entries: 1, remaining: false }] }]);
    expect(await store.versions([SPACE])).toEqual([0]);
  });

  it("remembers at most `removalsMax` removals, and says from where on it cannot tell", async () => {
    const store = new MemoryStore({ removalsMax: 2 });
    await store.commit([adding("a", "b", "c", "d")], 0, "1");
    for (const id of ["a", "b", "c"]) await store.commit([forgetting(id)], 0, id);
    expect(await store.changes([SPACE], 1)).toMatchObject({ complete: false });
    expect(await store.changes([SPACE], 2)).toMatchObject({ complete: true, removed: 2 });
    expect(await store.changes([SPACE], 3)).toMatchObject({ complete: true, removed: 1 });
  });

  it("has nothing on any medium", async () => {
    const store = new MemoryStore();
    await store.commit([adding("a")], 0, "1");
    await store.commit([forgetting("a")], 0, "2");
    expect(await store.purge()).toEqual({ purged: true, left: [] });
    expect(await store.stats()).toMatchObject({ bytes: 0 });
  });

  it("drops old answers to retries in its housekeeping", async () => {
    const store = new MemoryStore();
    const [add] = adding("a");
    if (add?.op !== "add") throw new Error("not an add");
    const keyed: Unit = [{ ...add, idempotency: { key: "k", hash: "h" } }];
    await store.commit([keyed], 0, "1");
    await store.commit([forgetting("a")], 0, "2");
    await store.maintain(7 * 24 * 60 * 60 * 1000);
    const again = await store.commit([keyed], 0, "3");
    expect(again.outcomes, "even by a clock that was set back").toMatchObject([{ done: [{ repeated: false }] }]);
  });

  it("undoes a unit that breaks in an unforeseen way, and says so", async () => {
    const store = new MemoryStore();
    const broken = { op: "add", space: SPACE, items: [null], existing: "same" } as unknown as Unit[number];
    const { commit, outcomes } = await store.commit([[...adding("a"), broken], adding("b")], 0, "1");
    expect(outcomes).toMatchObject([{ ok: false, error: { code: "store_failed" } }, { ok: true }]);
    expect(commit).toBe(1);
    expect(await store.get([SPACE], ["a", "b"], 0)).toMatchObject([{ id: "b" }]);
  });
});
