import { describe, expect, it } from "vitest";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { Unit } from "../stores/store.js";
import { FaultyStore } from "./faulty-store.js";

const SPACE = { user: "ada" };

function adding(id: string): Unit {
  const row = { id, kind: "message", content: id, metadata: {}, tier: "episodic", occurredAt: 0 } as const;
  return [{ op: "add", space: SPACE, items: [row], existing: "same" }];
}

const openInMemory = () => SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });

async function open() {
  const store = new FaultyStore(await openInMemory());
  const commit = (id: string) => store.commit([adding(id)], 0, `group of ${id}`);
  const ids = async () => {
    const request = { spaces: [SPACE], filter: {}, sortBy: "arrival", order: "asc", limit: 100, now: 0 } as const;
    return (await store.list(request)).items.map((item) => item.id);
  };
  return { store, commit, ids };
}

describe("FaultyStore", () => {
  for (const [fault, code] of [
    ["failed", "store_failed"],
    ["busy", "busy"],
  ] as const) {
    it(`fails as often as told with ${code}, and writes nothing of it`, async () => {
      const { store, commit, ids } = await open();
      await commit("a");
      store.failCommits(fault, 2);
      await expect(commit("b")).rejects.toMatchObject({ code, retryable: true });
      await expect(commit("c")).rejects.toMatchObject({ code });
      await commit("d");
      expect(await ids()).toEqual(["a", "d"]);
      expect(store.commits).toBe(4);
    });
  }

  for (const [fault, written] of [
    ["unknown, written", true],
    ["unknown, not written", false],
  ] as const) {
    it(`loses an outcome (${fault}), which a reopen brings to light`, async () => {
      const { store, commit, ids } = await open();
      await commit("a");
      store.failCommits(fault);
      await expect(commit("b")).rejects.toMatchObject({ code: "outcome_unknown", retryable: false });
      await expect(commit("c"), "no commit before a reopen").rejects.toMatchObject({ code: "store_failed" });
      await expect(store.wasCommitted("group of b"), "nor an answer").rejects.toMatchObject({ code: "store_failed" });
      await store.reopen();
      expect(await store.wasCommitted("group of b")).toBe(written);
      await commit("d");
      expect(await ids()).toEqual(written ? ["a", "b", "d"] : ["a", "d"]);
    });
  }

  it("fails in different ways in the order given", async () => {
    const { store, commit } = await open();
    store.failCommits("busy");
    store.failCommits("failed");
    await expect(commit("a")).rejects.toMatchObject({ code: "busy" });
    await expect(commit("b")).rejects.toMatchObject({ code: "store_failed" });
    await commit("c");
  });

  it("fails reopens, and stays shut until one succeeds", async () => {
    const { store, commit } = await open();
    store.failCommits("unknown, written");
    store.failReopens(2);
    await expect(commit("a")).rejects.toMatchObject({ code: "outcome_unknown" });
    for (let time = 0; time < 2; time++) {
      await expect(store.reopen()).rejects.toMatchObject({ code: "store_failed" });
      await expect(store.wasCommitted("group of a")).rejects.toMatchObject({ code: "store_failed" });
    }
    await store.reopen();
    expect(await store.wasCommitted("group of a")).toBe(true);
  });

  it("holds commits until they are released, then lets them continue in order", async () => {
    const { store, commit, ids } = await open();
    await commit("a");
    const release = store.stallCommits();
    const held = [commit("b"), commit("c")];
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ids(), "reads are not held").toEqual(["a"]);
    expect(store.heldCommits).toBe(2);
    release();
    await Promise.all([...held, commit("d")]);
    expect(await ids()).toEqual(["a", "b", "c", "d"]);
    expect(store.heldCommits).toBe(0);
  });

  it("fails searches and reads of pending items as often as configured", async () => {
    const { store, commit } = await open();
    await commit("a");
    const hints = { refersBack: false, dates: [], recency: 0, askedAt: 0 };
    const request = { spaces: [SPACE], terms: ["a"], lookups: [], filter: {}, hints, limit: 10, now: 0 };
    const search = () => store.search(request);
    const pending = () => store.pending({ lanes: [{ lane: { space: SPACE } }], limit: 10, maxBytes: 100, now: 0 });
    store.failReads(2);
    for (const read of [search, pending]) {
      await expect(read()).rejects.toMatchObject({ code: "store_failed", retryable: true });
    }
    expect([await search(), await pending()]).toMatchObject([{ found: [{ id: "a" }] }, { items: [{ id: "a" }] }]);
  });

  it("holds commits until every stall is released", async () => {
    const { store, commit, ids } = await open();
    const [first, second] = [store.stallCommits(), store.stallCommits()];
    const held = commit("a");
    second();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ids()).toEqual([]);
    first();
    await held;
    expect(await ids()).toEqual(["a"]);
  });
});
