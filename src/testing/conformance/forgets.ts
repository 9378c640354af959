/** Forgetting: by id, session, space and expiry; what is removed, what stays, and what is counted. */
import { expect } from "vitest";
import { bruteForceScores } from "../brute-force.js";
import type { Check } from "./check.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

export function forgets(check: Check): void {
  check("forgets items by id, from every read", async (probe) => {
    await probe.add(
      ADA,
      [
        { id: "x", content: "secret lamp" },
        { id: "y", content: "lamp" },
      ],
      { session: "s" },
    );
    const forgotten = await probe.forget({ space: ADA, ids: ["x"] });
    expect(forgotten).toEqual({ items: 1, points: 0, blocks: 0, sessions: 0, entries: 0 });
    expect(await probe.get(ADA, "x", "y")).toMatchObject([{ id: "y" }]);
    expect(await probe.ids(ADA)).toEqual(["y"]);
    expect(await probe.found(ADA, "secret")).toEqual([]);
    expect(await probe.found(ADA, "lamp")).toEqual(["y"]);
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
  });

  check("ignores ids that are missing, duplicate, or in another space", async (probe) => {
    await probe.add(ADA, [{ id: "x" }, { id: "y" }]);
    await probe.add(BOB, [{ id: "x" }, { id: "his" }]);
    const forgotten = await probe.forget({ space: ADA, ids: ["not there", "x", "x", "his"] });
    expect(forgotten.items).toBe(1);
    expect(await probe.ids(ADA)).toEqual(["y"]);
    expect(await probe.ids(BOB)).toEqual(["x", "his"]);
    expect(await probe.forget({ space: ADA, ids: ["x"] })).toMatchObject({ items: 0 });
    expect(await probe.forget({ space: ADA, ids: [] })).toMatchObject({ items: 0 });
  });

  check("forgets a session with its entry, and no other session", async (probe) => {
    await fill(probe);
    const forgotten = await probe.forget({ space: ADA, session: "s", entry: true });
    expect(forgotten).toEqual({ items: 2, points: 0, blocks: 0, sessions: 1, entries: 0 });
    expect(await probe.contents(ADA)).toEqual(["t1", "free"]);
    expect(await probe.contents(BOB)).toEqual(["bob s1"]);
    expect(await probe.sessionNames(ADA)).toEqual(["t"]);
    expect(await probe.sessionNames(BOB)).toEqual(["s"]);
    const again = await probe.forget({ space: ADA, session: "s", entry: true });
    expect(again).toEqual({ items: 0, points: 0, blocks: 0, sessions: 0, entries: 0 });
  });

  check("forgets a session's items and keeps its entry, if requested", async (probe) => {
    await fill(probe);
    const [before] = (await probe.store.sessions({ kind: "session", space: ADA, name: "s", limit: 1 })).items;
    const forgotten = await probe.forget({ space: ADA, session: "s", entry: false });
    expect(forgotten).toEqual({ items: 2, points: 0, blocks: 0, sessions: 0, entries: 0 });
    expect(await probe.sessionNames(ADA)).toEqual(["s", "t"]);
    const [after] = (await probe.store.sessions({ kind: "session", space: ADA, name: "s", limit: 1 })).items;
    expect(after?.id).toBe(before?.id);
  });

  check("forgets an empty session", async (probe) => {
    await probe.register({ kind: "session", name: "s", space: ADA });
    expect(await probe.forget({ space: ADA, session: "s", entry: false })).toMatchObject({ items: 0, sessions: 0 });
    expect(await probe.forget({ space: ADA, session: "s", entry: true })).toMatchObject({ items: 0, sessions: 1 });
    expect(await probe.sessionNames()).toEqual([]);
  });

  check("forgets a space with its sessions and its entry, and no other space", async (probe) => {
    await fill(probe);
    const forgotten = await probe.forget({ space: ADA, entry: true });
    expect(forgotten).toEqual({ items: 4, points: 0, blocks: 0, sessions: 2, entries: 1 });
    expect(await probe.list(ADA)).toEqual([]);
    expect(await probe.found(ADA, "free")).toEqual([]);
    expect(await probe.names("user")).toEqual(["bob"]);
    expect(await probe.sessionNames()).toEqual(["s"]);
    expect(await probe.version(ADA)).toBe(0);
    expect(await probe.contents(BOB)).toEqual(["bob s1"]);
    expect(await probe.forget({ space: ADA, entry: true })).toEqual({
      items: 0,
      points: 0,
      blocks: 0,
      sessions: 0,
      entries: 0,
    });
    await probe.add(ADA, ["again"], { session: "s" });
    expect(await probe.contents(ADA)).toEqual(["again"]);
  });

  check("forgets a space's items and keeps its entry and sessions, if requested", async (probe) => {
    await fill(probe);
    const [before] = (await probe.store.entries({ kind: "user", name: "ada", limit: 1 })).items;
    const forgotten = await probe.grows([ADA], () => probe.forget({ space: ADA, entry: false }));
    expect(forgotten).toEqual({ items: 4, points: 0, blocks: 0, sessions: 0, entries: 0 });
    expect(await probe.list(ADA)).toEqual([]);
    expect(await probe.sessionNames(ADA)).toEqual(["s", "t"]);
    expect((await probe.store.entries({ kind: "user", name: "ada", limit: 1 })).items).toEqual([before]);
  });

  check("keeps the items of users when an agent is forgotten", async (probe) => {
    await probe.add(ADA, [{ id: "hers" }], { session: "s", agent: "tutor" });
    await probe.add({ agent: "tutor" }, [{ id: "its own" }], { session: "s" });
    const forgotten = await probe.forget({ space: { agent: "tutor" }, entry: true });
    expect(forgotten).toEqual({ items: 1, points: 0, blocks: 0, sessions: 1, entries: 1 });
    expect(await probe.names("agent")).toEqual([]);
    expect(await probe.ids(ADA)).toEqual(["hers"]);
    expect(await probe.item(ADA, "hers")).toMatchObject({ session: "s", sequence: 1, version: 1 });
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
    expect(await probe.found(ADA, "hers")).toEqual(["hers"]);
  });

  check("removes a forgotten agent's name from the remaining items and sessions", async (probe) => {
    await probe.add(ADA, [{ id: "hers" }], { session: "s", agent: "tutor" });
    await probe.add(BOB, [{ id: "his" }], { agent: "coach" });
    const bobs = await probe.version(BOB);
    const forget = () => probe.forget({ space: { agent: "tutor" }, entry: true });
    await probe.grows([ADA], forget, "their answers have changed");
    expect(await probe.item(ADA, "hers")).not.toHaveProperty("agent");
    const { items } = await probe.store.sessions({ kind: "session", space: ADA, limit: 1 });
    expect(items[0]).not.toHaveProperty("agent");
    expect(await probe.ids(ADA, { filter: { agents: ["tutor"] } })).toEqual([]);
    expect(await probe.version(BOB)).toEqual(bobs);
  });

  check("forgets in slices until nothing is left", async (probe) => {
    for (let round = 0; round < 4; round++) {
      const drafts = Array.from({ length: 300 }, (_, at) => `lamp number ${round * 300 + at}`);
      await probe.add(ADA, drafts, { session: round < 2 ? "s" : "t" });
    }
    await probe.add(BOB, ["lamp"]);
    const drawn = (await probe.ids(ADA)).filter((_, at) => at % 4 === 0);
    expect(await probe.forget({ space: ADA, ids: drawn })).toMatchObject({ items: 300 });
    const session = await probe.forget({ space: ADA, session: "s", entry: true });
    expect(session).toEqual({ items: 450, points: 0, blocks: 0, sessions: 1, entries: 0 });
    const space = await probe.forget({ space: ADA, entry: true });
    expect(space).toEqual({ items: 450, points: 0, blocks: 0, sessions: 1, entries: 1 });
    expect(await probe.found([ADA, BOB], "lamp number")).toHaveLength(1);
    expect(await probe.store.stats()).toMatchObject({ items: 1 });
  });

  check("scores the rest as if the forgotten items had never existed", async (probe) => {
    const stay = [
      { id: "a", content: "a lamp and a rope" },
      { id: "b", content: "the lamp of the old house by the sea" },
    ];
    const go = Array.from({ length: 40 }, (_, at) => ({ id: `go-${at}`, content: `lamp lamp house ${at}` }));
    await probe.add(ADA, [...stay, ...go]);
    const before = await probe.search(ADA, "lamp house");
    await probe.forget({ space: ADA, ids: go.map(({ id }) => id) });
    const after = await probe.search(ADA, "lamp house");
    expect(after).toHaveLength(2);
    const expected = bruteForceScores(stay, probe.terms("lamp house"));
    for (const { id, score } of after) {
      expect(score).toBeCloseTo(expected.get(id) as number, 9);
      expect(score).not.toBeCloseTo(before.find((hit) => hit.id === id)?.score as number, 3);
    }
  });

  check("forgets what has expired, in every space, and nothing else", async (probe) => {
    const soon = probe.now + SECOND;
    await probe.add(ADA, [{ id: "a", expiresAt: soon }, { id: "b" }, { id: "c", expiresAt: soon + 1 }], {
      session: "s",
    });
    await probe.add(BOB, [{ id: "a", expiresAt: soon }]);
    await probe.add({ team: "crew" }, [{ id: "kept" }]);
    await probe.add({ team: "brief" }, [{ id: "d" }, { id: "e" }]);
    await probe.amend({ kind: "team", name: "brief" }, { retentionMs: SECOND });
    const crew = await probe.version({ team: "crew" });
    expect(await probe.forget({ expired: true })).toEqual({ items: 0, points: 0, blocks: 0, sessions: 0, entries: 0 });
    probe.now = soon;
    await probe.add({ team: "brief" }, [{ id: "young" }]);
    expect(await probe.forget({ expired: true })).toEqual({ items: 4, points: 0, blocks: 0, sessions: 0, entries: 0 });
    expect(await probe.store.stats()).toMatchObject({ items: 4 });
    expect(await probe.ids([ADA, BOB, { team: "crew" }, { team: "brief" }])).toEqual(["b", "c", "kept", "young"]);
    expect(await probe.version({ team: "crew" })).toBe(crew);
    expect(await probe.names("user")).toEqual(["ada", "bob"]);
    probe.now -= SECOND;
    expect(await probe.get(ADA, "a"), "gone also for a clock that runs backwards").toEqual([]);
  });

  check("purges what it has forgotten, or reports what is left and why", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "secret" }]);
    await probe.forget({ space: ADA, entry: true });
    const { purged, left } = await probe.store.purge(5 * SECOND);
    if (purged) expect(left).toEqual([]);
    else expect(left.length).toBeGreaterThan(0);
    for (const { what, why } of left) expect(what && why).toBeTruthy();
  });
}

async function fill(probe: Probe): Promise<void> {
  await probe.add(ADA, ["s1", "s2"], { session: "s" });
  await probe.add(ADA, ["t1"], { session: "t" });
  await probe.add(BOB, ["bob s1"], { session: "s" });
  await probe.add(ADA, ["free"]);
}
