/**
 * Vectors in memory: a search finds what a scan of all vectors in the file would find, under every filter, after any
 * change by this or another process; and they stay within their budget.
 */
import { searchVectors, type VectorsRequest } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";
import { Embedding, NOW, RandomVectors } from "./embedding.js";

const MEGABYTE = 1024 * 1024;
const DIMENSIONS = 48;
/** Room for one page, with about a thousand vectors. */
const SMALL = MEGABYTE / 4;

interface Kept {
  readonly user: string;
  readonly session?: string;
  readonly role: string;
  readonly vectors: Float32Array;
}

type Filter = VectorsRequest["filter"];
type Lane = { readonly space: { readonly user: string }; readonly session?: string };

/** What must be found: every vector of every item that passes, looked at one by one. */
function bruteForce(all: ReadonlyMap<string, Kept>, users: readonly string[], filter: Filter, question: Float32Array) {
  const found = [...all].flatMap(([id, { user, session, role, vectors }]) => {
    if (!users.includes(user)) return [];
    if (filter.sessions && !filter.sessions.includes(session ?? "")) return [];
    if (filter.roles && !filter.roles.some((one) => one === role)) return [];
    return { id, score: bestOf(vectors, question) };
  });
  return found.sort((a, b) => b.score - a.score);
}

function bestOf(vectors: Float32Array, question: Float32Array): number {
  let best = -1;
  for (let start = 0; start < vectors.length; start += question.length) {
    let score = 0;
    for (const [at, value] of question.entries()) score += value * (vectors[start + at] ?? 0);
    best = Math.max(best, score);
  }
  return best;
}

/** A file with items of a few users, what is in it, and a way to change both at once. */
class World {
  readonly all = new Map<string, Kept>();
  readonly #random: RandomVectors;
  readonly #chance: Random;
  readonly #roles = new Map<string, string>();
  #ids = 0;

  constructor(seed: number) {
    this.#random = new RandomVectors(seed, DIMENSIONS);
    this.#chance = new Random(seed + 1);
  }

