/** The registry: entries and sessions, their names, renames, conflicts and pages. */
import { expect } from "vitest";
import type { Entry, Page, SessionEntry, SpaceKind } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND, START } from "./probe.js";

export function registry(check: Check): void {
  for (const kind of ["user", "agent", "team"] as const) {
    check(`registers a new ${kind}, once`, async (probe) => {
      const { entry, created } = await probe.register({ kind, name: "x", description: "a test" });
      const expected = { kind, name: "x", description: "a test", createdAt: START, updatedAt: START };
      expect(entry).toStrictEqual({ id: entry.id, ...expected });
      expect(created).toBe(true);
      expect(entry.id).toBeTruthy();
      probe.now += SECOND;
      await probe.fails("conflict", { op: "register", create: "new", entry: { kind, name: "x" } });
      const ensured = await probe.register({ kind, name: "x", description: "another" }, "ensure");
      expect(ensured).toEqual({ op: "register", entry, created: false });
      expect(await probe.register({ kind, name: "y" }, "ensure")).toMatchObject({ created: true });
      expect(await probe.names(kind)).toEqual(["x", "y"]);
      expect((await probe.store.entries({ kind, name: "x", limit: 5 })).items).toStrictEqual([entry]);
    });
  }

  check("lets a user, an agent and a team share a name", async (probe) => {
    for (const kind of ["user", "agent", "team"] as const) await probe.register({ kind, name: "x" });
    await probe.register({ kind: "session", name: "x", space: { user: "x" } });
    const ids = new Set<string>();
    for (const kind of ["user", "agent", "team"] as const) {
      for (const { id } of (await probe.store.entries({ kind, limit: 5 })).items) ids.add(id);
    }
    expect(ids.size).toBe(3);
  });

  check("registers a session with its space and its agent", async (probe) => {
    const { entry, created } = await probe.register({ kind: "session", name: "s", space: ADA, agent: "tutor" });
    const expected = { name: "s", space: ADA, agent: "tutor", createdAt: START, updatedAt: START };
    expect(entry).toStrictEqual({ id: entry.id, ...expected });
    expect(created).toBe(true);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.names("agent")).toEqual(["tutor"]);
    expect(await probe.version({ agent: "tutor" })).toBeGreaterThan(0);
    await probe.fails("conflict", { op: "register", create: "new", entry: { kind: "session", name: "s", space: ADA } });
    const ensured = await probe.register({ kind: "session", name: "s", space: ADA, agent: "coach" }, "ensure");
    expect(ensured).toEqual({ op: "register", entry, created: false });
    expect(await probe.names("agent"), "an existing session registers nobody").toEqual(["tutor"]);
    await probe.add(ADA, [{ id: "x" }], { session: "s", agent: "coach" });
    expect(await probe.item(ADA, "x")).toMatchObject({ sessionId: entry.id, sequence: 1 });
    expect((await probe.store.sessions({ kind: "session", id: entry.id, limit: 1 })).items).toMatchObject([
      { agent: "tutor" },
    ]);
  });

  check("keeps session names unique in their space only", async (probe) => {
    const hers = await probe.register({ kind: "session", name: "s", space: ADA });
    const his = await probe.register({ kind: "session", name: "s", space: BOB });
    expect(his.entry.id).not.toBe(hers.entry.id);
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    expect(await probe.sessionNames(ADA)).toEqual(["t"]);
    expect(await probe.sessionNames(BOB)).toEqual(["s"]);
  });

  check("finds entries by name and id, exactly", async (probe) => {
    for (const name of ["ann", "Ann", "anna", "%"]) await probe.register({ kind: "user", name });
    await probe.register({ kind: "agent", name: "ann" });
    const [ann] = (await probe.store.entries({ kind: "user", name: "ann", limit: 5 })).items;
    expect(ann).toMatchObject({ kind: "user", name: "ann" });
    const id = (ann as Entry).id;
    expect((await probe.store.entries({ kind: "user", id, limit: 5 })).items).toEqual([ann]);
    expect((await probe.store.entries({ kind: "agent", id, limit: 5 })).items).toEqual([]);
    expect((await probe.store.entries({ kind: "user", id, name: "anna", limit: 5 })).items).toEqual([]);
    expect((await probe.store.entries({ kind: "user", name: "nobody", limit: 5 })).items).toEqual([]);
    expect((await probe.store.entries({ kind: "user", name: "%", limit: 5 })).items).toHaveLength(1);
  });

  check("does not change a space that no longer names an agent when that agent goes", async (probe) => {
    await probe.add(ADA, [{ id: "a" }], { agent: "tutor" });
    await probe.add(BOB, [{ id: "b" }], { agent: "tutor" });
    await probe.forget({ space: ADA, ids: ["a"] });
    const [ada, bob] = [await probe.version(ADA), await probe.version(BOB)];
    await probe.forget({ space: { agent: "tutor" }, entry: true });
    expect(await probe.version(ADA)).toBe(ada);
    expect(await probe.version(BOB), "whose item named it").toBeGreaterThan(bob);
  });

  check("finds sessions by space, agent, name and id", async (probe) => {
    await probe.add(ADA, ["1"], { session: "s", agent: "tutor" });
    await probe.add(ADA, ["2"], { session: "t", agent: "coach" });
    await probe.add(BOB, ["3"], { session: "s", agent: "tutor" });
    const find = async (request: { space?: typeof ADA; agent?: string; name?: string; id?: string }) => {
      const { items } = await probe.store.sessions({ kind: "session", limit: 10, ...request });
      return items.map(({ name, space }) => `${Object.values(space)[0]}/${name}`).toSorted();
    };
    expect(await find({})).toEqual(["ada/s", "ada/t", "bob/s"]);
    expect(await find({ space: ADA })).toEqual(["ada/s", "ada/t"]);
    expect(await find({ agent: "tutor" })).toEqual(["ada/s", "bob/s"]);
    expect(await find({ name: "s" })).toEqual(["ada/s", "bob/s"]);
    expect(await find({ space: ADA, agent: "tutor", name: "s" })).toEqual(["ada/s"]);
    expect(await find({ space: ADA, agent: "nobody" })).toEqual([]);
    const { sessionId } = (await probe.list(BOB))[0] ?? {};
    expect(await find({ id: sessionId as string })).toEqual(["bob/s"]);
    expect(await find({ id: sessionId as string, space: ADA })).toEqual([]);
    expect(await find({ id: "not there" })).toEqual([]);
  });

  check("renames a space with all that is in it", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s" });
    const before = await probe.item(ADA, "x");
    const [entry] = (await probe.store.entries({ kind: "user", limit: 5 })).items;
    probe.now += SECOND;
    const renamed = { ...(entry as Entry), name: "lovelace", updatedAt: probe.now };
    const version = await probe.cursor(ADA);
    const done = await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    expect(done).toStrictEqual({ op: "amend", entry: renamed });
    const lovelace = { user: "lovelace" };
    expect(await probe.get(lovelace, "x")).toStrictEqual([{ ...before, space: lovelace }]);
    expect(await probe.search(lovelace, "lamp")).toMatchObject([{ space: lovelace, id: "x", version: 1 }]);
    expect((await probe.store.sessions({ kind: "session", space: lovelace, limit: 5 })).items).toMatchObject([
      { id: before.sessionId, name: "s", space: lovelace },
    ]);
    expect(await probe.list(ADA)).toEqual([]);
    const [gone, kept] = await probe.store.versions([ADA, lovelace]);
    expect([gone, kept?.id]).toEqual([undefined, version?.id]);
    expect(kept?.version).toBeGreaterThan(version?.version ?? Number.NaN);
    expect(await probe.add(lovelace, ["next"], { session: "s" })).toMatchObject({ sequences: [2] });
    expect(await probe.add(ADA, ["someone new"], { session: "s" })).toMatchObject({ sequences: [1] });
    expect(await probe.names("user")).toEqual(["ada", "lovelace"]);
  });

  check("renames a session with all that is in it", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s", agent: "tutor" });
    const before = await probe.item(ADA, "x");
    probe.now += SECOND;
    const rename = () => probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    const done = await probe.grows([ADA], rename);
    expect(done.entry).toStrictEqual({
      id: before.sessionId,
      name: "t",
      space: ADA,
      agent: "tutor",
      createdAt: START,
      updatedAt: probe.now,
    });
    expect(await probe.get(ADA, "x")).toStrictEqual([{ ...before, session: "t" }]);
    expect(await probe.ids(ADA, { filter: { sessions: ["t"] } })).toEqual(["x"]);
    expect(await probe.ids(ADA, { filter: { sessions: ["s"] } })).toEqual([]);
    expect(await probe.add(ADA, ["next"], { session: "t" })).toMatchObject({ sequences: [2] });
    expect(await probe.add(ADA, ["new"], { session: "s" })).toMatchObject({ sequences: [1] });
  });

  check("renames an agent wherever it is named", async (probe) => {
    const [free, idle] = [{ user: "only items" }, { team: "only a session" }];
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s", agent: "tutor" });
    await probe.add(free, [{ id: "x" }], { agent: "tutor" });
    await probe.register({ kind: "session", name: "s", space: idle, agent: "tutor" });
    await probe.add(BOB, [{ id: "y", content: "lamp" }], { session: "s", agent: "other" });
    const bobs = await probe.version(BOB);
    const rename = () => probe.amend({ kind: "agent", name: "tutor" }, { name: "coach" });
    await probe.grows([ADA, free, idle], rename, "answers that show the name have changed");
    expect(await probe.item(ADA, "x")).toMatchObject({ agent: "coach", version: 1 });
    expect(await probe.ids([ADA, free], { filter: { agents: ["coach"] } })).toEqual(["x", "x"]);
    expect(await probe.ids([ADA, free], { filter: { agents: ["tutor"] } })).toEqual([]);
    const { items } = await probe.store.sessions({ kind: "session", agent: "coach", limit: 5 });
    expect(items).toHaveLength(2);
    for (const space of [ADA, idle]) expect(items).toContainEqual(expect.objectContaining({ space, agent: "coach" }));
    expect(await probe.version(BOB)).toEqual(bobs);
  });

  check("refuses a name that is taken, and an entry that is not there", async (probe) => {
    for (const kind of ["user", "agent", "team"] as const) {
      await probe.register({ kind, name: "x" });
      await probe.register({ kind, name: "y" });
      await probe.fails("conflict", { op: "amend", entry: { kind, name: "x" }, name: "y" });
      await probe.fails("not_found", { op: "amend", entry: { kind, name: "z" }, name: "w" });
      await probe.fails("not_found", { op: "amend", entry: { kind, name: "z" }, description: "nobody" });
      expect(await probe.names(kind)).toEqual(["x", "y"]);
    }
    const space = { user: "x" };
    await probe.register({ kind: "session", name: "s", space });
    await probe.register({ kind: "session", name: "t", space });
    await probe.fails("conflict", { op: "amend", entry: { kind: "session", name: "s", space }, name: "t" });
    await probe.fails("not_found", { op: "amend", entry: { kind: "session", name: "u", space }, name: "v" });
    const nobody = { user: "nobody" };
    await probe.fails("not_found", { op: "amend", entry: { kind: "session", name: "s", space: nobody }, name: "v" });
    expect(await probe.sessionNames()).toEqual(["s", "t"]);
  });

  check("lets names be exchanged in one unit", async (probe) => {
    await probe.add({ user: "x" }, ["of x"]);
    await probe.add({ user: "y" }, ["of y"]);
    await probe.unit(
      { op: "amend", entry: { kind: "user", name: "x" }, name: "for a moment" },
      { op: "amend", entry: { kind: "user", name: "y" }, name: "x" },
      { op: "amend", entry: { kind: "user", name: "for a moment" }, name: "y" },
    );
    expect(await probe.contents({ user: "x" })).toEqual(["of y"]);
    expect(await probe.contents({ user: "y" })).toEqual(["of x"]);
  });

  check("describes and sets retention, and takes both away", async (probe) => {
    const { entry } = await probe.register({ kind: "team", name: "x" });
    const amend = async (change: Parameters<Probe["amend"]>[1]) => {
      probe.now += SECOND;
      return (await probe.amend({ kind: "team", name: "x" }, change)).entry;
    };
    const described = { ...entry, description: "crew" };
    expect(await amend({ description: "crew" })).toStrictEqual({ ...described, updatedAt: probe.now });
    const retained = { ...described, retentionMs: DAY };
    expect(await amend({ retentionMs: DAY })).toStrictEqual({ ...retained, updatedAt: probe.now });
    const renamed = { ...retained, name: "y", description: "" };
    expect(await amend({ name: "y", description: "" })).toStrictEqual({ ...renamed, updatedAt: probe.now });
    await probe.amend({ kind: "team", name: "y" }, { name: "x" });
    expect(await amend({ description: null, retentionMs: null })).toStrictEqual({ ...entry, updatedAt: probe.now });
    expect((await probe.store.entries({ kind: "team", limit: 5 })).items).toStrictEqual([
      { ...entry, updatedAt: probe.now },
    ]);
  });

  check("pages entries and sessions: each once, while others register and go", async (probe) => {
    for (let at = 0; at < 10; at++) {
      await probe.register({ kind: "team", name: `t${at}` });
      await probe.register({ kind: "session", name: `s${at}`, space: at % 2 === 0 ? ADA : BOB });
    }
    const teams = await pagesOf(probe, "team", (cursor) =>
      probe.store.entries({ kind: "team", limit: 3, ...(cursor && { cursor }) }),
    );
    expect(teams.filter((name) => !name.startsWith("new")).toSorted()).toEqual(names("t", 10));
    const sessions = await pagesOf(probe, "session", (cursor) =>
      probe.store.sessions({ kind: "session", limit: 3, ...(cursor && { cursor }) }),
    );
    expect(sessions.filter((name) => !name.startsWith("new")).toSorted()).toEqual(names("s", 10));
    const exact = await probe.store.entries({ kind: "user", limit: 2 });
    expect(exact.items).toHaveLength(2);
    expect(exact.next, "no page after the last").toBeUndefined();
  });

  check("refuses a cursor that it has not given", async (probe) => {
    await probe.register({ kind: "user", name: "x" });
    for (const cursor of ["nonsense", "🙂", "-1"]) {
      const entries = probe.store.entries({ kind: "user", limit: 1, cursor });
      await expect(entries, cursor).rejects.toMatchObject({ code: "invalid_input" });
      const sessions = probe.store.sessions({ kind: "session", limit: 1, cursor });
      await expect(sessions, cursor).rejects.toMatchObject({ code: "invalid_input" });
    }
  });
}

function names(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`).toSorted();
}

/** The names on all pages; between pages one more is registered, and the last one that was given is forgotten. */
async function pagesOf(
  probe: Probe,
  kind: SpaceKind | "session",
  read: (cursor: string | undefined) => Promise<Page<Entry | SessionEntry>>,
): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined, round = 0; ; round++) {
    const page = await read(cursor);
    seen.push(...page.items.map(({ name }) => name));
    expect(page.items.length).toBeLessThanOrEqual(3);
    if (page.next === undefined) break;
    cursor = page.next;
    expect(round, "paging comes to its end").toBeLessThan(50);
    const last = page.items.at(-1);
    if (round > 1 || !last) continue;
    if (kind === "session") {
      await probe.register({ kind, name: `new${round}`, space: ADA });
      await probe.forget({ space: (last as SessionEntry).space, session: last.name, entry: true });
    } else {
      await probe.register({ kind, name: `new${round}` });
      await probe.forget({ space: { team: last.name }, entry: true });
    }
  }
  expect(new Set(seen).size, "nothing is given twice").toBe(seen.length);
  return seen;
}
