/** Points: vectors of callers' own with an id and a payload, in collections of a space. */
import { expect } from "vitest";
import { cosine } from "../../stores/point-rules.js";
import type { PointsRequest, PutPointDone, PutPointWrite, VectorPoint } from "../../stores/points.js";
import type { SpaceRef } from "../../types.js";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, DAY, type Probe, START } from "./probe.js";

type Draft = Partial<Omit<PutPointWrite, "op" | "vector">> & { readonly vector?: readonly number[] };

const putting = ({ vector = [1, 0, 0], ...draft }: Draft = {}): PutPointWrite => ({
  op: "put_point",
  space: ADA,
  collection: "c",
  id: "p",
  payload: null,
  existing: "replace",
  ...draft,
  vector: Float32Array.from(vector),
});

async function put(probe: Probe, draft?: Draft): Promise<PutPointDone["outcome"]> {
  const [done] = await probe.unit(putting(draft));
  if (done?.op !== "put_point") throw new Error("a point was answered by something else");
  return done.outcome;
}

async function all(probe: Probe, request: Partial<PointsRequest> = {}): Promise<readonly VectorPoint[]> {
  return (await probe.store.points({ space: ADA, limit: 1000, now: probe.now, ...request })).items;
}

async function ids(probe: Probe, request?: Partial<PointsRequest>): Promise<readonly string[]> {
  return (await all(probe, request)).map(({ id }) => id);
}

const near = (probe: Probe, vector: readonly number[], limit = 10, spaces: readonly SpaceRef[] = [ADA]) =>
  probe.store.nearest({ spaces, collection: "c", vector: Float32Array.from(vector), limit, now: probe.now });

const named = (collection: string, ...ids: string[]) => ({ space: ADA, points: { collection, ids } });