  /** So many new items; each has a number of vectors between the two. */
  async add(embedding: Embedding, lane: Lane, count: number, parts: readonly [number, number] = [1, 4]): Promise<void> {
    const drafts = Array.from({ length: count }, () => ({
      id: `m${++this.#ids}`,
      content: "text",
      ...(this.#chance.chance(0.3) && { role: "tool" as const }),
    }));
    for (const { id, role = "user" } of drafts) this.#roles.set(id, role);
    await embedding.add(lane, drafts);
    await this.embed(embedding, lane, parts);
  }

  /** Gives all that waits in the lane new vectors. */
  async embed(embedding: Embedding, lane: Lane, parts: readonly [number, number] = [1, 4]): Promise<void> {
    const given = await embedding.embed(lane, () => this.#random.next(this.#chance.between(...parts)));
    const place = { user: lane.space.user, ...(lane.session !== undefined && { session: lane.session }) };
    for (const [id, vectors] of given) this.all.set(id, { ...place, role: this.#roles.get(id) ?? "", vectors });
  }

  /** Asks a random question and compares. */
  async check(embedding: Embedding, users: readonly string[], filter: Filter, limit: number): Promise<void> {
    const question = this.#random.next();
    const expected = bruteForce(this.all, users, filter, question).slice(0, limit);
    const found = await embedding.near(
      users.map((user) => ({ user })),
      question,
      limit,
      filter,
    );
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(expected[at]?.score ?? 2, 6);
  }
}

const mirrors = ({ store }: Embedding) => store.mirrors();

describe("vectors in memory", () => {
  it("find what brute force finds, whatever two processes add, edit, delete and forget", async () => {
    const seed = testSeed("mirrors");
    const chance = new Random(seed);
    const path = newPath();
    const world = new World(seed);
    // One owner of leases, so that they take turns in embedding as they come.
    const processes = [await Embedding.open(path, DIMENSIONS), await Embedding.open(path, DIMENSIONS)];
    const users = ["ada", "bob", "cy"];
    const laneOf = (user: string): Lane =>
      chance.chance(0.3) ? { space: { user } } : { space: { user }, session: chance.pick(["s", "t"]) };
    for (const user of users) await world.add(processes[0] as Embedding, { space: { user }, session: "s" }, 150);
    for (let round = 0; round < 120; round++) {
      const embedding = chance.pick(processes);
      const [id, kept] = chance.pick([...world.all]);
      const space = { user: kept.user };
      const lane = { space, ...(kept.session !== undefined && { session: kept.session }) };
      const act = chance.weighted({ add: 5, edit: 4, edited: 3, blank: 2, forget: 4, session: 0.2, space: 0.2 });
      if (act === "add") await world.add(embedding, laneOf(chance.pick(users)), chance.between(1, 20));
      if (act === "edit" || act === "edited") {
        await embedding.unit({ op: "update", space, id, patch: { content: `text ${round}`, parts: null } });
        world.all.delete(id); // until it is embedded again, now or in another round
        if (act === "edited") await world.embed(embedding, lane);
      }
      if (act === "blank") {
        await world.embed(embedding, lane); // whatever else waits there
        await embedding.unit({ op: "update", space, id, patch: { content: " ", parts: null } });
        await embedding.embed(lane, () => new Float32Array(0));
        world.all.delete(id);
      }
      if (act === "forget") {
        await embedding.forget({ space, ids: [id] });
        world.all.delete(id);
      }
      if (act === "session" && kept.session !== undefined) {
        await embedding.forget({ space, session: kept.session, entry: true });
        for (const [other, { user, session }] of world.all) {
          if (user === kept.user && session === kept.session) world.all.delete(other);
        }
      }
      if (act === "space") {
        await embedding.forget({ space, entry: true });
        for (const [other, { user }] of world.all) if (user === kept.user) world.all.delete(other);
        await world.add(embedding, { space }, 5); // the same name, another space
      }
      const asked = users.filter(() => chance.chance(0.6));
      const filters: Filter[] = [
        {},
        { roles: ["tool"] },
        { sessions: ["t"] },
        { sessions: ["s", "t"], roles: ["user"] },
      ];
      await world.check(chance.pick(processes), asked, chance.pick(filters), chance.pick([1, 5, 30, 10_000]));
    }
    for (const embedding of processes) {
      for (const user of users) await world.check(embedding, [user], {}, 1_000);
      expect((await mirrors(embedding)).hits).toBeGreaterThan(20);
    }
  });

  it("find nothing that has lost its vectors, also after so many writes that edits are not looked for among them", async () => {
    const embedding = await Embedding.open(newPath(), DIMENSIONS);
    const world = new World(5);
    const lane = { space: { user: "ada" } };
    await world.add(embedding, lane, 50);
    const { store, vectorSpace } = embedding;
    const [vector] = [...world.all.values()].map(({ vectors }) => vectors.subarray(0, DIMENSIONS));
    const ask = async () => {
      const request = { spaces: [lane.space], vectorSpace, vector: vector as Float32Array, filter: {}, now: NOW };
      return searchVectors(store, { ...request, limit: 100 });
    };
    expect(await ask()).toHaveLength(50);
    await embedding.unit({ op: "update", space: lane.space, id: "m7", patch: { content: " ", parts: null } });
    await embedding.embed(lane, () => new Float32Array(0));
    const others = Array.from({ length: 8_193 }, (_, at) => ({ id: `b${at}`, content: "text" }));
    await embedding.add({ space: { user: "bob" } }, others);
    for (let times = 0; times < 2; times++) {
      expect(await ask()).toHaveLength(49);
    }
  });

  it("find nothing that has lost its vectors with a text that it had borrowed, waiting or set aside", async () => {
    const embedding = await Embedding.open(newPath(), DIMENSIONS);
    const random = new RandomVectors(7, DIMENSIONS);
    const lane = { space: { user: "ada" }, session: "s" };
    const drafts = Array.from({ length: 20 }, (_, at) => ({ id: `m${at}`, content: "text" }));
    await embedding.add(lane, drafts);
    await embedding.embed(lane, () => random.next(), true); // each carries text of the one before
    const { store, vectorSpace } = embedding;
    const request = { spaces: [lane.space], vectorSpace, vector: random.next(), filter: {}, limit: 100, now: NOW };
    const ask = async () => (await searchVectors(store, request)).length;
    expect(await ask()).toBe(20);
    await embedding.unit({ op: "update", space: lane.space, id: "m7", patch: { content: "new", parts: null } });
    expect(await ask(), "without it and who had borrowed from it").toBe(18);
    const owner = { id: "me", process: "test" };
    const [claim] = await embedding.unit({ op: "claim", owner, lanes: [lane], evict: [] });
    const fence = claim?.op === "claim" && claim.claims[0] && "fence" in claim.claims[0] ? claim.claims[0].fence : 0;
    const { items: pending } = await store.pending({ lanes: [{ lane }], limit: 10, maxBytes: 1e6, now: NOW });
    const items = pending.map(({ key, version }) => ({ key, version, error: "too long" }));
    const [parked] = await embedding.unit({ op: "park", owner: "me", lane, fence, items });
    expect(parked).toMatchObject({ parked: 2 });
    expect(await ask()).toBe(18);
  });

  it("are loaded once, and follow what this and another process write without being loaded again", async () => {
    const path = newPath();
    const world = new World(1);
    const one = await Embedding.open(path, DIMENSIONS, "one");
    const two = await Embedding.open(path, DIMENSIONS, "two");
    const lane = { space: { user: "ada" }, session: "s" };
    await world.add(one, lane, 1_200);
    expect(await mirrors(one)).toMatchObject({ spaces: 0, loads: 0, bytes: 0 });
    await world.check(one, ["ada"], {}, 10);
    const loaded = await mirrors(one);
    expect(loaded).toMatchObject({ spaces: 1, loads: 1 });
    const rows = [...world.all.values()].reduce((sum, { vectors }) => sum + vectors.length / DIMENSIONS, 0);
    expect(loaded.vectors).toBe(rows);
    await world.add(two, { space: { user: "ada" }, session: "t" }, 30);
    await two.forget({ space: { user: "ada" }, ids: ["m1", "m2", "m3"] });
    for (const id of ["m1", "m2", "m3"]) world.all.delete(id);
    await world.check(one, ["ada"], {}, 2_000);
    const after = await mirrors(one);
    expect(after.loads).toBe(1);
    expect(after.vectors).toBe(
      [...world.all.values()].reduce((sum, { vectors }) => sum + vectors.length / DIMENSIONS, 0),
    );
  });

  it("of a space that has changed very much are loaded again", async () => {
    const path = newPath();
    const world = new World(2);
    const one = await Embedding.open(path, DIMENSIONS, "one");
    const lane = { space: { user: "ada" }, session: "s" };
    await world.add(one, lane, 10);
    await world.check(one, ["ada"], {}, 10);
    await world.add(one, lane, 2_500);
    await world.check(one, ["ada"], {}, 10);
    expect(await mirrors(one)).toMatchObject({ spaces: 1, loads: 2, evictions: 0 });
  });

  it("leave memory with a forget and its purge, also where they had borrowed what is forgotten", async () => {
    const path = newPath();
    const one = await Embedding.open(path, DIMENSIONS);
    const random = new RandomVectors(3, DIMENSIONS);
    const lane = { space: { user: "ada" }, session: "s" };
    await one.add(
      lane,
      Array.from({ length: 40 }, (_, at) => ({ id: `m${at}`, content: `something to say ${at}` })),
    );
    await one.embed(lane, () => random.next(2), true);
    await one.near([lane.space], random.next(), 5);
    expect(await mirrors(one)).toMatchObject({ vectors: 80 });
    await one.forget({ space: lane.space, ids: ["m10", "m20"] });
    expect(await one.store.purge(5_000)).toMatchObject({ purged: true });
    // Without a search in between: two items, and two that carried their text.
    expect(await mirrors(one)).toMatchObject({ vectors: 72, loads: 1 });
  });

  it("of a text that was edited are not found, and leave with the next purge", async () => {
    const one = await Embedding.open(newPath(), DIMENSIONS);
    const random = new RandomVectors(4, DIMENSIONS);
    const lane = { space: { user: "ada" }, session: "s" };
    await one.add(lane, [
      { id: "x", content: "old" },
      { id: "y", content: "other" },
    ]);
    const given = await one.embed(lane, () => random.next());
    const question = given.get("x") as Float32Array;
    expect(await one.near([lane.space], question, 1)).toMatchObject([{ id: "x" }]);
    await one.unit({ op: "update", space: lane.space, id: "x", patch: { content: "new", parts: null } });
    expect(await one.near([lane.space], question, 1)).toMatchObject([{ id: "y" }]);
    await one.store.purge(5_000);
    expect(await mirrors(one)).toMatchObject({ vectors: 1, loads: 1 });
  });

  it("that do not fit give way to those that were asked for last, and nothing grows with the number of users", async () => {
    const path = newPath();
    const world = new World(5);
    const budget = MEGABYTE;
    const one = await Embedding.open(path, DIMENSIONS, "one", budget);
    const users = Array.from({ length: 60 }, (_, at) => `user ${at}`);
    for (const user of users) await world.add(one, { space: { user }, session: "s" }, 8);
    for (const user of users) {
      await world.check(one, [user], {}, 5);
      const { bytes } = await mirrors(one);
      expect(bytes).toBeLessThanOrEqual(budget);
    }
    const { spaces, evictions, loads } = await mirrors(one);
    expect(loads).toBe(60);
    expect(spaces).toBeLessThan(20);
    expect(evictions).toBe(60 - spaces);
    await world.check(one, ["user 59"], {}, 5);
    expect((await mirrors(one)).loads, "the last is still there").toBe(60);
    await world.check(one, ["user 0"], {}, 5);
    expect((await mirrors(one)).loads, "the first is not").toBe(61);
  });

  it("of more spaces than fit at once are searched all the same", async () => {
    const path = newPath();
    const world = new World(6);
    const one = await Embedding.open(path, DIMENSIONS, "one", MEGABYTE);
    const users = Array.from({ length: 30 }, (_, at) => `user ${at}`);
    for (const user of users) await world.add(one, { space: { user } }, 8);
    for (let round = 0; round < 3; round++) {
      await world.check(one, users, {}, 50);
      await world.check(one, users, { roles: ["tool"] }, 50);
      expect((await mirrors(one)).bytes).toBeLessThanOrEqual(MEGABYTE);
    }
  });

  it("are read from the file from end to end where they do not fit", async () => {
    const path = newPath();
    const world = new World(7);
    const lane = { space: { user: "ada" }, session: "s" };
    for (const budget of [0, SMALL]) {
      const one = await Embedding.open(path, DIMENSIONS, "me", budget);
      if (world.all.size === 0) await world.add(one, lane, 1_500);
      await world.check(one, ["ada"], {}, 10);
      await world.check(one, ["ada"], { roles: ["tool"] }, 10);
      await world.check(one, ["ada"], { sessions: ["s"] }, 3_000);
      const stats = await mirrors(one);
      expect(stats.bytes).toBeLessThanOrEqual(budget);
      expect(stats).toMatchObject({ spaces: 0, vectors: 0, loads: 0, hits: 0 });
    }
  });

  it("that are found not to fit only when they are loaded are not loaded again for each search", async () => {
    const world = new World(15);
    const one = await Embedding.open(newPath(), DIMENSIONS, "me", SMALL);
    await world.add(one, { space: { user: "bob" } }, 2_000, [1, 1]); // so that items have few vectors on average
    await world.add(one, { space: { user: "ada" } }, 560, [4, 4]);
    for (let round = 0; round < 3; round++) await world.check(one, ["ada"], {}, 10);
    const stats = await mirrors(one);
    expect(stats).toMatchObject({ spaces: 0, loads: 1, hits: 0 });
    expect(stats.bytes).toBeLessThanOrEqual(SMALL);
    // When it has become smaller it is tried again.
    const ids = [...world.all].filter(([, { user }]) => user === "ada").map(([id]) => id);
    for (const id of ids.slice(0, 360)) world.all.delete(id);
    await one.forget({ space: { user: "ada" }, ids: ids.slice(0, 360) });
    await world.check(one, ["ada"], {}, 10);
    expect(await mirrors(one)).toMatchObject({ spaces: 1, loads: 2, vectors: 800 });
  });

  it("that take too long to load are said to be missing, and are there a moment later", async () => {
    const path = newPath();
    const world = new World(8);
    const one = await Embedding.open(path, DIMENSIONS);
    const lane = { space: { user: "ada" }, session: "s" };
    await world.add(one, lane, 5_000);
    const question = new RandomVectors(9, DIMENSIONS).next();
    const request = { spaces: [lane.space], vectorSpace: one.vectorSpace, vector: question, limit: 5, now: NOW };
    await expect(searchVectors(one.store, { ...request, filter: {}, readyMs: 0 })).rejects.toMatchObject({
      code: "loading",
    });
    // What needs no mirror is answered at once: a search of a small session.
    await one.add({ space: { user: "ada" }, session: "small" }, [{ id: "few", content: "few" }]);
    const {
      items: [waiting],
    } = await one.store.pending({
      lanes: [{ lane: { space: lane.space, session: "small" } }],
      limit: 1,
      maxBytes: 1,
      now: NOW,
    });
    await one.embed({ space: lane.space, session: "small" }, () => question);
    const key = Number(waiting?.key);
    const small = { ...request, filter: { sessions: ["small"] }, readyMs: 0 };
    expect(await searchVectors(one.store, small)).toMatchObject([{ key }]);
    expect(await searchVectors(one.store, { ...request, filter: {}, readyMs: 60_000 })).toMatchObject([
      { id: "few" },
      {},
      {},
      {},
      {},
    ]);
    expect(await mirrors(one), "the load went on, and was not begun anew").toMatchObject({ loads: 1, spaces: 1 });
    expect(await searchVectors(one.store, { ...request, filter: {}, readyMs: 0 })).toHaveLength(5);
  });

  it("of a large space are loaded in slices, between which others are searched", async () => {
    const path = newPath();
    const world = new World(10);
    const one = await Embedding.open(path, DIMENSIONS);
    await world.add(one, { space: { user: "small" } }, 5);
    await world.add(one, { space: { user: "large" } }, 6_000);
    await world.check(one, ["small"], {}, 5);
    const order: string[] = [];
    const large = world.check(one, ["large"], {}, 5).then(() => order.push("large"));
    const small = world.check(one, ["small"], {}, 5).then(() => order.push("small"));
    await Promise.all([large, small]);
    expect(order).toEqual(["small", "large"]);
  });

  it("that are being loaded when the store is closed do not hold it up", async () => {
    const world = new World(11);
    const one = await Embedding.open(newPath(), DIMENSIONS);
    const space = { user: "ada" };
    await world.add(one, { space }, 3_000);
    const question = new RandomVectors(12, DIMENSIONS).next();
    const request = { spaces: [space], vectorSpace: one.vectorSpace, vector: question, filter: {}, limit: 3, now: NOW };
    await expect(searchVectors(one.store, { ...request, readyMs: 0 })).rejects.toMatchObject({ code: "loading" });
    const hints = { refersBack: false, dates: [], recency: 0, askedAt: NOW };
    const vector = { space: one.vectorSpace, numbers: question, fresh: [], freshOnly: false, readyMs: 60_000 };
    const last = one.store.search({
      spaces: [space],
      filter: {},
      now: NOW,
      terms: [],
      lookups: [],
      vector,
      hints,
      limit: 3,
    });
    await mirrors(one); // the search has reached its thread
    await one.store.close();
    expect((await last).found, "what was asked before is answered").toHaveLength(3);
  });

  it("are of the vector space that the file keeps, and of no other", async () => {
    const one = await Embedding.open(newPath(), DIMENSIONS);
    const world = new World(13);
    await world.add(one, { space: { user: "ada" } }, 20);
    await world.check(one, ["ada"], {}, 5);
    const vectorSpace = { ...one.vectorSpace, dimensions: 16 };
    const vector = new RandomVectors(14, 16).next();
    const other = { spaces: [{ user: "ada" }], vectorSpace, vector, filter: {}, limit: 5, now: NOW };
    expect(await searchVectors(one.store, other)).toEqual([]);
    await world.check(one, ["ada"], {}, 5);
    expect(await mirrors(one)).toMatchObject({ loads: 1 });
  });
});
