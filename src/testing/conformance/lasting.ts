/** What of indexing outlives a handle: everything, and another process continues where this one stopped. */
import { expect } from "vitest";
import { OUTBOX } from "../../stores/indexing.js";
import type { Check, CheckPersistent } from "./check.js";
import { EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, SPACE } from "./indexer.js";
import { Mirror } from "./mirror.js";
import { ADA, BOB, type Probe, SECOND, START } from "./probe.js";

export function lasting(check: Check, checkPersistent: CheckPersistent): void {
  check("continues after a reopen in place where it was", async (probe) => {
    const indexer = await fill(probe);
    const before = await readAll(probe);
    await probe.store.reopen();
    expect(await readAll(probe)).toEqual(before);
    expect(await indexer.beat(), "owners do not end with a connection").toBe(true);
  });

  checkPersistent("finds everything after close and open", async (probe, reopen) => {
    const indexer = await fill(probe);
    const fences = await indexer.claims([LANE, OUTBOX]);
    const before = await readAll(probe);
    await probe.store.close();
    const second = probe.on(await reopen());
    try {
      expect(await readAll(second)).toEqual(before);
      const again = new Indexer(second);
      expect(await again.claims([LANE, OUTBOX]), "leases keep their fences").toEqual(fences);
      const mirror = new Mirror();
      await mirror.drain(again);
      await mirror.expectItems(again, [ADA], ["x", "y"]);
      const empty = { op: "index", owner: "me", lane: LANE, fence: 0, items: [], release: false } as const;
      await second.fails("vector_space", { ...empty, vectorSpace: { ...SPACE, model: "five" } });
      await second.fails("conflict", { op: "attach", index: "another" });
      await second.unit({ op: "replay", which: { space: ADA } });
      expect(await again.pendingIds(OUTSIDE)).toEqual(["p"]);
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("lets another handle take over, and fences the first one off", async (probe, reopen) => {
    const me = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const second = probe.on(await reopen());
    try {
      const other = new Indexer(second, "other");
      const fence = await me.claim(LANE);
      const item = await other.waiting(LANE, "x");
      const [denied] = await other.claims([LANE]);
      if (!denied || !("holder" in denied)) throw new Error("the lane has no holder");
      expect(await second.store.waiting("other", 10, second.now)).toMatchObject([denied]);
      const [taken] = await other.claims([LANE], [{ owner: "me", beat: denied.holder.beat }]);
      if (!taken || !("fence" in taken)) throw new Error("the lane was not given");
      expect(taken.fence).toBeGreaterThan(fence);
      expect(await me.index(LANE, fence, [embedded(item, [EAST])])).toMatchObject({ written: [], fenced: true });
      expect(await me.beat()).toBe(false);
      const done = await other.index(LANE, taken.fence, [embedded(item, [NORTH])], { release: true });
      expect(done).toMatchObject({ written: [item.key], released: true });
      expect(await me.near([ADA], NORTH)).toMatchObject([{ id: "x", score: 1 }]);
      expect(await probe.version(ADA)).toBe(await second.version(ADA));
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("lets no stale vector through between two handles", async (probe, reopen) => {
    const me = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await probe.unit({ op: "attach", index: "remote" });
    const second = probe.on(await reopen());
    try {
      const fence = await me.claim(LANE);
      const [x, y] = await me.pending(LANE);
      if (!x || !y) throw new Error("nothing waits");
      await second.update(ADA, "x", { content: "edited", parts: null });
      const items = [embedded(x, [EAST]), embedded(y, [EAST])];
      expect(await me.index(LANE, fence, items)).toMatchObject({ written: [y.key] });
      expect(await second.store.outbox(10, 1000, second.now), "attached for every process").toMatchObject([
        { key: y.key, change: { kind: "upsert" } },
      ]);
      await second.update(ADA, "y", { content: "edited", parts: null });
      expect(await me.near([ADA], EAST)).toEqual([]);
      expect(await me.pendingIds(LANE)).toEqual(["x", "y"]);
    } finally {
      await second.store.close();
    }
  });
}

/** One of each: pending, embedded, borrowed, parked, leased, queued, and failed. */
async function fill(probe: Probe): Promise<Indexer> {
  const indexer = new Indexer(probe);
  await probe.unit({ op: "attach", index: "remote" });
  await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "w" }], { session: "s" });
  await probe.add(ADA, [{ id: "p" }]);
  const fence = await indexer.claim(LANE);
  const [x, y] = await indexer.pending(LANE);
  const [p] = await indexer.pending(OUTSIDE);
  if (!x || !y || !p) throw new Error("nothing waits");
  await indexer.index(LANE, fence, [embedded(x, [EAST]), embedded(y, [NORTH, EAST], [x])]);
  await indexer.park(OUTSIDE, await indexer.claim(OUTSIDE), [p], { retryAt: START + SECOND });
  const [row] = await probe.store.outbox(1, 1000, probe.now);
  const failed = [{ sequence: row?.sequence ?? 0, error: "refused", retryAt: START }];
  await probe.unit({ op: "acknowledge", owner: "me", fence: await indexer.claim(OUTBOX), sent: [], failed });
  return indexer;
}

async function readAll(probe: Probe) {
  const { store, now } = probe;
  const indexer = new Indexer(probe, "reader");
  return {
    waiting: await store.waiting("reader", 10, now),
    pending: await indexer.pending(LANE),
    hits: await indexer.near([ADA, BOB], NORTH),
    chunks: await store.chunks([ADA], ["x", "y"], now),
    parked: await store.parked({ spaces: [ADA], limit: 10, now }),
    outbox: await store.outbox(10, 1000, now),
    stats: await store.indexingStats(),
  };
}