export function points(check: Check, checkPersistent: CheckPersistent): void {
  check("are returned as they were stored, and register space and session", async (probe) => {
    const payload = { title: "naïve 👍", deep: [1, null, { "": true }], __proto: "kept" };
    const vector = [0.1, -0.2, 3e38, 1e-45];
    expect(await put(probe, { session: "s", vector, payload })).toBe("added");
    expect(await all(probe)).toStrictEqual([
      {
        ...{ space: ADA, collection: "c", id: "p", session: "s", payload, storedAt: START },
        vector: Float32Array.from(vector),
      },
    ]);
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
    expect(await all(probe, { space: BOB })).toEqual([]);
    expect(await near(probe, vector, 10, [BOB])).toEqual([]);
    expect(await probe.list(ADA), "a point is no item").toEqual([]);
  });

  check("are replaced when they are stored again, and not written if nothing differs", async (probe) => {
    await put(probe, { session: "s" });
    expect(await probe.commit([putting({ session: "s" })])).toMatchObject({ changed: false });
    probe.now += 5;
    const others: Draft[] = [{ vector: [1, 0, 1] }, { payload: [] }, { payload: "x", session: "t" }, {}];
    for (const other of others) {
      expect(await put(probe, other), JSON.stringify(other)).toBe("updated");
      expect(await put(probe, other)).toBe("unchanged");
      expect(await all(probe)).toMatchObject([{ storedAt: probe.now, payload: other.payload ?? null }]);
    }
    expect((await all(probe))[0]).not.toHaveProperty("session");
    expect(await put(probe, { existing: "same" })).toBe("unchanged");
    for (const other of others.slice(0, 3)) await probe.fails("conflict", putting({ ...other, existing: "same" }));
    expect(await put(probe, { id: "new", existing: "same" })).toBe("added");
  });

  check("have as many dimensions as the first of their collection, while it has points", async (probe) => {
    await put(probe, { id: "a" });
    const error = await probe.fails("vector_space", putting({ id: "b", vector: [1, 2] }));
    expect(error.details).toEqual({ kept: 3, given: 2 });
    await probe.fails("vector_space", putting({ id: "a", vector: [1, 2, 3, 4] }));
    await expect(near(probe, [1, 2])).rejects.toMatchObject({ code: "vector_space" });
    expect(await put(probe, { collection: "d", vector: [1, 2] })).toBe("added");
    expect(await put(probe, { space: BOB, vector: [1, 2] })).toBe("added");
    await expect(near(probe, [1, 2, 3], 5, [ADA, BOB])).rejects.toMatchObject({ code: "vector_space" });
    await probe.unit({ op: "forget", target: named("c", "a") });
    expect(await put(probe, { id: "b", vector: [1, 2] })).toBe("added");
  });

  check("do not change the version of their space, and fail with their unit", async (probe) => {
    await probe.add(ADA, ["hello"], { session: "s" });
    const version = await probe.version(ADA);
    expect(await probe.commit([putting({ session: "s" })])).toMatchObject({ changed: true, versions: [] });
    const failing = { op: "update", space: ADA, id: "never there", patch: {} } as const;
    await probe.fails("not_found", putting({ id: "q" }), putting({ collection: "d", vector: [1] }), failing);
    await probe.unit({ op: "forget", target: named("c", "p") });
    expect(await ids(probe)).toEqual([]);
    expect(await probe.version(ADA)).toBe(version);
  });

  check("are found by their cosine, best first, whatever their length", async (probe) => {
    const vectors = { east: [1e30, 0, 0], north: [0, 1e-30, 0], between: [3, 3, 0], west: [-1, 0, 0] };
    for (const [id, vector] of Object.entries(vectors)) await put(probe, { id, vector, payload: { id } });
    await put(probe, { id: "east", collection: "other", vector: [1, 0, 0] });
    await put(probe, { id: "his", space: BOB, vector: [1, 0, 0] });
    const found = await near(probe, [0.5, 0, 0]);
    expect(found.map(({ id }) => id)).toEqual(["east", "between", "north", "west"]);
    expect(found.map(({ score }) => score)).toEqual([1, expect.closeTo(Math.SQRT1_2, 6), 0, -1]);
    expect(found[0]).toStrictEqual({
      ...{ space: ADA, collection: "c", id: "east", payload: { id: "east" }, storedAt: START, score: 1 },
    });
    expect((await near(probe, [1, 0, 0], 2)).map(({ id }) => id)).toEqual(["east", "between"]);
    expect((await near(probe, [1, 0, 0], 2, [ADA, BOB])).map(({ id }) => id)).toEqual(["east", "his"]);
  });

  check("are found as by brute force among thousands, and paged in the order of their first storing", async (probe) => {
    const dimensions = 8;
    let seed = 7;
    const random = (): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 31 - 1;
    };
    const drafts = Array.from({ length: 5_000 }, (_, at) => ({
      id: `p${at}`,
      collection: at % 2 === 0 ? "c" : "d",
      vector: Array.from({ length: dimensions }, random),
    }));
    for (let at = 0; at < drafts.length; at += 500) await probe.unit(...drafts.slice(at, at + 500).map(putting));
    const asked = Array.from({ length: dimensions }, random);
    const scores = drafts
      .filter(({ collection }) => collection === "c")
      .map(({ id, vector }) => ({ id, score: cosine(Float32Array.from(vector), Float32Array.from(asked)) }))
      .sort((a, b) => b.score - a.score);
    const found = await near(probe, asked, 50);
    expect(found.map(({ id, score }) => ({ id, score }))).toEqual(scores.slice(0, 50));

    const paged: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const request = { space: ADA, limit: 999, now: probe.now, ...(cursor !== undefined && { cursor }) };
      const page = await probe.store.points(request);
      paged.push(...page.items.map(({ collection, id }) => `${collection} ${id}`));
      cursor = page.next;
    }
    const inOrder = (wanted: string) =>
      drafts.flatMap(({ collection, id }) => (collection === wanted ? `${wanted} ${id}` : []));
    expect(paged).toEqual([...inOrder("c"), ...inOrder("d")]);
    expect(await ids(probe, { collection: "d", limit: 3 })).toEqual(["p1", "p3", "p5"]);
    const bad = probe.store.points({ space: BOB, limit: 1, cursor: "bad", now: probe.now });
    await expect(bad).resolves.toEqual({ items: [] });
    await expect(all(probe, { cursor: "bad" })).rejects.toMatchObject({ code: "invalid_input" });
  });

  check("are read by id, and by session", async (probe) => {
    for (const id of ["a", "b", "é", "e\u0301", "c"]) await put(probe, { id, ...(id < "c" && { session: "s" }) });
    await put(probe, { id: "a", collection: "Ç %\\", session: "s" });
    expect((await ids(probe, { collection: "c", ids: ["é", "a", "nobody"] })).toSorted()).toEqual(["a", "é"]);
    expect(await ids(probe, { collection: "Ç %\\", ids: ["a", "b"] })).toEqual(["a"]);
    expect(await ids(probe, { session: "s" })).toEqual(["a", "b", "a"]);
    const first = await probe.store.points({ space: ADA, session: "s", limit: 2, now: probe.now });
    expect(await ids(probe, { session: "s", cursor: String(first.next) })).toEqual(["a"]);
    expect(await ids(probe, { session: "nobody" })).toEqual([]);
  });

  check("are forgotten one by one, with their session, and with their space", async (probe) => {
    for (const id of ["a", "b", "c"]) await put(probe, { id, session: "s" });
    await put(probe, { id: "d" });
    await put(probe, { id: "a", space: BOB });
    await put(probe, { id: "a", collection: "other" });
    expect(await probe.forget(named("c", "a", "a", "nobody"))).toMatchObject({ points: 1, items: 0 });
    expect(await probe.forget(named("nothing", "a"))).toMatchObject({ points: 0 });
    expect(await ids(probe)).toEqual(["b", "c", "d", "a"]);
    await put(probe, { id: "b", session: "t" });
    expect(await probe.forget({ space: ADA, session: "s", entry: true })).toMatchObject({ points: 1, sessions: 1 });
    expect(await ids(probe)).toEqual(["b", "d", "a"]);
    expect(await probe.forget({ space: ADA, session: "t", entry: false })).toMatchObject({ points: 1, sessions: 0 });
    expect(await probe.forget({ space: ADA, entry: true })).toMatchObject({ points: 2, entries: 1 });
    expect(await ids(probe)).toEqual([]);
    expect(await near(probe, [1, 0, 0])).toEqual([]);
    expect(await ids(probe, { space: BOB })).toEqual(["a"]);
  });

  check("are forgotten in slices", async (probe) => {
    const many = Array.from({ length: 700 }, (_, at) => putting({ id: `p${at}`, session: "s" }));
    await probe.unit(...many);
    let sum = 0;
    for (let remaining = true, slices = 0; remaining && slices < 1000; slices++) {
      const [done] = await probe.unit({ op: "forget", target: { space: ADA, session: "s", entry: true } });
      if (done?.op !== "forget") throw new Error("a forget was answered by something else");
      sum += done.points;
      ({ remaining } = done);
    }
    expect(sum).toBe(many.length);
    expect(await probe.sessionNames(ADA)).toEqual([]);
  });

  check("expire with the retention of their space, and may be stored again", async (probe) => {
    await put(probe, { id: "old" });
    probe.now += DAY;
    await put(probe, { id: "new" });
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    expect(await ids(probe)).toEqual(["new"]);
    expect(await ids(probe, { collection: "c", ids: ["old", "new"] })).toEqual(["new"]);
    expect((await near(probe, [1, 0, 0])).map(({ id }) => id)).toEqual(["new"]);
    expect(await put(probe, { id: "old", existing: "same", payload: "another" })).toBe("updated");
    expect(await ids(probe)).toEqual(["old", "new"]);
    probe.now += DAY;
    expect(await ids(probe)).toEqual([]);
    expect(await probe.forget({ expired: true })).toMatchObject({ points: 2 });
    expect(await put(probe, { vector: [1] }), "nothing is left of the collection").toBe("added");
  });

  check("are written once with an idempotency key, and not again once they are forgotten", async (probe) => {
    const once = { op: "once", space: ADA, key: "k", hash: "h" } as const;
    await probe.unit(once, putting());
    const [first] = await probe.unit(once, putting());
    expect(first).toMatchObject({ op: "once", first: [{ op: "put_point" }] });
    expect(JSON.stringify(first), "a receipt holds no text").not.toContain('"p"');
    await probe.fails("conflict", { ...once, hash: "another" }, putting());
    expect((await probe.unit({ op: "forget", target: named("c", "p") }))[0]).toMatchObject({ keysLeft: true });
    expect((await probe.unit({ ...once, hash: "another" }, putting()))[0]).toMatchObject({ first: expect.any(Array) });
    expect(await ids(probe)).toEqual([]);
  });

  checkPersistent("are there for every handle", async (probe, reopen) => {
    await put(probe, { session: "s", payload: { of: "ada" } });
    const store = await reopen();
    try {
      const other = probe.on(store);
      expect(await all(other)).toEqual(await all(probe));
      await put(other, { id: "q" });
      expect(await ids(probe)).toEqual(["p", "q"]);
      await other.unit({ op: "forget", target: named("c", "p") });
      expect((await near(probe, [1, 0, 0])).map(({ id }) => id)).toEqual(["q"]);
    } finally {
      await store.close();
    }
  });
}
