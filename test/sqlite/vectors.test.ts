/** Vectors in the file: found exactly, seen by other processes at once, and gone with the text they were made from. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { encode } from "../support/product.js";
import { Random } from "../support/random.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { Embedding, NOW, RandomVectors } from "./embedding.js";

const ADA = { user: "ada" };
const BOB = { user: "bob" };

/** Some bytes of the vectors of every item, as they lie in the file: of the high and of the low ones. No two items share them. */
function samples(items: Iterable<Float32Array>, dimensions: number): Buffer[] {
  return [...items].flatMap((vectors) => {
    const bytes = Buffer.from(encode(vectors, dimensions));
    return [0.2, 0.6, 0.8].map((part) => bytes.subarray(Math.floor(part * bytes.length)).subarray(0, 16));
  });
}

/** How many of the pieces stand somewhere in the files. */
function countInFiles(path: string, pieces: readonly (Buffer | string)[]): number {
  const files = ["", "-wal"].map((suffix) => path + suffix).filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file));
  return pieces.filter((piece) => bytes.some((file) => file.includes(piece))).length;
}

/** The counts in the head, and what they should be. */
function counts(path: string) {
  const raw = openRaw(path);
  const kept = raw.prepare("SELECT embedded, chunks FROM head").get();
  const sql = "SELECT count(*) AS embedded, coalesce(sum(length(spans) / 8), 0) AS chunks FROM vector_1";
  const counted = raw.prepare(sql).get();
  const halves = raw.prepare("SELECT key FROM item WHERE indexed NOT IN (0, version)").all();
  raw.close();
  return { kept, counted, halves };
}

