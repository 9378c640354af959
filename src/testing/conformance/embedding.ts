/**
 * Writing vectors: only if nothing has changed since they were computed, and removed with the text they were computed
 * from.
 */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, SPACE } from "./indexer.js";
import { ADA, BOB, type Probe } from "./probe.js";

const SAME_TEXT = "has another version of the same text";

export function embedding(check: Check): void {
  const changes: { readonly [what: string]: (probe: Probe) => Promise<unknown> } = {
    "was edited": (probe) => probe.update(ADA, "x", { content: "edited", parts: null }),
    "was replaced": (probe) => probe.add(ADA, [{ id: "x", content: "new" }], { session: "s", existing: "replace" }),
    [SAME_TEXT]: (probe) => probe.update(ADA, "x", { tier: "working" }),
    "was forgotten": (probe) => probe.forget({ space: ADA, ids: ["x"] }),
    "was forgotten, and another has its id, version and text": async (probe) => {
      const { content } = await probe.item(ADA, "x");
      await probe.forget({ space: ADA, ids: ["x"] });
      await probe.add(ADA, [{ id: "x", content }], { session: "s" });
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    check(`skips an item that ${what} meanwhile, and writes the others`, async (probe) => {
      const indexer = new Indexer(probe);
      await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
      const fence = await indexer.claim(LANE);
      const items = await indexer.pending(LANE);
      await change(probe);
      const version = await probe.version(ADA);
      const done = await indexer.index(
        LANE,
        fence,
        items.map((item) => embedded(item, [EAST])),
      );
      expect(done).toMatchObject({ written: [items[1]?.key], fenced: false });
      expect(await indexer.nearIds([ADA], EAST)).toEqual(["y"]);
      expect(await probe.version(ADA)).toBeGreaterThan(version);
      const isThere = (await probe.get(ADA, "x")).length > 0;
      expect(await indexer.pendingIds(LANE), "it still waits, if it is there").toEqual(isThere ? ["x"] : []);
    });

    check(`skips an item that borrowed from one that ${what} meanwhile`, async (probe) => {
      const indexer = new Indexer(probe);
      await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }], { session: "s" });
      const fence = await indexer.claim(LANE);
      const [x, y, z] = await indexer.pending(LANE);
      if (!x || !y || !z) throw new Error("nothing waits");
      await change(probe);
      const version = await probe.version(ADA);
      const { written } = await indexer.index(LANE, fence, [embedded(y, [EAST], [z, x])]);
      expect(written).toEqual([]);
      expect(await indexer.near([ADA], EAST)).toEqual([]);
      expect(await probe.version(ADA), "nothing has changed").toBe(version);
      expect(await indexer.pendingIds(LANE)).toContain("y");
    });

    if (what === SAME_TEXT) continue;
    check(`removes at once the vectors that borrowed from an item that ${what}`, async (probe) => {
      const { store } = probe;
      const indexer = new Indexer(probe);
      await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }], { session: "s" });
      const fence = await indexer.claim(LANE);
      const [x, y, z] = await indexer.pending(LANE);
      if (!x || !y || !z) throw new Error("nothing waits");
      const items = [embedded(x, [EAST]), embedded(y, [EAST, NORTH], [x]), embedded(z, [EAST], [y])];
      expect((await indexer.index(LANE, fence, items)).written).toHaveLength(3);
      expect(await indexer.nearIds([ADA], EAST)).toEqual(["z", "y", "x"]);
      const version = await probe.version(ADA);
      await change(probe);
      expect(await indexer.nearIds([ADA], EAST), "but not of whoever borrowed from the borrower").toEqual(["z"]);
      expect(await store.chunks([ADA], ["x", "y"], probe.now)).toEqual([]);
      expect(await indexer.pendingIds(LANE)).toContain("y");
      expect(await probe.item(ADA, "y")).toMatchObject({ version: 1 });
      expect(await probe.version(ADA)).toBeGreaterThan(version);
      expect(await store.indexingStats()).toMatchObject({ embedded: 1, chunks: 1 });
      const { written } = await indexer.index(LANE, fence, [embedded(y, [NORTH])]);
      expect(written, "it is embedded anew, without it").toEqual([y.key]);
      expect(await indexer.nearIds([ADA], NORTH, { limit: 1 })).toEqual(["y"]);
    });
  }

  check("keeps what was borrowed when the lender's text is unchanged", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await indexer.index(LANE, fence, [embedded(y, [EAST], [x])]);
    await probe.update(ADA, "x", { metadata: { a: 1 } });
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["y"]);
    expect(await indexer.pendingIds(LANE)).toEqual(["x"]);
    await probe.update(ADA, "x", { content: "edited", parts: null });
    expect(await indexer.near([ADA], EAST), "and not when it changes after that").toEqual([]);
  });

  check("resets borrowers when a lender is forgotten with its session or has expired", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x", expiresAt: probe.now + 1 }, { id: "y" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await indexer.index(LANE, fence, [embedded(y, [EAST], [x])]);
    probe.now += 1;
    await probe.forget({ expired: true });
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await indexer.pendingIds(LANE)).toEqual(["y"]);
    await probe.forget({ space: ADA, session: "s", entry: false });
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, embedded: 0, chunks: 0 });
  });

  check("skips items of other lanes", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await probe.add(ADA, [{ id: "out" }]);
    await probe.add(BOB, [{ id: "his" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const items = [
      await indexer.waiting(OUTSIDE, "out"),
      await indexer.waiting({ space: BOB, session: "s" }, "his"),
      await indexer.waiting(LANE, "x"),
      { key: 987_654, version: 1 },
    ].map((item) => embedded(item, [EAST]));
    expect(await indexer.index(LANE, fence, items)).toMatchObject({ written: [items[2]?.key] });
    expect(await indexer.nearIds([ADA, BOB], EAST)).toEqual(["x"]);
  });

  check("removes an item's vectors with its text, and keeps them through any other edit", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST], y: [EAST], z: [EAST] });
    await probe.update(ADA, "x", { metadata: { a: 1 } });
    await probe.update(ADA, "y", { content: "edited", parts: null });
    await probe.update(ADA, "z", { name: "Zoe" });
    expect(await indexer.near([ADA], EAST)).toMatchObject([{ id: "x", version: 2 }]);
    const [hit] = await indexer.near([ADA], EAST);
    const [item] = await probe.store.read({ spaces: [ADA], keys: [hit?.key ?? 0], filter: {}, now: probe.now });
    expect(item).toMatchObject({ id: "x", version: 2 });
  });

  check("replaces existing vectors by new ones", async (probe) => {
    const { store, now } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const item = await indexer.waiting(LANE, "x");
    await indexer.index(LANE, fence, [embedded(item, [EAST, NORTH, EAST])]);
    const again = await indexer.index(LANE, fence, [embedded(item, [NORTH])]);
    expect(again.written).toEqual([item.key]);
    expect(await indexer.near([ADA], EAST)).toMatchObject([{ id: "x", score: 0 }]);
    expect(await store.chunks([ADA], ["x"], now)).toMatchObject([{ part: 0, parts: 1 }]);
    expect(await store.indexingStats()).toMatchObject({ embedded: 1, chunks: 1, pending: 0 });
  });

  check("treats an item without any text to embed as done", async (probe) => {
    const { store, now } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x", content: "" }], { session: "s" });
    await indexer.embed(LANE, { x: [] });
    expect(await indexer.pendingIds(LANE)).toEqual([]);
    expect(await store.waiting("other", 10, now)).toEqual([]);
    expect(await probe.ids(ADA, { filter: { pending: true } })).toEqual([]);
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await store.chunks([ADA], ["x"], now)).toEqual([]);
    expect(await store.indexingStats()).toMatchObject({ pending: 0, embedded: 0, chunks: 0 });
    await probe.update(ADA, "x", { content: "text", parts: null });
    expect(await indexer.pendingIds(LANE)).toEqual(["x"]);
  });

  check("keeps the vectors of one space, the first that it was given", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    await indexer.index(LANE, fence, []);
    await indexer.index(LANE, fence, [], { vectorSpace: { ...SPACE } });
    expect(await store.indexingStats()).toMatchObject({ vectorSpace: SPACE });
    expect(await store.vectorSpace()).toEqual(SPACE);
    const item = await indexer.waiting(LANE, "x");
    for (const other of [{ model: "five" }, { runtime: "wasm" }, { dimensions: 2 }]) {
      const vectorSpace = { ...SPACE, ...other };
      const vectors = other.dimensions === undefined ? EAST : [1, 0];
      await probe.fails("vector_space", {
        op: "index",
        owner: "me",
        lane: LANE,
        fence,
        vectorSpace,
        items: [embedded(item, [vectors])],
        release: true,
      });
      expect(await indexer.near([ADA], vectors, { vectorSpace })).toEqual([]);
    }
    expect(await store.indexingStats()).toMatchObject({ vectorSpace: SPACE, pending: 1, embedded: 0 });
    await indexer.index(LANE, fence, [embedded(item, [EAST])]);
    expect(await indexer.nearIds([ADA], EAST, { vectorSpace: { ...SPACE, runtime: "wasm" } })).toEqual([]);
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["x"]);
  });

  check("takes the first vectors it gets for those of its space", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    await indexer.embed(LANE, { x: [EAST] });
    expect(await probe.store.indexingStats()).toMatchObject({ vectorSpace: SPACE });
    const other = { ...SPACE, model: "five" };
    const empty = { op: "index", owner: "me", lane: LANE, fence: await indexer.claim(LANE), items: [] } as const;
    await probe.fails("vector_space", { ...empty, vectorSpace: other, release: false });
  });

  check("refuses vectors of a wrong length, and writes nothing of them", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    for (const vectors of [[1, 0, 0], [1, 0, 0, 0, 0], []]) {
      const wrong = { ...embedded(y, [EAST]), vectors: new Float32Array(vectors) };
      const items = [embedded(x, [EAST]), wrong];
      const index = { op: "index", owner: "me", lane: LANE, fence, vectorSpace: SPACE, items, release: false } as const;
      await probe.fails("vector_space", index);
    }
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await indexer.pendingIds(LANE)).toEqual(["x", "y"]);
  });

  check("keeps its own copy of the vectors", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const item = embedded(await indexer.waiting(LANE, "x"), [EAST]);
    await indexer.index(LANE, await indexer.claim(LANE), [item]);
    item.vectors.fill(0);
    expect(await indexer.near([ADA], EAST)).toMatchObject([{ id: "x", score: 1 }]);
  });
}
