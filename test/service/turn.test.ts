/** A turn through the service: one transaction, and nothing lost when it fails. */
import { Turn } from "holdfast";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";

describe("a turn", () => {
  it("commits messages and facts in one transaction", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", agent: "tutor", session: "s" });
    const turn = session.turn(3);
    expect(turn.push({ op: "save_message", message: { role: "user", content: "I like tea" } })).toBe(false);
    turn.push({ op: "upsert_fact", category: "preference", content: "likes tea", confidence: 0.8, sourceSession: "s" });
    expect(turn.push({ op: "save_message", message: { role: "assistant", content: "Noted" } })).toBe(true);
    const added = await session.commit(turn);
    expect(turn.isEmpty).toBe(true);
    expect(added.sequences).toEqual([1, 2]);
    expect((await session.list({ order: "asc" })).items.map(({ content, round }) => [content, round])).toEqual([
      ["I like tea", 1],
      ["Noted", 1],
    ]);
    const [fact] = await session.query("tea", { kind: "fact" });
    expect(fact).toMatchObject({
      content: "likes tea",
      tier: "semantic",
      metadata: { category: "preference", confidence: 0.8 },
    });
    expect(await memory.service.store.versions([{ user: "ada" }])).toMatchObject([{ version: 1 }]);
  });

  it("saves a message with its role, content and tier in the session that commits it", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "assistant", content: "Boil the water", tier: "semantic" } });
    await session.commit(turn);
    const { items } = await memory.session({ user: "ada" }).list();
    expect(items).toMatchObject([
      { kind: "message", session: "s", role: "assistant", content: "Boil the water", tier: "semantic" },
    ]);
  });

  it("stores an embedding with its collection, id, vector and payload, in the transaction of the rest", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const turn = session.turn();
    const payload = { title: "tea", tags: ["drink"] };
    turn.push({ op: "save_message", message: { role: "user", content: "I like tea" } });
    turn.push({ op: "store_embedding", collection: "notes", pointId: "p1", vector: [0.5, 0.25, 0], payload });
    turn.push({ op: "store_embedding", collection: "notes", pointId: "p2", vector: Float32Array.of(0, 0, 1) });
    expect(await session.commit(turn)).toMatchObject({ sequences: [1], repeated: false });
    expect((await memory.stats()).write.totalGroups).toBe(1);
    expect(await session.points.search("notes", [1, 0.5, 0], { topK: 1 })).toEqual([
      {
        ...{ space: { user: "ada" }, collection: "notes", id: "p1", session: "s", payload },
        ...{ storedAt: expect.any(Number), score: expect.closeTo(1, 6) },
      },
    ]);
    expect(await session.points.get("notes", ["p2", "none"])).toMatchObject([
      { id: "p2", payload: null, vector: Float32Array.of(0, 0, 1) },
    ]);
    expect(await session.query("tea"), "a point is no hit").toHaveLength(1);
    expect(await session.points.delete("notes", ["p1", "none"])).toMatchObject({ points: 1, missing: ["none"] });
    expect(await session.forget()).toMatchObject({ points: 1, items: 1, purged: true });
    expect((await session.points.list("notes")).items).toEqual([]);
  });

  it("with an embedding of other dimensions is kept whole, and nothing of it is written", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const turn = session.turn();
    turn.push({ op: "store_embedding", collection: "notes", pointId: "p1", vector: [1, 2] });
    turn.push({ op: "save_message", message: { role: "user", content: "must not be half written" } });
    turn.push({ op: "store_embedding", collection: "notes", pointId: "p2", vector: [1, 2, 3] });
    await expect(session.commit(turn)).rejects.toMatchObject({ code: "vector_space", hint: expect.any(String) });
    expect(turn.length).toBe(3);
    expect(await session.query("half written")).toHaveLength(0);
    expect((await session.points.list("notes")).items).toEqual([]);
  });

  it("with an embedding is written once under its key, and not again once the point is forgotten", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const commit = async (vector: readonly number[]) => {
      const turn = session.turn();
      turn.push({ op: "store_embedding", collection: "notes", pointId: "p1", vector });
      return session.commit(turn, { idempotencyKey: "k" });
    };
    expect(await commit([1, 2])).toMatchObject({ repeated: false });
    expect(await commit([1, 2])).toMatchObject({ repeated: true });
    await expect(commit([1, 3])).rejects.toMatchObject({ code: "conflict" });
    const { left } = await session.points.delete("notes", ["p1"]);
    expect(left).toMatchObject([{ what: expect.stringContaining("idempotency keys") }]);
    expect(await commit([1, 2])).toMatchObject({ repeated: true });
    expect((await session.points.list("notes")).items).toEqual([]);
  });

  it("updates a known fact instead of adding it again", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    for (const confidence of [0.5, 0.9]) {
      const turn = new Turn();
      turn.push({ op: "upsert_fact", category: "home", content: "lives in Lisbon", confidence });
      await session.commit(turn);
    }
    const facts = await session.query("Lisbon");
    expect(facts).toHaveLength(1);
    expect(facts[0]).toMatchObject({ version: 2, metadata: { confidence: 0.9 } });
  });

  it("says what a fact rests on, and which one it takes the place of", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const { fact } = await session.facts.upsert({ category: "home", content: "lives in Porto" });
    const turn = session.turn();
    const supersedes = fact.id;
    turn.push({
      op: "upsert_fact",
      category: "home",
      content: "Lisbon",
      confidence: 1,
      sourceSession: "other",
      supersedes,
    });
    await session.commit(turn);
    expect((await session.facts.list()).items).toMatchObject([{ content: "Lisbon", sources: [{ session: "other" }] }]);
    expect(await session.facts.get([fact.id])).toMatchObject([{ state: "ended" }]);
  });

  it("that cannot be committed loses nothing and can be tried again", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ id: "taken", role: "user", content: "here first" }]);
    const turn = session.turn();
    turn.push({ op: "upsert_fact", category: "c", content: "must not be half written", confidence: 1 });
    turn.push({ op: "save_message", message: { id: "taken", role: "user", content: "in the way" } });
    await expect(session.commit(turn)).rejects.toMatchObject({ code: "conflict" });
    expect(turn.length).toBe(2);
    expect(await session.query("written")).toHaveLength(0);
    await session.delete(["taken"]);
    await session.commit(turn);
    expect(turn.isEmpty).toBe(true);
    expect(await session.query("written")).toHaveLength(1);
    expect(await session.query("way")).toHaveLength(1);
  });

  it("with bad input in it is kept whole, with a clear error", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "fine" } });
    turn.push({ op: "upsert_fact", category: "c", content: "x", confidence: 7 });
    await expect(session.commit(turn)).rejects.toMatchObject({ code: "invalid_input" });
    expect(turn.length).toBe(2);
    expect((await memory.stats()).store.items).toBe(0);
  });

  it("without writes commits nothing", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    expect(await session.commit(session.turn())).toMatchObject({ ids: [] });
    expect((await memory.stats()).write.totalGroups).toBe(0);
  });
});
