/** The outbox: every change of vectors, in order per item, until the external index has acknowledged it. */
import { expect } from "vitest";
import { OUTBOX, type OutboxRow } from "../../stores/indexing.js";
import { type PutPointWrite, pointSpace } from "../../stores/points.js";
import type { Check } from "./check.js";
import { BETWEEN, EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, UP } from "./indexer.js";
import { Mirror } from "./mirror.js";
import { ADA, BOB, type DoneOf, type Probe, SECOND, START } from "./probe.js";

export function outbox(check: Check): void {
  check("queues nothing while no index is attached", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST], y: [EAST] });
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await rows(probe)).toEqual([]);
    expect(await probe.store.indexingStats()).toMatchObject({ unsent: 0, unsentFailed: 0 });
    expect(await probe.store.indexingStats()).not.toHaveProperty("index");
    expect(await indexer.near([ADA], EAST, { unsent: true })).toEqual([]);
  });

  check("queues new vectors unchanged, with the commit that writes them", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }, { id: "empty", content: "" }], { session: "s" });
    const [key] = await indexer.embed(LANE, { x: [EAST, NORTH], empty: [] });
    const [entry] = (await store.entries({ kind: "user", name: "ada", limit: 1 })).items;
    expect(await rows(probe)).toStrictEqual([
      {
        sequence: expect.any(Number),
        space: ADA,
        spaceId: entry?.id,
        key,
        attempts: 0,
        change: { kind: "upsert", id: "x", version: 1, vectors: new Float32Array([...EAST, ...NORTH]), parts: 2 },
      },
    ]);
    expect(await store.indexingStats()).toMatchObject({ index: "remote", unsent: 1, unsentFailed: 0 });
    expect(await indexer.nearIds([ADA], EAST, { unsent: true })).toEqual(["x"]);
    const mirror = new Mirror();
    expect(await mirror.drain(indexer)).toBe(1);
    await mirror.expectItems(indexer, [ADA], ["x"]);
    expect(await rows(probe)).toEqual([]);
    expect(await indexer.near([ADA], EAST, { unsent: true }), "the index knows it").toEqual([]);
    expect(await indexer.nearIds([ADA], EAST), "and so does the store").toEqual(["x"]);
  });

  check("belongs to one index at a time", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await attach(probe, "remote");
    await attach(probe, "remote");
    await probe.fails("conflict", { op: "attach", index: "another" });
    await indexer.embed(LANE, { x: [EAST] });
    expect(await rows(probe)).toHaveLength(1);
    await attach(probe, null);
    expect(await store.indexingStats()).toMatchObject({ unsent: 0 });
    expect(await store.indexingStats()).not.toHaveProperty("index");
    await probe.update(ADA, "x", { content: "edited", parts: null });
    expect(await rows(probe), "nobody is to be told").toEqual([]);
    await attach(probe, null);
    await attach(probe, "another");
    expect(await store.indexingStats()).toMatchObject({ index: "another" });
  });

  check("queues what existed before the index was attached", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "waits" }, { id: "empty" }], { session: "s" });
    await probe.add(BOB, [{ id: "d" }]);
    await indexer.embed(LANE, { a: [EAST], b: [EAST, NORTH], c: [UP], empty: [] });
    await indexer.embed({ space: BOB }, { d: [BETWEEN] });
    await attach(probe, "remote");
    const mirror = new Mirror();
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [ADA, BOB], ["a", "b", "c", "d"]);
    expect(mirror.points.size).toBe(5);
    await attach(probe, "remote");
    expect(await rows(probe), "once").toEqual([]);
    await attach(probe, null);
    await attach(probe, "remote");
    const other = new Mirror();
    await other.drain(indexer);
    expect(other.points, "attached anew, it is all queued anew").toEqual(mirror.points);
  });

  check("follows edits and removals while existing vectors are still being queued", async (probe) => {
    const indexer = new Indexer(probe);
    const ids = ["a", "b", "c", "d", "e", "f"];
    await probe.add(ADA, [...ids.map((id) => ({ id })), { id: "g" }], { session: "s" });
    await indexer.embed(LANE, Object.fromEntries(ids.map((id) => [id, [EAST, NORTH]])));
    await probe.unit({ op: "attach", index: "remote" });
    await probe.update(ADA, "a", { content: "edited", parts: null });
    await probe.forget({ space: ADA, ids: ["b", "f"] });
    await indexer.embed(LANE, { a: [UP], g: [UP] });
    await attach(probe, "remote");
    const mirror = new Mirror();
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [ADA], ["a", "c", "d", "e", "g"]);
    expect(mirror.points.size).toBe(8);
  });

  check(
    "tells an index to delete what was edited, forgotten or has lost its source of borrowed text",
    async (probe) => {
      const indexer = new Indexer(probe);
      await attach(probe, "remote");
      await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }], { session: "s" });
      const fence = await indexer.claim(LANE);
      const [x, y, z] = await indexer.pending(LANE);
      if (!x || !y || !z) throw new Error("nothing waits");
      const items = [embedded(x, [EAST, UP]), embedded(y, [EAST, UP, NORTH], [x]), embedded(z, [NORTH])];
      await indexer.index(LANE, fence, items);
      const mirror = new Mirror();
      await mirror.drain(indexer);
      await mirror.expectItems(indexer, [ADA], ["x", "y", "z"]);
      await probe.update(ADA, "x", { content: "edited", parts: null });
      const deletes = (await rows(probe)).toSorted((a, b) => a.key - b.key);
      expect(deletes).toMatchObject([
        { key: x.key, change: { kind: "delete", parts: 2 } },
        { key: y.key, change: { kind: "delete", parts: 3 } },
      ]);
      await mirror.drain(indexer);
      await mirror.expectItems(indexer, [ADA], ["z"]);
      expect(mirror.points.size).toBe(1);
      await probe.forget({ space: ADA, ids: ["x", "z"] });
      expect(await rows(probe), "what has no vectors needs no deletion").toMatchObject([
        { key: z.key, change: { kind: "delete", parts: 1 } },
      ]);
      await mirror.drain(indexer);
      expect(mirror.points.size).toBe(0);
    },
  );

  check("leaves no point behind when an item is re-embedded with fewer parts", async (probe) => {
    const indexer = new Indexer(probe);
    const mirror = new Mirror();
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const item = await indexer.waiting(LANE, "x");
    for (const vectors of [[EAST, NORTH, UP], [UP], [UP, EAST], []]) {
      await indexer.index(LANE, fence, [embedded(item, vectors)]);
      await mirror.drain(indexer);
      await mirror.expectItems(indexer, [ADA], ["x"]);
      expect(mirror.points.size).toBe(vectors.length);
    }
  });

  check("converges however many changes were waiting", async (probe) => {
    const indexer = new Indexer(probe);
    const mirror = new Mirror();
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST, NORTH, UP], y: [EAST] });
    await probe.update(ADA, "x", { content: "edited", parts: null });
    const [first] = await rows(probe);
    expect(first?.change.kind).toBe("upsert");
    expect(first?.change, "vectors that are gone are not sent").not.toHaveProperty("vectors");
    await indexer.embed(LANE, { x: [BETWEEN] });
    await probe.forget({ space: ADA, ids: ["y"] });
    const sequences = (await rows(probe)).map(({ sequence }) => sequence);
    expect(sequences, "in order").toEqual(sequences.toSorted((a, b) => a - b));
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [ADA], ["x"]);
    expect([...mirror.points.values()]).toEqual([BETWEEN.map((value) => expect.closeTo(value, 4))]);
  });

  check("delays only the item of a row that failed", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    const [x, y] = await indexer.embed(LANE, { x: [EAST, NORTH], y: [EAST] });
    await probe.forget({ space: ADA, ids: ["x"] });
    const fence = await indexer.claim(OUTBOX);
    const [first] = await rows(probe);
    expect(first?.key).toBe(x);
    const failed = [{ sequence: first?.sequence ?? 0, error: "refused", retryAt: START + SECOND }];
    await probe.unit({ op: "acknowledge", owner: "me", fence, sent: [], failed });
    expect(
      (await rows(probe)).map(({ key }) => key),
      "nor the later one of its item",
    ).toEqual([y]);
    expect(await store.indexingStats()).toMatchObject({ unsentFailed: 1 });
    probe.now = START + SECOND;
    const [again] = await rows(probe);
    expect(again).toMatchObject({ sequence: first?.sequence, key: x, attempts: 1 });
    const mirror = new Mirror();
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [ADA], ["y"]);
    expect(await store.indexingStats()).toMatchObject({ unsent: 0, unsentFailed: 0 });
  });

  check("hands out limited numbers of rows and of bytes of vectors", async (probe) => {
    const { store, now } = probe;
    const indexer = new Indexer(probe);
    await attach(probe, "remote");
    const ids = ["a", "b", "c", "d"];
    await probe.add(
      ADA,
      ids.map((id) => ({ id })),
    );
    await indexer.embed(OUTSIDE, Object.fromEntries(ids.map((id) => [id, [EAST, NORTH]])));
    const all = await rows(probe);
    expect(all).toHaveLength(4);
    expect(await store.outbox(2, 1_000_000, now)).toEqual(all.slice(0, 2));
    expect(await store.outbox(10, 1, now), "one at least").toEqual(all.slice(0, 1));
    expect((await store.outbox(10, 70, now)).length).toBeLessThan(4);
    expect(await store.outbox(10, 4 * 32, now)).toEqual(all);
  });

  check("accepts acknowledgements only from the holder of the outbox's lease", async (probe) => {
    const indexer = new Indexer(probe);
    const other = new Indexer(probe, "other");
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST] });
    const fence = await indexer.claim(OUTBOX);
    const [row] = await rows(probe);
    const sent = [row?.sequence ?? 0];
    const acknowledge = async (owner: string, of: number) => {
      const [done] = await probe.unit({ op: "acknowledge", owner, fence: of, sent, failed: [] });
      return (done as DoneOf<"acknowledge">).fenced;
    };
    expect(await acknowledge("other", fence)).toBe(true);
    expect(await acknowledge("me", fence + 1)).toBe(true);
    const [denied] = await other.claims([OUTBOX]);
    if (!denied || !("holder" in denied)) throw new Error("the outbox has no holder");
    await other.claims([OUTBOX], [{ owner: "me", beat: denied.holder.beat }]);
    expect(await acknowledge("me", fence), "evicted").toBe(true);
    expect(await rows(probe)).toEqual([row]);
    expect(await acknowledge("other", await other.claim(OUTBOX))).toBe(false);
    expect(await rows(probe)).toEqual([]);
  });

  check("tells an index to delete all of a space that is forgotten", async (probe) => {
    const indexer = new Indexer(probe);
    const mirror = new Mirror();
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await probe.add(ADA, [{ id: "out" }]);
    await probe.add(BOB, [{ id: "his" }]);
    await indexer.embed(LANE, { x: [EAST, NORTH], y: [UP] });
    await indexer.embed(OUTSIDE, { out: [EAST] });
    await indexer.embed({ space: BOB }, { his: [EAST] });
    await mirror.drain(indexer);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    await probe.forget({ space: { user: "lovelace" }, entry: true });
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [BOB], ["his"]);
    expect(mirror.points.size).toBe(1);
  });

  check("keeps its queue when the space is renamed", async (probe) => {
    const indexer = new Indexer(probe);
    const mirror = new Mirror();
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST] });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const space = { user: "lovelace" };
    expect(await rows(probe)).toMatchObject([{ space, change: { kind: "upsert", id: "x" } }]);
    await mirror.drain(indexer);
    await mirror.expectItems(indexer, [space], ["x"]);
  });

  check("queues each change of a point, as a vector of length 1 under the id of its collection", async (probe) => {
    const indexer = new Indexer(probe);
    const storing = (id: string, vector: readonly number[], collection = "c"): PutPointWrite => ({
      ...{ op: "put_point", space: ADA, session: "s", existing: "replace", collection, id, payload: "text" },
      vector: Float32Array.from(vector),
    });
    await probe.unit(storing("before", [0, 2]));
    expect(await rows(probe), "nobody is to be told").toEqual([]);
    await attach(probe, "remote");
    await probe.unit(storing("p", [3, 4]), storing("q", [1, 0, 0], "d"));
    const upsert = { kind: "upsert", version: 1, parts: 1 } as const;
    const [before, p, q] = await rows(probe);
    expect([before, p, q]).toMatchObject([
      { space: ADA, other: pointSpace(2), change: { ...upsert, id: "before", vectors: Float32Array.of(0, 1) } },
      { space: ADA, other: pointSpace(2), change: { ...upsert, id: "p", vectors: Float32Array.of(0.6, 0.8) } },
      { space: ADA, other: pointSpace(3), change: { ...upsert, id: "q", vectors: Float32Array.of(1, 0, 0) } },
    ]);
    const [entry] = (await probe.store.entries({ kind: "user", name: "ada", limit: 1 })).items;
    expect(p?.spaceId).toBe(before?.spaceId);
    expect(new Set([entry?.id, p?.spaceId, q?.spaceId]).size).toBe(3);
    expect(new Set([before?.key, p?.key, q?.key]).size).toBe(3);
    await attach(probe, "remote");
    await probe.unit(storing("p", [3, 4]));
    expect(await rows(probe), "nothing changed").toHaveLength(3);

    await probe.unit(storing("p", [1, 0]));
    await probe.unit({ op: "forget", target: { space: ADA, points: { collection: "c", ids: ["before"] } } });
    await probe.fails("not_found", storing("r", [1, 1]), { op: "update", space: ADA, id: "not there", patch: {} });
    const later = (await rows(probe)).slice(3);
    expect(later).toMatchObject([
      { spaceId: p?.spaceId, key: p?.key, change: { ...upsert, vectors: Float32Array.of(1, 0) } },
      { spaceId: p?.spaceId, key: before?.key, other: pointSpace(2), change: { kind: "delete", parts: 1 } },
    ]);
    const fence = await indexer.claim(OUTBOX);
    const sent = (await rows(probe)).map(({ sequence }) => sequence);
    await probe.unit({ op: "acknowledge", owner: indexer.owner.id, fence, sent, failed: [] });
    await probe.forget({ space: ADA, entry: true });
    expect((await rows(probe)).map(({ spaceId, key, change }) => [spaceId, key, change.kind])).toEqual([
      [p?.spaceId, p?.key, "delete"],
      [q?.spaceId, q?.key, "delete"],
    ]);
  });

  check("queues nothing of a unit that is undone", async (probe) => {
    const indexer = new Indexer(probe);
    await attach(probe, "remote");
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST] });
    await new Mirror().drain(indexer);
    const forget = { op: "forget", target: { space: ADA, ids: ["x"] } } as const;
    await probe.fails("not_found", forget, { op: "update", space: ADA, id: "not there", patch: {} });
    expect(await rows(probe)).toEqual([]);
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["x"]);
  });
}

/** Attaches slice by slice. */
async function attach(probe: Probe, index: string | null): Promise<void> {
  for (let slices = 1; ; slices++) {
    const [done] = await probe.unit({ op: "attach", index });
    expect(done?.op).toBe("attach");
    if (!(done as DoneOf<"attach">).remaining) return;
    expect(slices, "it comes to its end").toBeLessThan(10_000);
  }
}

function rows(probe: Probe): Promise<readonly OutboxRow[]> {
  return probe.store.outbox(1000, 1_000_000, probe.now);
}
