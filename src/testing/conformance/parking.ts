/** Parking: items that cannot be embedded are set aside visibly, and block nothing. */
import { expect } from "vitest";
import type { ParkedItem, ReplayWrite } from "../../stores/indexing.js";
import type { Check } from "./check.js";
import { EAST, embedded, Indexer, LANE, OUTSIDE } from "./indexer.js";
import { ADA, BOB, DAY, type DoneOf, type Probe, SECOND, START } from "./probe.js";

export function parking(check: Check): void {
  check("parks items: they neither wait nor are in the tail, but are listed and counted", async (probe) => {
    const { store, now } = probe;
    const { indexer, fence } = await start(probe);
    const version = await probe.version(ADA);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    const done = await indexer.park(LANE, fence, [x], { error: "too long", retryAt: START + SECOND });
    expect(done).toEqual({ op: "park", parked: 1, fenced: false });
    expect(await indexer.pendingIds(LANE)).toEqual(["y"]);
    expect(await store.waiting("me", 10, now)).toMatchObject([{ items: 1, newest: y.key }]);
    const tail = await store.tail({ spaces: [ADA], filter: {}, limit: 10, now });
    expect(tail).toMatchObject({ items: [{ id: "y" }], more: false });
    expect(await parked(probe)).toStrictEqual([
      {
        space: ADA,
        session: "s",
        id: "x",
        version: 1,
        attempts: 1,
        error: "too long",
        parkedAt: START,
        retryAt: START + SECOND,
      },
    ]);
    expect(await probe.ids(ADA, { filter: { pending: true } }), "it is still pending").toEqual(["x", "y"]);
    expect(await store.indexingStats()).toMatchObject({ pending: 1, parked: 1 });
    expect((await probe.found(ADA, "x"))[0], "words find it all the same").toBe("x");
    expect(await probe.version(ADA), "no answer has changed").toBe(version);
    await indexer.park(LANE, fence, [y]);
    expect(await store.waiting("me", 10, now)).toEqual([]);
    expect((await parked(probe))[1]).not.toHaveProperty("retryAt");
  });

  check("says of each listed item whether it is embedded, if asked", async (probe) => {
    const { indexer, fence } = await start(probe);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await probe.add(ADA, [{ id: "z" }], { session: "s" });
    const states = async () =>
      (await probe.list(ADA, { embedding: true })).map(({ id, embedding }) => [id, embedding] as const);
    await indexer.park(LANE, fence, [x], { error: "too long", retryAt: START + SECOND });
    await indexer.index(LANE, fence, [embedded(y, [EAST])]);
    const parkedX = { state: "parked", error: "too long", attempts: 1, retryAt: START + SECOND };
    expect(await states()).toStrictEqual([
      ["x", parkedX],
      ["y", { state: "stored" }],
      ["z", { state: "waiting" }],
    ]);
    expect((await probe.list(ADA, { embedding: true, limit: 1, order: "desc" }))[0]?.id).toBe("z");
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await probe.update(ADA, "y", { content: "edited", parts: null });
    expect((await states()).map(([, embedding]) => embedding?.state)).toEqual(["waiting", "waiting", "waiting"]);
    expect((await probe.list(ADA))[0], "only if asked").not.toHaveProperty("embedding");
  });

  check("parks only items that are unchanged", async (probe) => {
    const { indexer, fence } = await start(probe);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await probe.add(ADA, [{ id: "out" }]);
    const out = await indexer.waiting(OUTSIDE, "out");
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await indexer.index(LANE, fence, [embedded(y, [EAST])]);
    const done = await indexer.park(LANE, fence, [x, y, out, { key: 987_654, version: 1 }]);
    expect(done, "edited, embedded, elsewhere, not there").toMatchObject({ parked: 0, fenced: false });
    expect(await parked(probe)).toEqual([]);
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["y"]);
  });

  check("retries what is due, and counts the attempts", async (probe) => {
    const { indexer, fence } = await start(probe);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await indexer.park(LANE, fence, [x], { retryAt: START + SECOND });
    await indexer.park(LANE, fence, [y]);
    const due = { due: true } as const;
    expect(await replay(probe, due)).toBe(0);
    probe.now = START + SECOND - 1;
    expect(await replay(probe, due)).toBe(0);
    probe.now = START + SECOND;
    expect(await replay(probe, due)).toBe(1);
    expect(await indexer.pending(LANE), "only with a time to retry").toEqual([x]);
    expect((await parked(probe)).map(({ id }) => id)).toEqual(["y"]);
    await indexer.park(LANE, fence, [x], { error: "still too long", retryAt: START + DAY });
    expect((await parked(probe))[0]).toMatchObject({ attempts: 2, error: "still too long", parkedAt: START + SECOND });
    probe.now = START + DAY;
    await replay(probe, due);
    await indexer.park(LANE, fence, [x]);
    expect((await parked(probe))[0]).toMatchObject({ attempts: 3 });
    expect((await parked(probe))[0], "the time to retry was another attempt's").not.toHaveProperty("retryAt");
  });

  check("retries at once what was parked in the future of a clock that was set back", async (probe) => {
    const { indexer, fence } = await start(probe);
    probe.now = START + DAY;
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    await indexer.park(LANE, fence, [x], { retryAt: START + DAY + SECOND });
    await indexer.park(LANE, fence, [y]);
    probe.now = START;
    expect(await replay(probe, { due: true })).toBe(1);
    expect(await indexer.pendingIds(LANE)).toEqual(["x"]);
  });

  check("replays on request what a space has parked, or some of it, and resets the count", async (probe) => {
    const { indexer, fence } = await start(probe);
    await probe.add(ADA, [{ id: "z" }], { session: "s" });
    await probe.add(BOB, [{ id: "x" }]);
    await indexer.park(LANE, fence, await indexer.pending(LANE), { retryAt: START + DAY });
    const his = await indexer.claim({ space: BOB });
    await indexer.park({ space: BOB }, his, await indexer.pending({ space: BOB }));
    expect(await replay(probe, { space: ADA, ids: ["y", "not there"] })).toBe(1);
    expect(await indexer.pendingIds(LANE)).toEqual(["y"]);
    await indexer.park(LANE, fence, await indexer.pending(LANE));
    expect(await parked(probe)).toMatchObject([{ id: "x" }, { id: "y", attempts: 1 }, { id: "z" }]);
    expect(await replay(probe, { space: ADA })).toBe(3);
    expect(await indexer.pendingIds(LANE)).toEqual(["x", "y", "z"]);
    expect(await parked(probe)).toEqual([]);
    expect(await parked(probe, [BOB]), "another's stay").toHaveLength(1);
    expect(await replay(probe, { space: { team: "none" } })).toBe(0);
  });

  check("lists parked items page by page, in the order in which they were added", async (probe) => {
    const indexer = new Indexer(probe);
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await probe.add(ADA, [{ id }], id < "c" ? { session: "s" } : {});
    await probe.add(BOB, [{ id: "his" }]);
    for (const lane of [OUTSIDE, { space: BOB }, LANE]) {
      const items = (await indexer.pending(lane)).toReversed();
      for (const item of items) await indexer.park(lane, await indexer.claim(lane), [item]);
    }
    const pages: (readonly string[])[] = [];
    for (let cursor: string | undefined; ; ) {
      const request = { spaces: [ADA], limit: 2, now: probe.now, ...(cursor !== undefined && { cursor }) };
      const page = await probe.store.parked(request);
      pages.push(page.items.map(({ id }) => id));
      if (page.next === undefined) break;
      cursor = page.next;
      expect(pages.length).toBeLessThan(10);
    }
    expect(pages).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect((await parked(probe, [BOB, ADA])).map(({ id }) => id)).toEqual([...ids, "his"]);
    expect((await parked(probe))[2]).not.toHaveProperty("session");
    expect(await parked(probe, [])).toEqual([]);
  });

  check("makes an item pending again when its text is edited, and resets the count", async (probe) => {
    const { indexer, fence } = await start(probe);
    const [x] = await indexer.pending(LANE);
    if (!x) throw new Error("nothing waits");
    await indexer.park(LANE, fence, [x], { retryAt: START });
    await replay(probe, { due: true });
    await indexer.park(LANE, fence, [x]);
    await probe.update(ADA, "x", { content: "shorter", parts: null });
    expect(await parked(probe)).toEqual([]);
    const edited = await indexer.waiting(LANE, "x");
    await indexer.park(LANE, fence, [edited]);
    expect(await parked(probe)).toMatchObject([{ id: "x", version: 2, attempts: 1 }]);
  });

  check("makes an item pending again when anything else of it is edited", async (probe) => {
    const { indexer, fence } = await start(probe);
    const [x] = await indexer.pending(LANE);
    if (!x) throw new Error("nothing waits");
    await indexer.park(LANE, fence, [x]);
    await probe.update(ADA, "x", { metadata: { a: 1 } });
    expect(await parked(probe)).toEqual([]);
    expect(await indexer.waiting(LANE, "x")).toMatchObject({ version: 2 });
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 2, parked: 0 });
  });

  check("has nothing parked that was embedded, forgotten or has expired", async (probe) => {
    const { indexer, fence } = await start(probe);
    await probe.add(ADA, [{ id: "late", expiresAt: START + SECOND }], { session: "s" });
    const [x, y, late] = await indexer.pending(LANE);
    if (!x || !y || !late) throw new Error("nothing waits");
    await indexer.park(LANE, fence, [x, y, late]);
    expect((await indexer.index(LANE, fence, [embedded(x, [EAST])])).written, "late, but good").toEqual([x.key]);
    expect((await parked(probe)).map(({ id }) => id)).toEqual(["y", "late"]);
    probe.now = START + SECOND;
    expect((await parked(probe)).map(({ id }) => id)).toEqual(["y"]);
    await probe.forget({ space: ADA, ids: ["y"] });
    expect(await parked(probe)).toEqual([]);
    await probe.forget({ expired: true });
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, parked: 0, embedded: 1 });
  });
}

async function start(probe: Probe): Promise<{ readonly indexer: Indexer; readonly fence: number }> {
  const indexer = new Indexer(probe);
  await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
  return { indexer, fence: await indexer.claim(LANE) };
}

async function parked(probe: Probe, spaces = [ADA]): Promise<readonly ParkedItem[]> {
  return (await probe.store.parked({ spaces, limit: 100, now: probe.now })).items;
}

/** Replays slice by slice; returns the number of items. */
async function replay(probe: Probe, which: ReplayWrite["which"]): Promise<number> {
  for (let sum = 0, slices = 1; ; slices++) {
    const [done] = await probe.unit({ op: "replay", which });
    const { replayed, remaining } = done as DoneOf<"replay">;
    sum += replayed;
    if (!remaining) return sum;
    expect(replayed, "a slice with more to come takes something up").toBeGreaterThan(0);
    expect(slices, "a replay comes to its end").toBeLessThan(10_000);
  }
}
