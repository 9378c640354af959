/** Files of older versions: opened, brought up to date, and nothing lost. */
import { openMemory } from "holdfast";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { Embedding, NOW, RandomVectors } from "./embedding.js";
import { makeVersion1 } from "./version-1.js";
import { makeVersion2 } from "./version-2.js";
import { makeVersion3 } from "./version-3.js";
import { makeVersion4 } from "./version-4.js";

const ADA = { user: "ada" };
/** The version that every file is brought to. */
const SCHEMA = 8;

describe("a file of version 1", () => {
  it("opens with all its items, and all of them wait to be embedded", async () => {
    const path = newPath();
    makeVersion1(path);
    const { store } = await Embedding.open(path, 4);
    const lanes = [{ lane: { space: ADA, session: "s" } }, { lane: { space: ADA } }];
    const pending = await store.pending({ lanes, limit: 10, maxBytes: 1000, now: NOW });
    expect(pending.map(({ id, version, name }) => [id, version, name])).toEqual([
      ["first", 1, undefined],
      ["edited", 2, "Ann"],
      ["loose", 1, undefined],
    ]);
    expect(await store.waiting("me", 10, NOW)).toMatchObject([{ items: 1 }, { items: 2 }]);
    const stats = await store.indexingStats();
    const waiting = { pending: 3, oldestPendingAt: 1000, parked: 0 };
    expect(stats).toEqual({ ...waiting, embedded: 0, chunks: 0, unsent: 0, unsentFailed: 0 });
  });

  it("takes vectors, edits and removals like a new one", async () => {
    const path = newPath();
    makeVersion1(path);
    const embedding = await Embedding.open(path, 2);
    await embedding.embed({ space: ADA, session: "s" }, () => new Float32Array([1, 0]));
    await embedding.embed({ space: ADA }, () => new Float32Array([0, 1]));
    expect((await embedding.near([ADA], new Float32Array([0, 1]), 1)).map(({ id }) => id)).toEqual(["loose"]);
    await embedding.unit({ op: "update", space: ADA, id: "loose", patch: { content: "Trams are red.", parts: null } });
    await embedding.forget({ space: ADA, ids: ["first"] });
    expect(await embedding.store.indexingStats()).toMatchObject({ pending: 1, embedded: 1, chunks: 1 });
    await embedding.store.close();
    expect(unsoundness(path)).toEqual([]);
    const raw = openRaw(path);
    expect(raw.prepare("SELECT schema, user_version FROM head, pragma_user_version").get()).toEqual({
      schema: SCHEMA,
      user_version: SCHEMA,
    });
    raw.close();
  });

  it("is searched by words as before", async () => {
    const path = newPath();
    makeVersion1(path);
    const memory = await openMemory({ path });
    try {
      expect((await memory.session({ user: "ada" }).query("lisbon"))[0]?.id).toBe("first");
    } finally {
      await memory.close();
    }
  });
});

describe("a file of version 2", () => {
  it("has its words indexed anew: lengths without stop words, and every item found", async () => {
    const path = newPath();
    makeVersion2(path);
    const before = openRaw(path);
    expect(before.prepare("SELECT schema, analysis FROM head").get()).toEqual({ schema: 2, analysis: 2 });
    before.close();
    const { store } = await Embedding.open(path, 4);
    const found = async (term: string) => {
      const hits = await store.searchWords({ spaces: [ADA], terms: [term], filter: {}, limit: 10, now: NOW });
      return hits.map(({ id }) => id);
    };
    expect(await found("lisbon")).toEqual(["first", "edited"]);
    expect(await found("ann")).toEqual(["edited"]);
    expect(await found("yellow")).toEqual(["loose"]);
    expect((await found("be")).toSorted(), "stop words too").toEqual(["edited", "first", "loose"]);
    await store.close();
    const raw = openRaw(path);
    expect(raw.prepare("SELECT id, length FROM item ORDER BY key").all()).toEqual([
      { id: "first", length: 2 },
      { id: "edited", length: 2 },
      { id: "loose", length: 2 },
    ]);
    expect(raw.prepare("SELECT terms FROM space").get()).toEqual({ terms: 6 });
    expect(raw.prepare("SELECT schema, analysis, user_version FROM head, pragma_user_version").get()).toEqual({
      schema: SCHEMA,
      analysis: 3,
      user_version: SCHEMA,
    });
    raw.close();
    expect(unsoundness(path)).toEqual([]);
  });

  it("scores like a new file with the same items, also after edits and removals", async () => {
    const path = newPath();
    makeVersion2(path);
    const old = await Embedding.open(path, 4);
    const fresh = await Embedding.open(newPath(), 4);
    const inSession = { space: ADA, session: "s" };
    const name = "Ann";
    await fresh.add(inSession, [{ id: "first", content: "I moved to Lisbon." }]);
    await fresh.add(inSession, [{ id: "edited", content: "It is warm there." }]);
    await fresh.unit({ op: "update", space: ADA, id: "edited", patch: { name } });
    await fresh.add({ space: ADA }, [{ id: "loose", content: "Trams are yellow." }]);
    const scores = ({ store }: Embedding) =>
      Promise.all(
        [["lisbon"], ["ann", "warm"], ["be", "yellow", "tram"], ["move", "red"]].map(async (terms) => {
          const hits = await store.searchWords({ spaces: [ADA], terms, filter: {}, limit: 10, now: NOW });
          return hits.map(({ id, score }) => [id, score]);
        }),
      );
    expect(await scores(old)).toEqual(await scores(fresh));
    for (const one of [old, fresh]) {
      const patch = { content: "The trams are red.", parts: null };
      await one.unit({ op: "update", space: ADA, id: "first", patch });
      await one.forget({ space: ADA, ids: ["loose"] });
    }
    expect(await scores(old)).toEqual(await scores(fresh));
  });

  it("knows who has spoken in it", async () => {
    const path = newPath();
    makeVersion2(path);
    const { store } = await Embedding.open(path, 4);
    expect(await store.speakers([ADA], ["ANN", "first"])).toEqual(["ANN"]);
    expect(await store.speakers([{ user: "bob" }], ["Ann"])).toEqual([]);
  });
});

