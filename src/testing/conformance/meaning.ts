/** Search by vectors: an item's score is that of its best chunk; scores are cosines and depend on nothing else. */
import { expect } from "vitest";
import { chunkId } from "../../retrieval/chunks/id.js";
import type { Check } from "./check.js";
import { BETWEEN, EAST, embedded, Indexer, LANE, NORTH, OUTSIDE, UP } from "./indexer.js";
import { ADA, BOB, DAY, SECOND, START } from "./probe.js";

export function meaning(check: Check): void {
  check("finds items by the best of their chunks, best first", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }], { session: "s" });
    const [a, b, c] = await indexer.embed(LANE, { a: [UP, NORTH], b: [UP, BETWEEN, NORTH], c: [UP] });
    const hits = await indexer.near([ADA], EAST);
    const sessionId = (await probe.item(ADA, "a")).sessionId;
    const shared = { space: ADA, version: 1, role: "user", occurredAt: START, sessionId };
    expect(hits).toStrictEqual([
      { ...shared, key: b, id: "b", score: expect.closeTo(0.8, 4) },
      { ...shared, key: c, id: "c", score: 0 },
      { ...shared, key: a, id: "a", score: 0 },
    ]);
    expect(await indexer.near([ADA], NORTH)).toMatchObject([
      { id: "b", score: 1 },
      { id: "a", score: 1 },
      { id: "c", score: 0 },
    ]);
    expect(await indexer.near([ADA], UP, { limit: 1 })).toMatchObject([{ id: "c" }]);
    const down = UP.map((value) => -value);
    expect((await indexer.near([ADA], down)).at(-1), "also what is opposite").toMatchObject({ id: "c", score: -1 });
  });

  check("orders ties newest first", async (probe) => {
    const indexer = new Indexer(probe);
    const ids = ["a", "b", "c", "d", "e"];
    await probe.add(
      ADA,
      ids.map((id) => ({ id })),
    );
    await indexer.embed(OUTSIDE, { d: [EAST], a: [EAST], c: [EAST] });
    await indexer.embed(OUTSIDE, { e: [EAST], b: [EAST] });
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["e", "d", "c", "b", "a"]);
    expect(await indexer.nearIds([ADA], EAST, { limit: 2 })).toEqual(["e", "d"]);
    await probe.update(ADA, "b", { tier: "working" });
    expect(await indexer.nearIds([ADA], EAST), "an edit makes nothing newer").toEqual(["e", "d", "c", "b", "a"]);
  });

  check("returns what ranking needs of a found item", async (probe) => {
    const indexer = new Indexer(probe);
    const expiresAt = START + 3 * DAY;
    await probe.add(ADA, [{ id: "a", role: "assistant", occurredAt: START - DAY, expiresAt }], { session: "s" });
    const { role: _, ...knowledge } = probe.row({ id: "k", kind: "knowledge" });
    await probe.unit({ op: "add", space: ADA, items: [knowledge], existing: "same" });
    await indexer.embed(LANE, { a: [EAST] });
    await indexer.embed(OUTSIDE, { k: [NORTH] });
    const { sessionId } = await probe.item(ADA, "a");
    const found = { space: ADA, version: 1 };
    const a = {
      ...found,
      key: expect.any(Number),
      id: "a",
      score: 1,
      role: "assistant",
      occurredAt: START - DAY,
      sessionId,
    };
    const k = { ...found, key: expect.any(Number), id: "k", score: 0, occurredAt: START };
    expect(await indexer.near([ADA], EAST)).toStrictEqual([{ ...a, until: expiresAt }, k]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    const until = START + DAY;
    expect(await indexer.near([ADA], EAST), "whatever ends first").toStrictEqual([
      { ...a, until },
      { ...k, until },
    ]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: 9 * DAY });
    expect(await indexer.near([ADA], EAST)).toMatchObject([{ until: expiresAt }, { until: START + 9 * DAY }]);
  });

  check("searches exactly the given spaces, and no score depends on others", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await indexer.embed(LANE, { x: [BETWEEN], y: [NORTH] });
    const before = await indexer.near([ADA], EAST);
    const [version] = await probe.store.versions([ADA]);
    const lane = { space: BOB, session: "s" };
    await probe.add(BOB, [{ id: "x" }, { id: "his" }], { session: "s" });
    await indexer.embed(lane, { x: [EAST], his: [EAST, BETWEEN] });
    await probe.update(BOB, "his", { content: "edited", parts: null });
    expect(await indexer.near([ADA], EAST)).toEqual(before);
    expect(await probe.store.versions([ADA])).toEqual([version]);
    expect(await indexer.near([BOB], EAST)).toMatchObject([{ space: BOB, id: "x", score: 1 }]);
    const both = await indexer.near([ADA, BOB], EAST);
    expect(both.map(({ space, id }) => [space, id])).toEqual([
      [BOB, "x"],
      [ADA, "x"],
      [ADA, "y"],
    ]);
    expect(both.slice(1)).toEqual(before);
    expect(await indexer.near([], EAST)).toEqual([]);
    expect(await indexer.near([{ team: "ada" }], EAST)).toEqual([]);
  });

  check("applies the filter before the limit", async (probe) => {
    const indexer = new Indexer(probe);
    const old = { occurredAt: START - DAY };
    await probe.add(
      ADA,
      [
        { id: "a", role: "tool" },
        { id: "b", ...old },
        { id: "c", metadata: { color: "red" } },
      ],
      {
        session: "s",
        agent: "tutor",
      },
    );
    await probe.add(ADA, [
      { id: "d", tier: "semantic" },
      { id: "e", kind: "fact" },
    ]);
    await indexer.embed(LANE, { a: [EAST], b: [EAST], c: [EAST] });
    await indexer.embed(OUTSIDE, { d: [EAST], e: [EAST] });
    const ids = (filter: object) => indexer.nearIds([ADA], EAST, { filter, limit: 2 });
    expect(await ids({})).toEqual(["e", "d"]);
    expect(await ids({ sessions: ["s"] })).toEqual(["c", "b"]);
    expect(await ids({ agents: ["tutor"], roles: ["tool"] })).toEqual(["a"]);
    expect(await ids({ kinds: ["fact"] })).toEqual(["e"]);
    expect(await ids({ tiers: ["semantic"] })).toEqual(["d"]);
    expect(await ids({ to: START })).toEqual(["b"]);
    expect(await ids({ metadata: [{ path: ["color"], anyOf: ["red"] }] })).toEqual(["c"]);
    expect(await ids({ sessions: ["none"] })).toEqual([]);
  });

  check("finds nothing that has expired or was forgotten", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x", expiresAt: START + SECOND }, { id: "y" }, { id: "z" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST], y: [BETWEEN], z: [NORTH] });
    await probe.forget({ space: ADA, ids: ["z"] });
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["x", "y"]);
    probe.now = START + SECOND;
    expect(await indexer.nearIds([ADA], EAST, { limit: 1 })).toEqual(["y"]);
    expect(await probe.store.chunks([ADA], ["x", "y", "z"], probe.now)).toMatchObject([{ item: "y" }]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await probe.store.chunks([ADA], ["y"], probe.now)).toEqual([]);
  });

  check("follows the renames of spaces and sessions", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await indexer.embed(LANE, { x: [EAST] });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    await probe.amend({ kind: "session", name: "s", space: { user: "lovelace" } }, { name: "t" });
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    const space = { user: "lovelace" };
    expect(await indexer.near([space], EAST, { filter: { sessions: ["t"] } })).toMatchObject([{ space, id: "x" }]);
  });

  check("forgets all vectors of a space with it", async (probe) => {
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await probe.add(ADA, [{ id: "out" }]);
    await indexer.embed(LANE, { x: [EAST] });
    await indexer.embed(OUTSIDE, { out: [EAST] });
    await probe.forget({ space: ADA, session: "s", entry: true });
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["out"]);
    await probe.forget({ space: ADA, entry: true });
    await probe.add(ADA, [{ id: "x" }, { id: "out" }]);
    expect(await indexer.near([ADA], EAST)).toEqual([]);
    expect(await probe.store.indexingStats()).toMatchObject({ embedded: 0, chunks: 0, pending: 2 });
  });

  check("shows the chunks of items: where they begin and end, and whose text they contain", async (probe) => {
    const { store, now } = probe;
    const indexer = new Indexer(probe);
    await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "z" }], { session: "s" });
    await probe.add(BOB, [{ id: "x" }], { session: "s" });
    const fence = await indexer.claim(LANE);
    const [x, y, z] = await indexer.pending(LANE);
    if (!x || !y || !z) throw new Error("nothing waits");
    const spans = [
      { start: 0, end: 17 },
      { start: 17, end: 40 },
    ];
    await indexer.index(LANE, fence, [{ ...embedded(y, [EAST, NORTH], [x]), spans }, embedded(x, [EAST])]);
    const [entry] = (await store.entries({ kind: "user", name: "ada", limit: 1 })).items;
    const spaceId = entry?.id ?? "";
    const ofX = { id: chunkId(spaceId, x.key, 0), key: x.key, item: "x", version: 1, part: 0, parts: 1 };
    const ofY = (part: number) => ({
      ...{ id: chunkId(spaceId, y.key, part), key: y.key, item: "y", version: 1, part, parts: 2 },
      ...{ ...spans[part], borrowed: ["x"] },
    });
    const expected = [{ ...ofX, start: 0, end: 1, borrowed: [] }, ofY(0), ofY(1)];
    expect(await store.chunks([ADA], ["x", "y", "z", "not there"], now)).toStrictEqual(expected);
    expect(await store.chunks([BOB], ["x", "y"], now)).toEqual([]);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const renamed = await store.chunks([{ user: "lovelace" }], ["x", "y"], now);
    expect(renamed, "a rename changes no id of a chunk").toStrictEqual(expected);
  });
}
