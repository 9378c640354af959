/**
 * Re-embedding for another model: the old vectors are used until the new ones are complete, and nothing is lost
 * meanwhile.
 */
import { expect } from "vitest";
import type { Check, CheckPersistent } from "./check.js";
import { EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, SPACE, UP } from "./indexer.js";
import { ADA, BOB, DAY, type Probe, SECOND } from "./probe.js";
import { NEXT, Reindexer } from "./reindexer.js";

const OF_NEXT = { vectorSpace: NEXT };

export function reindexing(check: Check, checkPersistent: CheckPersistent): void {
  check("uses the old vectors until the switch, and the new ones afterwards", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    expect(await reindexer.progress()).toEqual({ embedded: 0, remaining: 4, refused: 0 });
    expect(await reindexer.fill(NORTH, { empty: [] })).toEqual(["x", "y", "empty", "z"]);
    expect(await reindexer.progress()).toEqual({ embedded: 4, remaining: 0, refused: 0 });
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["y", "x"]);
    expect(await indexer.near([ADA], NORTH, OF_NEXT), "nobody sees the next space").toEqual([]);
    expect(await probe.store.chunks([ADA], ["x"], probe.now)).toHaveLength(2);
    expect(await probe.store.indexingStats()).toMatchObject({ embedded: 3, chunks: 4, vectorSpace: SPACE });
    const before = [await probe.version(ADA), await probe.version(BOB)] as const;
    expect(await reindexer.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await indexer.near([ADA], EAST), "the old ones are gone").toEqual([]);
    expect(await indexer.nearIds([ADA], NORTH, OF_NEXT)).toEqual(["y", "x"]);
    expect(await indexer.near([ADA], NORTH, OF_NEXT)).toMatchObject([{ score: 1 }, { score: 1 }]);
    expect(await probe.store.chunks([ADA], ["x"], probe.now)).toHaveLength(1);
    expect(await probe.version(ADA), "answers change").toBeGreaterThan(before[0]);
    expect(await probe.version(BOB)).toBeGreaterThan(before[1]);
    expect(await probe.store.vectorSpace()).toEqual(NEXT);
    const stats = await probe.store.indexingStats();
    expect(stats).toMatchObject({ embedded: 3, chunks: 3, pending: 0, parked: 0, vectorSpace: NEXT });
    expect(stats).not.toHaveProperty("next");
    expect(await reindexer.switch(), "once more does no harm").toBe(true);
    expect(await reindexer.begin(), "there is nothing to do").toBe(true);
  });

  check("refuses vectors of the old model after the switch, and writes nothing of them", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await probe.add(ADA, [{ id: "late" }], { session: "s" });
    const [fence, late] = [await indexer.claim(LANE), await indexer.waiting(LANE, "late")];
    await reindexer.fill(NORTH);
    await reindexer.switch();
    const write = {
      op: "index",
      owner: "me",
      lane: LANE,
      fence,
      items: [embedded(late, [EAST])],
      release: false,
    } as const;
    await probe.fails("vector_space", { ...write, vectorSpace: SPACE });
    await probe.fails("vector_space", { ...write, items: [], vectorSpace: SPACE });
    await probe.unit({ ...write, items: [], vectorSpace: NEXT });
    expect((await indexer.near([ADA], EAST, OF_NEXT)).map(({ score }) => score)).toEqual([0, 0, 0, 0]);
    await probe.add(ADA, [{ id: "later" }], { session: "s" });
    const later = await indexer.waiting(LANE, "later");
    expect(await indexer.index(LANE, fence, [embedded(later, [UP])], OF_NEXT)).toMatchObject({ written: [later.key] });
    expect(await indexer.near([ADA], UP, { ...OF_NEXT, limit: 1 })).toMatchObject([{ id: "later", score: 1 }]);
  });

  check("returns missing items in slices, and continues where it ended", async (probe) => {
    const { reindexer } = await start(probe);
    const first = await reindexer.missing(2);
    expect(first.items.map(({ id }) => id)).toEqual(["x", "y"]);
    expect(first.items[0]).toMatchObject({ lane: LANE, version: 1, content: "x" });
    await reindexer.write(
      first,
      first.items.map((item) => embedded(item, [NORTH])),
    );
    expect(await reindexer.begin()).toBe(false);
    expect(await reindexer.progress()).toEqual({ embedded: 2, remaining: 2, refused: 0 });
    expect((await reindexer.missing(1)).items.map(({ id }) => id)).toEqual(["empty"]);
    expect(
      (await reindexer.missing(1000, 1)).items.map(({ id }) => id),
      "one at least",
    ).toEqual(["empty", "z"]);
    expect(await reindexer.switch(), "not while something is missing").toBe(false);
    const again = await reindexer.write(
      first,
      first.items.map((item) => embedded(item, [UP])),
    );
    expect(again, "what is there is not written twice").toMatchObject({ written: [], next: { embedded: 2 } });
    await reindexer.fill(NORTH);
    expect(await reindexer.missing()).toMatchObject({ items: [] });
    expect(await reindexer.switch()).toBe(true);
  });

  check("returns items again that were read but not written", async (probe) => {
    const { reindexer } = await start(probe);
    const told = await reindexer.missing();
    await reindexer.write(told, [embedded(await reindexer.item("y"), [NORTH])]);
    expect(await reindexer.missingIds()).toEqual(["x", "empty", "z"]);
    expect(await reindexer.switch()).toBe(false);
  });

  check("allows one at a time, until it is abandoned", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await reindexer.fill(NORTH);
    const third = new Reindexer(probe, { ...NEXT, model: "third" });
    await probe.fails("conflict", { op: "begin_reindex", vectorSpace: third.vectorSpace });
    await probe.fails("conflict", { op: "begin_reindex", vectorSpace: SPACE });
    await probe.fails("conflict", { op: "switch_space", vectorSpace: third.vectorSpace, missingMax: 0 });
    expect(await third.missingIds(), "not its business").toEqual([]);
    expect(await third.abandon()).toBe(true);
    expect(await third.abandon(), "there is none").toBe(false);
    expect(await reindexer.progress()).toBeUndefined();
    await probe.fails("conflict", { op: "switch_space", vectorSpace: NEXT, missingMax: 0 });
    const range = { after: 0, upTo: 0 };
    await probe.fails("conflict", { op: "reindex", vectorSpace: NEXT, range, items: [], refused: [] });
    await probe.store.maintain(probe.now);
    expect(await indexer.nearIds([ADA], EAST), "the old ones serve on").toEqual(["y", "x"]);
    expect(await third.begin()).toBe(false);
    expect(await third.missingIds(), "from the beginning").toEqual(["x", "y", "empty", "z"]);
    await third.fill(UP);
    expect(await third.switch()).toBe(true);
    expect(await indexer.nearIds([ADA], UP, { vectorSpace: third.vectorSpace })).toEqual(["empty", "y", "x"]);
  });

  check("corrects what was edited, added or forgotten meanwhile before the switch", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await reindexer.fill(NORTH);
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await probe.update(ADA, "y", { tier: "working" });
    await probe.forget({ space: BOB, ids: ["z"] });
    await probe.add(BOB, [{ id: "new" }]);
    expect(await reindexer.progress()).toEqual({ embedded: 2, remaining: 2, refused: 0 });
    expect(await reindexer.switch()).toBe(false);
    expect(await reindexer.missingIds()).toEqual(expect.arrayContaining(["x", "new"]));
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await reindexer.missingIds()).toEqual(["new"]);
    await reindexer.fill(UP);
    expect(await reindexer.progress()).toEqual({ embedded: 3, remaining: 0, refused: 0 });
    expect(await reindexer.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await indexer.nearIds([ADA], NORTH, OF_NEXT)).toEqual(["empty", "y"]);
    expect(await indexer.nearIds([BOB], UP, OF_NEXT)).toEqual(["new"]);
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, embedded: 3, chunks: 3 });
  });

  check("skips vectors of text that has changed since it was read", async (probe) => {
    const { reindexer } = await start(probe);
    const told = await reindexer.missing();
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await probe.forget({ space: ADA, ids: ["y"] });
    const { written, next } = await reindexer.write(
      told,
      told.items.map((item) => embedded(item, [NORTH])),
    );
    expect(written).toHaveLength(2);
    expect(next).toMatchObject({ embedded: 2, remaining: 1 });
    expect(await reindexer.missing()).toMatchObject({ items: [{ id: "x", version: 2, content: "edited" }] });
  });

  check("drops the new vectors of items that borrowed edited or forgotten text", async (probe) => {
    const { reindexer } = await start(probe);
    const told = await reindexer.missing();
    const [x, y, empty] = [await reindexer.item("x"), await reindexer.item("y"), await reindexer.item("empty")];
    await reindexer.write(told, [embedded(x, [NORTH]), embedded(y, [NORTH], [x]), embedded(empty, [UP], [y])]);
    expect(await reindexer.missingIds()).toEqual(["z"]);
    await probe.update(ADA, "x", { content: "edited", parts: null });
    expect(await reindexer.missingIds()).toEqual(expect.arrayContaining(["x", "y", "z"]));
    await reindexer.fill(NORTH);
    await probe.forget({ space: ADA, ids: ["y"] });
    expect(await reindexer.missingIds(), "it had borrowed, too").toEqual(["empty"]);
    const stale = await reindexer.missing();
    await probe.update(ADA, "x", { content: "edited again", parts: null });
    const borrower = embedded(await reindexer.item("empty"), [UP], [{ key: x.key, version: 2 }]);
    expect(await reindexer.write(stale, [borrower]), "of old text").toMatchObject({ written: [] });
  });

  check("distinguishes old and new vectors of borrowers", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a" }, { id: "b" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const [a, b] = [await indexer.waiting(LANE, "a"), await indexer.waiting(LANE, "b")];
    await indexer.index(LANE, fence, [embedded(a, [EAST])]);
    const reindexer = new Reindexer(probe);
    await reindexer.begin();
    await reindexer.write(await reindexer.missing(), [embedded(a, [NORTH]), embedded(b, [NORTH], [a])]);
    await indexer.index(LANE, fence, [embedded(b, [EAST])]); // the old model's borrows nothing
    await probe.update(ADA, "a", { content: "edited", parts: null });
    expect(await reindexer.missingIds()).toEqual(["a", "b"]);
    expect(await reindexer.switch()).toBe(false);
  });

  check("parks what the new model refuses, with the switch", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    const told = await reindexer.missing();
    const [x, y] = [await reindexer.item("x"), await reindexer.item("y")];
    const rest = told.items.filter(({ id }) => id !== "x" && id !== "y").map((item) => embedded(item, [NORTH]));
    const retryAt = probe.now + SECOND;
    const refused = [
      { ...keyOf(x), error: "too long" },
      { ...keyOf(y), error: "failed", retryAt },
    ];
    await reindexer.write(told, rest, refused);
    expect(await reindexer.progress()).toEqual({ embedded: 2, remaining: 0, refused: 2 });
    expect(await reindexer.missingIds()).toEqual([]);
    expect(await probe.store.indexingStats(), "not yet").toMatchObject({ parked: 0 });
    expect(await reindexer.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, parked: 2, embedded: 2 });
    const request = { spaces: [ADA], limit: 10, now: probe.now };
    expect((await probe.store.parked(request)).items).toEqual([
      expect.objectContaining({ id: "x", version: 1, attempts: 1, error: "too long", parkedAt: probe.now }),
      expect.objectContaining({ id: "y", error: "failed", retryAt }),
    ]);
    await probe.unit({ op: "replay", which: { space: ADA } });
    expect(await indexer.pendingIds(LANE)).toEqual(["x", "y"]);
  });

  check(
    "takes up what was refused when its text is another, and nothing that is out of date is refused",
    async (probe) => {
      const { reindexer } = await start(probe);
      const told = await reindexer.missing();
      const [x, y] = [await reindexer.item("x"), await reindexer.item("y")];
      await probe.update(ADA, "y", { content: "edited", parts: null });
      const rest = told.items.filter(({ id }) => id !== "x" && id !== "y").map((item) => embedded(item, [NORTH]));
      await reindexer.write(told, rest, [
        { ...keyOf(x), error: "too long" },
        { ...keyOf(y), error: "too long" },
      ]);
      expect(await reindexer.missingIds()).toEqual(["y"]);
      await probe.update(ADA, "x", { content: "short", parts: null });
      expect(await reindexer.missingIds()).toEqual(["x", "y"]);
      await reindexer.fill(UP);
      expect(await reindexer.switch()).toBe(true);
      expect(await probe.store.indexingStats()).toMatchObject({ parked: 0 });
    },
  );

  check("makes pending what waited or was parked, only if the new space does not have it either", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await probe.add(ADA, [{ id: "waits" }, { id: "parked" }, { id: "refused" }], { session: "s" });
    const [fence, parked] = [await indexer.claim(LANE), await indexer.waiting(LANE, "parked")];
    const refused = await indexer.waiting(LANE, "refused");
    await indexer.park(LANE, fence, [parked, refused]);
    await reindexer.write(await reindexer.missing(), [], [{ ...keyOf(refused), error: "refused here too" }]);
    await reindexer.fill(NORTH);
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 1, parked: 2 });
    expect(await reindexer.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, parked: 1, embedded: 6 });
    const { items } = await probe.store.parked({ spaces: [ADA], limit: 10, now: probe.now });
    expect(items).toMatchObject([{ id: "refused", error: "refused here too", attempts: 1 }]);
    expect(await indexer.nearIds([ADA], NORTH, OF_NEXT)).toEqual(["parked", "waits", "empty", "y", "x"]);
    await probe.update(ADA, "waits", { content: "edited", parts: null });
    expect(await indexer.pendingIds(LANE)).toEqual(["waits"]);
  });

  check("switches with a few missing if allowed: they stay pending as if added afterwards", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await reindexer.fill(NORTH);
    await probe.add(ADA, [{ id: "new" }], { session: "s" });
    await indexer.embed(LANE, { new: [EAST] });
    await probe.update(ADA, "y", { content: "edited", parts: null });
    expect(await reindexer.switch(1), "two are missing").toBe(false);
    expect(await reindexer.switch(2)).toBe(true);
    expect(await indexer.pendingIds(LANE)).toEqual(["y", "new"]);
    expect(await indexer.nearIds([ADA], NORTH, OF_NEXT)).toEqual(["empty", "x"]);
  });

  check("is not delayed by expired items", async (probe) => {
    const { reindexer } = await start(probe);
    await probe.add(ADA, [{ id: "brief", expiresAt: probe.now + SECOND }, { id: "long" }]);
    await probe.register({ kind: "user", name: "cleo" });
    await probe.add({ user: "cleo" }, [{ id: "kept" }]);
    await probe.amend({ kind: "user", name: "cleo" }, { retentionMs: DAY });
    probe.now += 2 * DAY;
    expect(await reindexer.fill(NORTH)).toEqual(["x", "y", "empty", "z", "long"]);
    expect(await reindexer.switch()).toBe(true);
    await probe.amend({ kind: "user", name: "cleo" }, { retentionMs: null });
    const lane = { space: { user: "cleo" } };
    expect(await new Indexer(probe).pendingIds(lane), "seen again, it has yet to be embedded").toEqual(["kept"]);
  });

  check("refuses vectors of a wrong length", async (probe) => {
    const { reindexer } = await start(probe);
    const { range, items } = await reindexer.missing();
    const wrong = items.map((item) => ({ ...embedded(item, [NORTH]), vectors: new Float32Array(3) }));
    await probe.fails("vector_space", { op: "reindex", vectorSpace: NEXT, range, items: wrong, refused: [] });
    expect(await reindexer.progress()).toEqual({ embedded: 0, remaining: 4, refused: 0 });
  });

  check("begins in a store that has no vectors yet", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const reindexer = new Reindexer(probe);
    expect(await reindexer.begin()).toBe(false);
    expect(await probe.store.vectorSpace()).toBeUndefined();
    await reindexer.fill(NORTH);
    expect(await reindexer.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await new Indexer(probe).nearIds([ADA], NORTH, OF_NEXT)).toEqual(["x"]);
    expect(await probe.store.indexingStats()).toMatchObject({ pending: 0, embedded: 1, vectorSpace: NEXT });
  });

  check("undoes a switch whose unit fails", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await reindexer.fill(NORTH);
    const missing = { op: "update", space: ADA, id: "nobody", patch: { tier: "working" } } as const;
    await probe.fails("not_found", { op: "switch_space", vectorSpace: NEXT, missingMax: 0 }, missing);
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["y", "x"]);
    expect(await reindexer.progress()).toEqual({ embedded: 4, remaining: 0, refused: 0 });
    await probe.fails("not_found", { op: "abandon_reindex" }, missing);
    expect(await reindexer.switch()).toBe(true);
    expect(await indexer.nearIds([ADA], NORTH, OF_NEXT)).toEqual(["empty", "y", "x"]);
  });

  check("can switch back to an earlier model", async (probe) => {
    const { indexer, reindexer } = await start(probe);
    await reindexer.fill(NORTH);
    await reindexer.switch();
    const back = new Reindexer(probe, SPACE);
    expect(await back.begin()).toBe(false);
    expect(await back.fill(UP)).toEqual(["x", "y", "empty", "z"]);
    expect(await back.switch()).toBe(true);
    await probe.store.maintain(probe.now);
    expect(await indexer.near([BOB], UP)).toMatchObject([{ id: "z", score: 1 }]);
    expect(await probe.store.indexingStats()).toMatchObject({ embedded: 4, chunks: 4, pending: 0 });
  });

  check("sends everything to an external index again, and deletes the points of the former space", async (probe) => {
    const indexer = new Indexer(probe);
    const attach = async (): Promise<void> => {
      const [done] = await probe.unit({ op: "attach", index: "remote" });
      if (done?.op === "attach" && done.remaining) await attach();
    };
    await attach();
    const { reindexer } = await start(probe);
    await probe.forget({ space: ADA, ids: ["y"] });
    const rows = () => probe.store.outbox(1000, 1_000_000, probe.now);
    expect((await rows()).map(({ change }) => change.kind)).toEqual(["upsert", "upsert", "upsert", "delete"]);
    await reindexer.fill(NORTH);
    expect(await rows(), "not before the switch").toHaveLength(4);
    await reindexer.switch();
    await attach();
    await probe.store.maintain(probe.now);
    const told = (await rows()).filter(({ change }) => change.kind === "delete" || change.vectors);
    const upserts = told.flatMap(({ change, other }) => (change.kind === "upsert" ? { ...change, other } : []));
    expect(upserts.map(({ id }) => id)).toEqual(["x", "empty", "z"]);
    for (const { vectors, other } of upserts) expect({ vectors, other }).toEqual({ vectors: new Float32Array(NORTH) });
    const deletes = told.filter(({ change }) => change.kind === "delete");
    expect(deletes.map(({ other }) => other)).toEqual([SPACE, SPACE, SPACE]);
    expect(deletes.map(({ change }) => change.parts)).toEqual([1, 2, 1]);
    expect(await indexer.nearIds([ADA], NORTH, { ...OF_NEXT, unsent: true })).toEqual(["empty", "x"]);
    await probe.forget({ space: ADA, ids: ["x"] });
    expect((await rows()).at(-1)).toMatchObject({ change: { kind: "delete", parts: 1 } });
    expect((await rows()).at(-1)).not.toHaveProperty("former");
  });

  checkPersistent("continues in another handle, which uses the old vectors meanwhile", async (probe, reopen) => {
    const { reindexer } = await start(probe);
    const first = await reindexer.missing(2);
    await reindexer.write(
      first,
      first.items.map((item) => embedded(item, [NORTH])),
    );
    const other = probe.on(await reopen());
    try {
      const [indexer, second] = [new Indexer(other), new Reindexer(other)];
      expect(await indexer.nearIds([ADA], EAST)).toEqual(["y", "x"]);
      await other.update(ADA, "x", { content: "edited", parts: null });
      expect(await second.missingIds()).toEqual(expect.arrayContaining(["x", "empty", "z"]));
      await second.begin();
      await second.fill(UP);
      expect(await reindexer.switch(), "either may do it").toBe(true);
      expect(await indexer.near([ADA], EAST), "noticed by the other").toEqual([]);
      expect(await indexer.nearIds([ADA], UP, OF_NEXT)).toEqual(["empty", "x", "y"]);
      await other.forget({ space: ADA, entry: true });
      await other.store.maintain(other.now);
      expect(await indexer.nearIds([BOB], UP, OF_NEXT)).toEqual(["z"]);
    } finally {
      await other.store.close();
    }
  });
}

const keyOf = ({ key, version }: { readonly key: number; readonly version: number }) => ({ key, version });

/** Four embedded items: two of Ada's and one without text in her session, one of Bob's. The next space is begun. */
async function start(probe: Probe): Promise<{ readonly indexer: Indexer; readonly reindexer: Reindexer }> {
  const indexer = new Indexer(probe);
  await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "empty", content: "" }], { session: "s" });
  await probe.add(BOB, [{ id: "z" }]);
  await indexer.embed(LANE, { x: [EAST, UP], y: [EAST], empty: [] });
  await indexer.embed({ space: BOB }, { z: [EAST] });
  expect(await indexer.pendingIds(OUTSIDE)).toEqual([]);
  const reindexer = new Reindexer(probe);
  expect(await reindexer.begin()).toBe(false);
  return { indexer, reindexer };
}