describe("a file of version 3", () => {
  it("has all its items, finds what stands around a hit, and takes blocks, facts and ledgers", async () => {
    const path = newPath();
    makeVersion3(path);
    const memory = await openMemory({ path });
    try {
      const session = memory.session({ user: "ada", session: "s" });
      expect((await session.query("lisbon")).map(({ id }) => id)).toEqual(["first", "edited"]);
      await session.blocks.create({ name: "persona", content: "I live in Lisbon." });
      const { fact } = await session.facts.upsert({
        category: "home",
        content: "Lisbon",
        source: { message: "first" },
      });
      expect((await session.context({ query: "lisbon" })).added.map(({ id }) => id)).toContain(fact.id);
      expect(await session.delete(["first"])).toMatchObject({ facts: 1 });
    } finally {
      await memory.close();
    }
    expect(unsoundness(path)).toEqual([]);
  });
});

describe("a file of version 4", () => {
  it("has its items, blocks, facts and ledgers, and takes keys for its users", async () => {
    const path = newPath();
    makeVersion4(path);
    const memory = await openMemory({ path });
    try {
      const session = memory.session({ user: "ada", session: "s" });
      expect((await session.query("lisbon"))[0]?.id).toBe("first");
      expect((await session.blocks.list()).map(({ name, content }) => [name, content])).toEqual([
        ["self", "I am Ann."],
      ]);
      expect((await session.facts.list({ state: "ended" })).items.map(({ content }) => content)).toEqual(["Porto"]);
      expect((await memory.keys.list()).items).toEqual([]);
      const { key, secret } = await memory.keys.create({ access: "write", spaces: [{ user: "ada" }] });
      await memory.users.rename("ada", "lovelace");
      expect(await memory.keys.verify(secret)).toEqual({ ...key, spaces: [{ user: "lovelace" }] });
      await memory.users.delete("lovelace");
      expect(await memory.keys.verify(secret)).toMatchObject({ spaces: [] });
    } finally {
      await memory.close();
    }
    expect(unsoundness(path)).toEqual([]);
    const raw = openRaw(path);
    expect(raw.prepare("SELECT schema, user_version FROM head, pragma_user_version").get()).toEqual({
      schema: SCHEMA,
      user_version: SCHEMA,
    });
    raw.close();
  });
});

describe("a file of version 7", () => {
  it("gets codes of all its vectors, the next model's too; they go with them", async () => {
    const path = newPath();
    const before = await Embedding.open(path, 40);
    const random = new RandomVectors(3, 40);
    const ids = Array.from({ length: 700 }, (_, at) => `m${at}`);
    await before.add(
      { space: ADA },
      ids.map((id) => ({ id, content: id })),
    );
    const given = await before.embed({ space: ADA }, () => random.next(2));
    await before.store.close();
    const old = openRaw(path);
    const codesOf = "SELECT place & ((1 << 36) - 1) AS item, codes FROM code_1 ORDER BY place";
    const made = old.prepare(codesOf).all();
    old.exec(`DROP TRIGGER vector_1_gone; DROP TABLE code_1;
      INSERT INTO vector_space (model, runtime, dimensions, created_at) VALUES ('next', 'test', 40, 1);
      CREATE TABLE vector_2 AS SELECT * FROM vector_1 LIMIT 5;
      UPDATE head SET next_space = 2, schema = 7; PRAGMA user_version = 7`);
    old.close();
    const { store, near, forget } = await opened(path);
    for (const id of ["m0", "m333", "m699"]) expect((await near(given.get(id)?.subarray(40)))[0]?.id).toBe(id);
    await forget(["m333"]);
    await store.close();
    const raw = openRaw(path);
    expect(raw.prepare(codesOf).all()).toEqual(made.filter((_, at) => at !== 333));
    expect(raw.prepare("SELECT count(*) AS n FROM code_2").get()).toEqual({ n: 5 });
    raw.close();
    expect(unsoundness(path)).toEqual([]);
  });

  const opened = async (path: string) => {
    const embedding = await Embedding.open(path, 40);
    return {
      store: embedding.store,
      near: (vector: Float32Array = new Float32Array(40)) => embedding.near([ADA], vector, 1),
      forget: (ids: readonly string[]) => embedding.forget({ space: ADA, ids }),
    };
  };
});
