/** Pending items: every new text, until its vectors are written, and nothing else. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, SPACE } from "./indexer.js";
import { ADA, BOB, DAY, SECOND, START } from "./probe.js";

export function pending(check: Check): void {
  check("makes every added item pending, oldest first, with everything that embedding needs", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "b", content: "lamp", name: "Ann" }, { id: "a" }], { session: "s" });
    await probe.add(ADA, [{ id: "c" }], { session: "s" });
    const items = await indexer.pending(LANE);
    expect(items).toStrictEqual([
      {
        key: expect.any(Number),
        lane: LANE,
        id: "b",
        version: 1,
        name: "Ann",
        content: "lamp",
        round: 1,
        recordedAt: START,
      },
      { key: expect.any(Number), lane: LANE, id: "a", version: 1, content: "a", round: 1, recordedAt: START },
      { key: expect.any(Number), lane: LANE, id: "c", version: 1, content: "c", round: 3, recordedAt: START },
    ]);
    const keys = items.map(({ key }) => key);
    expect(keys).toEqual(keys.toSorted((a, b) => a - b));
    expect(new Set(keys).size).toBe(3);
  });

  check("keeps items outside any session in a lane of their own", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "in" }], { session: "s" });
    await probe.add(ADA, [{ id: "out" }]);
    expect(await indexer.pendingIds(LANE)).toEqual(["in"]);
    const [item, ...others] = await indexer.pending(OUTSIDE);
    expect(item).toStrictEqual({
      key: expect.any(Number),
      lane: OUTSIDE,
      id: "out",
      version: 1,
      content: "out",
      recordedAt: START,
    });
    expect(others).toEqual([]);
    await indexer.embed(OUTSIDE, { out: [EAST] });
    expect([await indexer.pendingIds(OUTSIDE), await indexer.pendingIds(LANE)]).toEqual([[], ["in"]]);
  });

  check("returns nothing for lanes that do not exist", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    expect(await indexer.pending({ space: ADA, session: "t" })).toEqual([]);
    expect(await indexer.pending({ space: BOB, session: "s" })).toEqual([]);
    expect(await indexer.pending({ space: BOB })).toEqual([]);
  });

  check("makes items pending whose text was edited or replaced, but not on a retry", async (probe) => {
    const indexer = new Indexer(probe);
    const write = probe.adding(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }, { id: "w" }], { session: "s" });
    await probe.unit(write);
    await indexer.embed(LANE, { x: [EAST], y: [EAST], z: [EAST], w: [EAST] });
    expect(await indexer.pendingIds(LANE)).toEqual([]);
    await probe.unit(write);
    expect(await indexer.pendingIds(LANE), "a repeated add").toEqual([]);
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await probe.add(ADA, [{ id: "y", content: "replaced" }], { session: "s", existing: "replace" });
    await probe.update(ADA, "w", { name: "Ann" });
    expect(await indexer.pending(LANE)).toMatchObject([
      { id: "x", version: 2, content: "edited" },
      { id: "y", version: 2, content: "replaced" },
      { id: "w", version: 2, name: "Ann" },
    ]);
  });

  check("keeps an item embedded, or pending, when anything but its text is edited", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST] });
    for (const id of ["x", "y"]) {
      await probe.update(ADA, id, { metadata: { a: 1 } });
      await probe.update(ADA, id, { role: "tool", tier: "semantic", occurredAt: 1, expiresAt: START + DAY });
    }
    expect(await indexer.pending(LANE)).toMatchObject([{ id: "y", version: 3 }]);
    expect(await indexer.near([ADA], EAST)).toMatchObject([{ id: "x", version: 3 }]);
  });

  check("reads limited numbers of items and bytes, and those after a key", async (probe) => {
    const indexer = new Indexer(probe);
    const ids = ["a", "b", "c", "d"];
    await probe.add(
      ADA,
      ids.map((id) => ({ id, content: "é".repeat(50) })),
      { session: "s" },
    );
    const [, second] = await indexer.pending(LANE);
    expect(await indexer.pendingIds(LANE, { limit: 3 })).toEqual(["a", "b", "c"]);
    expect(await indexer.pendingIds(LANE, { after: second?.key ?? 0 })).toEqual(["c", "d"]);
    expect(await indexer.pendingIds(LANE, { after: second?.key ?? 0, limit: 1 })).toEqual(["c"]);
    expect(await indexer.pendingIds(LANE, { maxBytes: 1 }), "one at least").toEqual(["a"]);
    expect((await indexer.pendingIds(LANE, { maxBytes: 250 })).length, "bytes, not characters").toBeLessThan(4);
    expect(await indexer.pendingIds(LANE, { maxBytes: 400 })).toEqual(ids);
  });

  check("reads lane by lane, in the given order", async (probe) => {
    const { store, now } = probe;
    await probe.add(ADA, [{ id: "a" }, { id: "b" }], { session: "s" });
    await probe.add(BOB, [{ id: "c" }], { session: "s" });
    await probe.add(ADA, [{ id: "d" }]);
    await probe.add(ADA, [{ id: "e" }], { session: "s" });
    const [first] = await new Indexer(probe).pending(LANE);
    const lanes = [
      { lane: OUTSIDE },
      { lane: { space: BOB, session: "no such session" } },
      { lane: LANE, after: first?.key ?? 0 },
      { lane: { space: BOB, session: "s" } },
    ];
    const read = async (limit: number, maxBytes = 1000) => {
      const { items, more } = await store.pending({ lanes, limit, maxBytes, now });
      expect(more, "whether more of them wait").toBe(items.length < 4);
      return items.map(({ id, lane }) => [id, lane]);
    };
    const all = [
      ["d", OUTSIDE],
      ["b", LANE],
      ["e", LANE],
      ["c", { space: BOB, session: "s" }],
    ];
    expect(await read(10)).toEqual(all);
    expect(await read(2), "a limit over all lanes").toEqual(all.slice(0, 2));
    expect(await read(4)).toEqual(all);
    expect(await read(10, 1), "bytes over all lanes").toEqual(all.slice(0, 1));
  });

  check("lists lanes with their pending items, the one with the newest item first", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a" }, { id: "b" }], { session: "s" });
    await probe.add(BOB, [{ id: "c" }]);
    await probe.add(ADA, [{ id: "d" }], { session: "t" });
    await probe.add(ADA, [{ id: "e" }], { session: "s" });
    const newest = (await indexer.pending(LANE)).at(-1)?.key;
    const lanes = await store.waiting("me", 10, probe.now);
    expect(lanes).toMatchObject([
      { lane: LANE, items: 3, newest },
      { lane: { space: ADA, session: "t" }, items: 1 },
      { lane: { space: BOB }, items: 1 },
    ]);
    expect(lanes[2]?.lane).toStrictEqual({ space: BOB });
    expect(await store.waiting("me", 2, probe.now)).toEqual(lanes.slice(0, 2));
    await indexer.embed(LANE, { a: [EAST], b: [EAST], e: [EAST] });
    expect((await store.waiting("me", 10, probe.now)).map(({ lane }) => lane)).toEqual([
      { space: ADA, session: "t" },
      { space: BOB },
    ]);
  });

  check("has nothing pending that was forgotten or has expired", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y", expiresAt: START + SECOND }, { id: "z" }], { session: "s" });
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await indexer.pendingIds(LANE)).toEqual(["y", "z"]);
    probe.now = START + SECOND;
    expect(await indexer.pendingIds(LANE)).toEqual(["z"]);
    expect(await store.waiting("me", 10, probe.now)).toMatchObject([{ lane: LANE, items: 1 }]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    expect(await indexer.pendingIds(LANE)).toEqual([]);
    expect(await store.waiting("me", 10, probe.now)).toEqual([]);
    expect(await probe.list(ADA, { filter: { pending: true } })).toEqual([]);
  });

  check("returns the current names of lanes", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const lane = { space: { user: "lovelace" }, session: "t" };
    expect(await store.waiting("me", 10, probe.now)).toMatchObject([{ lane, items: 1 }]);
    expect(await indexer.pending(lane)).toMatchObject([{ id: "x", lane }]);
    expect(await indexer.pending(LANE)).toEqual([]);
    await indexer.embed(lane, { x: [EAST] });
    expect(await indexer.nearIds([{ user: "lovelace" }], EAST)).toEqual(["x"]);
  });

  check("returns the newest pending items of some spaces, newest first, and whether there are more", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a" }, { id: "b", role: "tool" }], { session: "s" });
    await probe.add(BOB, [{ id: "his" }]);
    await probe.add(ADA, [{ id: "c" }, { id: "gone", expiresAt: START }]);
    await probe.add(ADA, [{ id: "d" }], { session: "t" });
    await indexer.embed(OUTSIDE, { c: [EAST] });
    const tail = async (limit: number, filter = {}, spaces = [ADA]) => {
      const { items, more } = await store.tail({ spaces, filter, limit, now: probe.now });
      return [items.map(({ id }) => id), more];
    };
    expect(await tail(10)).toEqual([["d", "b", "a"], false]);
    expect(await tail(3)).toEqual([["d", "b", "a"], false]);
    expect(await tail(2)).toEqual([["d", "b"], true]);
    expect(await tail(10, {}, [BOB, ADA])).toEqual([["d", "his", "b", "a"], false]);
    expect(await tail(10, { sessions: ["s"] })).toEqual([["b", "a"], false]);
    expect(await tail(1, { roles: ["tool"] })).toEqual([["b"], false]);
    const { items } = await store.tail({ spaces: [ADA], filter: { sessions: ["s"] }, limit: 10, now: probe.now });
    expect(items.toReversed(), "the same as `pending` tells").toEqual(await indexer.pending(LANE));
  });

  check("returns items of the tail that are longer than requested without their content", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "long", content: "é".repeat(50) }, { id: "b" }], { session: "s" });
    const request = { spaces: [ADA], filter: {}, limit: 3, now: probe.now };
    const { items, long, more } = await probe.store.tail({ ...request, contentBytesMax: 99 });
    expect([items.map(({ id }) => id), more]).toEqual([["b", "a"], false]);
    const { content: _, ...rest } = await new Indexer(probe).waiting(LANE, "long");
    expect(long).toEqual([rest]);
    const all = await probe.store.tail({ ...request, contentBytesMax: 100 });
    expect([all.items.map(({ id }) => id), all.long]).toEqual([["b", "long", "a"], []]);
  });

  check("lists, finds and reads only pending items, if requested", async (probe) => {
    const { store, now } = probe;
    const indexer = new Indexer(probe);
    await probe.add(
      ADA,
      [
        { id: "x", content: "lamp" },
        { id: "y", content: "lamp" },
      ],
      { session: "s" },
    );
    const [key] = await indexer.embed(LANE, { x: [EAST] });
    const { key: waits } = await indexer.waiting(LANE, "y");
    const filter = { pending: true } as const;
    expect(await probe.ids(ADA, { filter })).toEqual(["y"]);
    expect(await probe.found(ADA, "lamp", { filter })).toEqual(["y"]);
    expect(await indexer.nearIds([ADA], EAST, { filter })).toEqual([]);
    const read = await store.read({ spaces: [ADA], keys: [key ?? 0, waits], filter, now });
    expect(read).toMatchObject([{ id: "y" }]);
  });

  check("reads items by key, of the given spaces", async (probe) => {
    const { store, now } = probe;
    await probe.add(ADA, [{ id: "x", metadata: { a: [1] } }, { id: "y", role: "tool" }, { id: "z" }], {
      session: "s",
      agent: "tutor",
    });
    await probe.add(BOB, [{ id: "his" }]);
    await probe.add(ADA, [{ id: "late", expiresAt: START + SECOND }]);
    const lanes = [LANE, OUTSIDE, { space: BOB }].map((lane) => ({ lane }));
    const pending = await store.pending({ lanes, limit: 100, maxBytes: 1000, now });
    const keys = pending.items.map(({ key }) => key);
    await probe.forget({ space: ADA, ids: ["z"] });
    const read = async (filter = {}, at = now) => {
      const items = await store.read({ spaces: [ADA], keys: [...keys, ...keys, 987_654], filter, now: at });
      return items.toSorted((a, b) => a.key - b.key);
    };
    const expected = (await probe.list(ADA)).map((item) => ({
      ...item,
      key: expect.any(Number),
      ...(item.id === "late" && { until: START + SECOND }),
    }));
    expect(await read()).toStrictEqual(expected);
    expect((await read()).map(({ key }) => key)).toEqual([keys[0], keys[1], keys[3]]);
    expect(await read({ roles: ["tool"] })).toMatchObject([{ id: "y" }]);
    expect(await read({}, START + SECOND)).toMatchObject([{ id: "x" }, { id: "y" }]);
    expect(await store.read({ spaces: [BOB], keys, filter: {}, now })).toMatchObject([{ id: "his" }]);
  });

  check("finds by words the same key under which an item is pending", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s" });
    const { key } = await indexer.waiting(LANE, "x");
    expect(await probe.search(ADA, "lamp")).toMatchObject([{ id: "x", key }]);
    await probe.update(ADA, "x", { content: "rope", parts: null });
    expect(await indexer.waiting(LANE, "x"), "an edit keeps the key").toMatchObject({ key });
    await probe.forget({ space: ADA, ids: ["x"] });
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s" });
    const again = await indexer.waiting(LANE, "x");
    expect(again.key, "a new item has a new key").toBeGreaterThan(key);
  });

  check("returns the items before one in its session, the nearest last", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a", name: "Ann" }, { id: "b" }], { session: "s" });
    await probe.add(ADA, [{ id: "other" }], { session: "t" });
    await probe.add(ADA, [{ id: "gone" }, { id: "late", expiresAt: START + SECOND }, { id: "c" }], { session: "s" });
    await probe.add(ADA, [{ id: "out" }, { id: "out too" }]);
    const [a, b, , , c] = await indexer.pending(LANE);
    const [, out] = await indexer.pending(OUTSIDE);
    await indexer.embed(LANE, { b: [EAST] });
    await probe.forget({ space: ADA, ids: ["gone"] });
    await probe.update(ADA, "a", { content: "edited", parts: null });
    probe.now = START + SECOND;
    const keys = [c?.key ?? 0, a?.key ?? 0, out?.key ?? 0, 987_654, b?.key ?? 0];
    const first = { key: a?.key, version: 2, name: "Ann", content: "edited" };
    const second = { key: b?.key, version: 1, content: "b" };
    expect(await store.earlier(keys, 5, probe.now)).toStrictEqual([[first, second], [], [], [], [first]]);
    expect(await store.earlier(keys, 1, probe.now)).toStrictEqual([[second], [], [], [], [first]]);
  });

  check("counts pending items, and treats nothing of an undone unit as done", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    expect(await store.indexingStats()).toEqual({
      pending: 2,
      oldestPendingAt: START,
      parked: 0,
      embedded: 0,
      chunks: 0,
      unsent: 0,
      unsentFailed: 0,
    });
    const fence = await indexer.claim(LANE);
    const [x, y] = await indexer.pending(LANE);
    if (!x || !y) throw new Error("nothing waits");
    const index = { op: "index", owner: "me", lane: LANE, fence, vectorSpace: SPACE } as const;
    const items = [embedded(x, [EAST, NORTH]), embedded(y, [EAST])];
    await probe.fails(
      "not_found",
      { ...index, items, release: true },
      {
        op: "update",
        space: ADA,
        id: "not there",
        patch: {},
      },
    );
    expect(await indexer.pendingIds(LANE)).toEqual(["x", "y"]);
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await indexer.index(LANE, fence, items), "the lease was not released").toMatchObject({ fenced: false });
    expect(await store.indexingStats()).toMatchObject({ pending: 0, embedded: 2, chunks: 3 });
    expect(await indexer.pendingIds(LANE)).toEqual([]);
  });

  check("returns since when the oldest pending item has been untouched", async (probe) => {
    const { store } = probe;
    const indexer = new Indexer(probe);
    const oldest = async () => (await store.indexingStats()).oldestPendingAt;
    expect(await oldest()).toBeUndefined();
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    probe.now = START + SECOND;
    await probe.add(BOB, [{ id: "y" }]);
    expect(await oldest()).toBe(START);
    await indexer.embed(LANE, { x: [EAST] });
    expect(await oldest()).toBe(START + SECOND);
    probe.now = START + 2 * SECOND;
    await probe.update(BOB, "y", { content: "edited", parts: null });
    expect(await oldest()).toBe(START + 2 * SECOND);
    await probe.forget({ space: BOB, ids: ["y"] });
    expect(await oldest()).toBeUndefined();
  });
}