describe("vectors", () => {
  it("take two bytes a number in the file, in one table", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 384);
    const random = new RandomVectors(5, 384);
    const lane = { space: ADA, session: "s" };
    const drafts = Array.from({ length: 500 }, (_, at) => ({ id: `m${at}`, content: `text ${at}` }));
    await embedding.add(lane, drafts);
    await embedding.store.close();
    const before = statSync(path).size;
    const again = await Embedding.open(path, 384);
    await again.embed(lane, () => random.next());
    await again.store.close();
    const perMessage = (statSync(path).size - before) / 500;
    expect(perMessage).toBeGreaterThan(2 * 384);
    expect(perMessage).toBeLessThan(1.15 * 2 * 384);
    const raw = openRaw(path);
    const tables = raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    raw.close();
    expect(tables.map(({ name }) => String(name)).filter((name) => /_\d+$/.test(name))).toEqual(["vector_1"]);
  });

  it("are found exactly as by brute force, under every filter", async () => {
    const embedding = await Embedding.open(newPath(), 24);
    const random = new RandomVectors(7, 24);
    const chance = new Random(8);
    const all: { id: string; space: typeof ADA; session: string; role: string; vectors: Float32Array }[] = [];
    for (const [space, session] of [
      ["ada", "s"],
      ["ada", "t"],
      ["bob", "s"],
    ] as const) {
      const items = Array.from({ length: 700 }, (_, at) => ({
        id: `${space}-${session}-${at}`,
        content: `text ${at}`,
        ...(at % 3 === 0 && { role: "tool" as const }),
      }));
      const lane = { space: { user: space }, session };
      await embedding.add(lane, items);
      const given = await embedding.embed(lane, () => random.next(chance.between(1, 4)));
      for (const { id, role = "user" } of items) {
        all.push({ id, space: lane.space, session, role, vectors: given.get(id) as Float32Array });
      }
    }
    const ask = async (spaces: (typeof ADA)[], filter: { sessions?: string[]; roles?: "tool"[] }, limit: number) => {
      const question = random.next();
      const expected = all
        .filter(({ space }) => spaces.some(({ user }) => user === space.user))
        .filter(
          ({ session, role }) => (filter.sessions ?? [session])[0] === session && (filter.roles ?? [role])[0] === role,
        )
        .map(({ id, vectors }) => ({ id, ...best(vectors, question) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, limit);
      const found = await embedding.near(spaces, question, limit, filter);
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(expected[at]?.score ?? 0, 6);
    };
    for (const spaces of [[ADA], [BOB], [ADA, BOB]]) {
      await ask(spaces, {}, 10);
      await ask(spaces, { roles: ["tool"] }, 40);
      await ask(spaces, { sessions: ["t"] }, 25);
      await ask(spaces, { sessions: ["s"], roles: ["tool"] }, 500);
      await ask(spaces, {}, 5_000);
    }
  });

  it("of a space that another process was the first to write are taken and found at once", async () => {
    const path = newPath();
    const first = await Embedding.open(path, 8, "first");
    const second = await Embedding.open(path, 8, "second");
    const random = new RandomVectors(3, 8);
    const question = random.next();
    expect(await second.near([ADA], question, 5)).toEqual([]);
    await first.add({ space: ADA, session: "s" }, [{ id: "x", content: "of the first" }]);
    await second.add({ space: ADA, session: "t" }, [{ id: "y", content: "of the second" }]);
    await second.embed({ space: ADA, session: "t" }, () => question);
    await first.embed({ space: ADA, session: "s" }, () => random.next());
    for (const process of [first, second]) {
      expect((await process.near([ADA], question, 5)).map(({ id }) => id)).toEqual(["y", "x"]);
    }
    await second.forget({ space: ADA, ids: ["x"] });
    expect((await first.near([ADA], question, 5)).map(({ id }) => id)).toEqual(["y"]);
    expect(await first.store.indexingStats()).toMatchObject({ embedded: 1, vectorSpace: second.vectorSpace });
  });

  it("survive that the first unit with vectors is undone, and those of another space come then", async () => {
    const embedding = await Embedding.open(newPath(), 8);
    await embedding.add({ space: ADA }, [{ id: "x", content: "text" }]);
    const [owner, lane] = [{ id: "me", process: "1" }, { space: ADA }];
    const [claimed] = await embedding.unit({ op: "claim", owner, lanes: [lane], evict: [] });
    const claim = claimed?.op === "claim" ? claimed.claims[0] : undefined;
    const fence = claim && "fence" in claim ? claim.fence : 0;
    const other = { model: "other", runtime: "test", dimensions: 3 };
    const write = { op: "index", owner: "me", lane, fence, vectorSpace: other, items: [], release: false } as const;
    const missing = { op: "update", space: ADA, id: "missing", patch: {} } as const;
    const { outcomes } = await embedding.store.commit([[write, missing]], NOW, "undone");
    expect(outcomes).toMatchObject([{ ok: false, error: { code: "not_found" } }]);
    const question = new RandomVectors(1, 8).next();
    await embedding.embed({ space: ADA }, () => question);
    expect(await embedding.near([ADA], question, 1)).toMatchObject([{ id: "x" }]);
  });

  it("that are forgotten leave the bytes of the file, and so do those that borrowed from what is forgotten", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 384);
    const random = new RandomVectors(11, 384);
    const lane = { space: ADA, session: "s" };
    await embedding.add(
      lane,
      Array.from({ length: 40 }, (_, at) => ({ id: `m${at}`, content: `a thing to say, number ${at + 100}` })),
    );
    let items = 0;
    const given = await embedding.embed(lane, () => random.next(1 + (items++ % 5)), true);
    const doomed = ["m3", "m4", "m17", "m18"].map((id) => given.get(id) as Float32Array); // m4 and m18 have borrowed
    const kept = ["m2", "m5", "m16", "m19"].map((id) => given.get(id) as Float32Array);
    expect(countInFiles(path, samples(doomed, 384))).toBe(12);
    await embedding.forget({ space: ADA, ids: ["m3", "m17"] });
    expect(await embedding.store.purge(5_000)).toEqual({ purged: true, left: [] });
    expect(countInFiles(path, samples(doomed, 384))).toBe(0);
    expect(countInFiles(path, ["number 103", "number 117"])).toBe(0);
    expect(countInFiles(path, samples(kept, 384))).toBe(12);
    expect(await embedding.store.indexingStats()).toMatchObject({ pending: 2, embedded: 36 });
  });

  it("of forgotten items leave no copies where pages were split", async () => {
    // Ids and texts are too short to be looked for: it is the vectors' own bytes that must be found.
    const path = newPath();
    const embedding = await Embedding.open(path, 24);
    const random = new RandomVectors(12, 24);
    const chance = new Random(13);
    const live = new Map<string, { readonly user: string; readonly vectors: Float32Array }>();
    const gone: Float32Array[] = [];
    for (let round = 0; round < 30; round++) {
      for (const user of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
        const lane = { space: { user } };
        const ids = Array.from({ length: 6 }, (_, at) => `${user}${round * 6 + at}`);
        await embedding.add(
          lane,
          ids.map((id) => ({ id, content: "x" })),
        );
        const given = await embedding.embed(lane, () => random.next(chance.between(1, 4)));
        for (const [id, vectors] of given) live.set(id, { user, vectors });
      }
      const doomed = [...live].filter(() => chance.chance(0.3));
      for (const [id, { user, vectors }] of doomed) {
        await embedding.forget({ space: { user }, ids: [id] });
        live.delete(id);
        gone.push(vectors);
      }
    }
    expect(await embedding.store.purge(5_000)).toEqual({ purged: true, left: [] });
    expect(gone.length).toBeGreaterThan(1_000);
    expect(countInFiles(path, samples(gone, 24))).toBe(0);
    const kept = [...live.values()].map(({ vectors }) => vectors);
    expect(countInFiles(path, samples(kept, 24))).toBe(3 * kept.length);
    const { kept: told, counted, halves } = counts(path);
    expect(told).toEqual(counted);
    expect(halves).toEqual([]);
    expect(unsoundness(path)).toEqual([]);
  });

  it("of a text that was edited leave the file with the next purge", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 384);
    const random = new RandomVectors(14, 384);
    await embedding.add({ space: ADA }, [
      { id: "x", content: "the old text of it" },
      { id: "y", content: "another text" },
    ]);
    const given = await embedding.embed({ space: ADA }, () => random.next(3));
    await embedding.unit({ op: "update", space: ADA, id: "x", patch: { content: "the new one", parts: null } });
    expect((await embedding.near([ADA], random.next(), 5)).map(({ id }) => id)).toEqual(["y"]);
    await embedding.store.purge(5_000);
    const old = [given.get("x") as Float32Array];
    expect(countInFiles(path, [...samples(old, 384), "the old text"])).toBe(0);
    expect(countInFiles(path, samples([given.get("y") as Float32Array], 384))).toBe(3);
  });
});

function best(vectors: Float32Array, question: Float32Array): { score: number; part: number } {
  const scores = Array.from({ length: vectors.length / question.length }, (_, part) =>
    question.reduce((sum, value, at) => sum + value * (vectors[part * question.length + at] ?? 0), 0),
  );
  const score = Math.max(...scores);
  return { score, part: scores.indexOf(score) };
}
