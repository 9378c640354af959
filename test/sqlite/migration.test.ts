/** Files of older versions: opened, brought up to date, and nothing lost. */
import { openMemory } from "holdfast";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { Embedding, NOW } from "./embedding.js";
import { makeVersion1 } from "./version-1.js";

const ADA = { user: "ada" };

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
    expect(stats).toEqual({ pending: 3, parked: 0, embedded: 0, chunks: 0, unsent: 0, unsentFailed: 0 });
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
      schema: 2,
      user_version: 2,
    });
    raw.close();
  });

  it("is searched by words as before", async () => {
    const path = newPath();
    makeVersion1(path);
    const memory = await openMemory({ path });
    try {
      expect((await memory.session({ user: "ada" }).query("lisbon")).map(({ id }) => id)).toEqual(["first"]);
    } finally {
      await memory.close();
    }
  });
});
