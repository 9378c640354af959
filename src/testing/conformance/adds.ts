/** What an add writes: items as given, sequences, rounds, and the registry entries that it names. */
import { expect } from "vitest";
import type { NewRow } from "../../stores/store.js";
import { KINDS, type Part, ROLES, TIERS } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, BOB, SECOND, START } from "./probe.js";

export function adds(check: Check): void {
  check("gives all parts of one add the round of its first item", async (probe) => {
    await probe.add(ADA, ["before"], { session: "s" });
    await probe.add(ADA, [{ id: "first" }, { id: "second" }], { session: "s" });
    await probe.add(ADA, ["between"], { session: "s" });
    await probe.unit({ ...probe.adding(ADA, [{ id: "third" }], { session: "s" }), continues: "first" });
    await probe.add(ADA, [{ id: "after" }], { session: "s" });
    expect(await probe.item(ADA, "third")).toMatchObject({ sequence: 5, round: 2 });
    expect(await probe.item(ADA, "after")).toMatchObject({ sequence: 6, round: 6 });
  });

  check("returns every field as given", async (probe) => {
    const row: NewRow = {
      id: "full",
      kind: "message",
      role: "assistant",
      name: "Tutor",
      content: "Look: a map of Lisbon",
      parts: [
        { type: "text", text: "Look:" },
        { type: "image", description: "a map of Lisbon", url: "https://example.org/map.png", size: [640, 480] },
      ],
      metadata: { course: "geography", deep: { list: [1, "two", null, { three: 3 }], yes: true }, none: null },
      tier: "semantic",
      occurredAt: START - 90 * SECOND,
      expiresAt: START + 90 * SECOND,
    };
    await probe.unit({ op: "add", space: ADA, session: "s", agent: "tutor", items: [row], existing: "same" });
    const [session] = (await probe.store.sessions({ kind: "session", limit: 1 })).items;
    const item = {
      ...row,
      space: ADA,
      session: "s",
      sessionId: session?.id,
      agent: "tutor",
      sequence: 1,
      round: 1,
      recordedAt: START,
      updatedAt: START,
      version: 1,
    };
    expect(await probe.get(ADA, "full")).toStrictEqual([item]);
    expect(await probe.list(ADA)).toStrictEqual([item]);
  });

  check("omits fields that were not given", async (probe) => {
    const row: NewRow = {
      id: "bare",
      kind: "knowledge",
      content: "bare",
      metadata: {},
      tier: "episodic",
      occurredAt: START,
    };
    await probe.unit({ op: "add", space: ADA, items: [row], existing: "same" });
    const item = { ...row, space: ADA, recordedAt: START, updatedAt: START, version: 1 };
    expect(await probe.get(ADA, "bare")).toStrictEqual([item]);
  });

  check("distinguishes every role, kind and tier", async (probe) => {
    const drafts = [
      ...ROLES.map((role) => ({ id: role, role })),
      ...KINDS.map((kind) => ({ id: kind, kind })),
      ...TIERS.map((tier) => ({ id: tier, tier })),
    ];
    await probe.add(ADA, drafts);
    for (const draft of drafts) expect(await probe.item(ADA, draft.id)).toMatchObject(draft);
  });

  check("keeps a copy: changes of given or returned objects do not affect the store", async (probe) => {
    const metadata = { tags: ["a"], deep: { n: 1 } };
    const parts: Part[] = [{ type: "text", text: "one" }];
    await probe.add(ADA, [{ id: "x", metadata, parts }]);
    metadata.tags.push("b");
    metadata.deep.n = 2;
    parts.push({ type: "text", text: "two" });
    const read = await probe.item(ADA, "x");
    expect(read.metadata).toEqual({ tags: ["a"], deep: { n: 1 } });
    expect(read.parts).toEqual([{ type: "text", text: "one" }]);
    try {
      (read.metadata["tags"] as string[]).push("c");
    } catch {
      // A store may freeze what it returns.
    }
    expect((await probe.item(ADA, "x")).metadata).toEqual({ tags: ["a"], deep: { n: 1 } });
  });

  check("counts the messages of a session 1, 2, 3… and marks rounds by their first", async (probe) => {
    expect(await probe.add(ADA, ["a", "b"], { session: "s" })).toMatchObject({ sequences: [1, 2], repeated: false });
    expect(await probe.add(ADA, ["x"], { session: "t" })).toMatchObject({ sequences: [1] });
    expect(await probe.add(ADA, ["c", "d", "e"], { session: "s" })).toMatchObject({ sequences: [3, 4, 5] });
    expect(await probe.add(BOB, ["y"], { session: "s" })).toMatchObject({ sequences: [1] });
    const items = await probe.list(ADA, { filter: { sessions: ["s"] } });
    expect(items.map(({ content, sequence, round }) => [content, sequence, round])).toEqual([
      ["a", 1, 1],
      ["b", 2, 1],
      ["c", 3, 3],
      ["d", 4, 3],
      ["e", 5, 3],
    ]);
  });

  check("returns the ids in the order given", async (probe) => {
    const done = await probe.add(ADA, [{ id: "z" }, { id: "a" }, { id: "m" }], { session: "s" });
    expect(done).toEqual({ op: "add", ids: ["z", "a", "m"], sequences: [1, 2, 3], repeated: false });
    expect(await probe.ids(ADA)).toEqual(["z", "a", "m"]);
  });

  check("assigns no sequence outside a session", async (probe) => {
    expect(await probe.add(ADA, [{ id: "x" }, { id: "y" }])).toMatchObject({ ids: ["x", "y"], sequences: [] });
    const item = await probe.item(ADA, "x");
    for (const field of ["session", "sessionId", "sequence", "round", "agent"]) expect(item).not.toHaveProperty(field);
  });

  check("never assigns a sequence twice, whatever was forgotten", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }], { session: "s" });
    await probe.forget({ space: ADA, ids: ["c"] });
    expect(await probe.add(ADA, [{ id: "d" }], { session: "s" })).toMatchObject({ sequences: [4] });
    await probe.forget({ space: ADA, ids: ["a", "b", "d"] });
    expect(await probe.add(ADA, [{ id: "a" }], { session: "s" })).toMatchObject({ sequences: [5], repeated: false });
    await probe.forget({ space: ADA, session: "s", entry: false });
    expect(await probe.add(ADA, ["after"], { session: "s" })).toMatchObject({ sequences: [6] });
    await probe.forget({ space: ADA, entry: false });
    expect(await probe.add(ADA, ["after"], { session: "s" })).toMatchObject({ sequences: [7] });
  });

  check("starts a new session, with a new id, where one of that name was forgotten", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }], { session: "s" });
    const { sessionId } = await probe.item(ADA, "a");
    await probe.forget({ space: ADA, session: "s", entry: true });
    expect(await probe.add(ADA, [{ id: "a" }], { session: "s" })).toMatchObject({ sequences: [1], repeated: false });
    expect((await probe.item(ADA, "a")).sessionId).not.toBe(sessionId);
  });

  check("registers the space, the agent and the session that it names, once", async (probe) => {
    await probe.add(ADA, ["one"], { session: "s", agent: "tutor" });
    const [first] = (await probe.store.entries({ kind: "user", limit: 10 })).items;
    probe.now += SECOND;
    await probe.add(ADA, ["two"], { session: "s", agent: "tutor" });
    await probe.add({ team: "crew" }, ["three"]);
    await probe.add({ agent: "coach" }, ["four"]);
    const users = (await probe.store.entries({ kind: "user", limit: 10 })).items;
    expect(users).toStrictEqual([{ id: first?.id, kind: "user", name: "ada", createdAt: START, updatedAt: START }]);
    expect(await probe.names("agent")).toEqual(["coach", "tutor"]);
    expect(await probe.names("team")).toEqual(["crew"]);
    expect((await probe.store.sessions({ kind: "session", limit: 10 })).items).toStrictEqual([
      {
        id: (await probe.item(ADA, "m1")).sessionId,
        name: "s",
        space: ADA,
        agent: "tutor",
        createdAt: START,
        updatedAt: START + SECOND,
      },
    ]);
    expect(new Set([first?.id, (await probe.item(ADA, "m1")).sessionId]).size, "ids are of their own").toBe(2);
  });

  check("gives a space that an add has registered, also an agent's, a version", async (probe) => {
    const { versions } = await probe.commit([probe.adding(ADA, ["one"], { agent: "tutor" })]);
    const tutor = await probe.cursor({ agent: "tutor" });
    expect(new Set(versions)).toEqual(new Set([await probe.cursor(ADA), tutor]));
    await probe.add(ADA, ["two"], { agent: "tutor" });
    expect(await probe.cursor({ agent: "tutor" }), "another add leaves the agent's own space alone").toEqual(tutor);
  });

  check("keeps the agent of a session's first add, while items keep their own agent", async (probe) => {
    await probe.add(ADA, [{ id: "a" }], { session: "s", agent: "tutor" });
    await probe.add(ADA, [{ id: "b" }], { session: "s", agent: "coach" });
    await probe.add(ADA, [{ id: "c" }], { session: "s" });
    await probe.add(ADA, [{ id: "d" }], { session: "t" });
    await probe.add(ADA, [{ id: "e" }], { session: "t", agent: "coach" });
    const agents = (await probe.list(ADA)).map(({ id, agent }) => [id, agent]);
    expect(agents).toEqual([
      ["a", "tutor"],
      ["b", "coach"],
      ["c", undefined],
      ["d", undefined],
      ["e", "coach"],
    ]);
    const sessions = (await probe.store.sessions({ kind: "session", limit: 10 })).items;
    expect(Object.fromEntries(sessions.map(({ name, agent }) => [name, agent]))).toEqual({ s: "tutor", t: undefined });
  });

  check("writes and registers nothing for an add without items", async (probe) => {
    const done = await probe.add(ADA, [], { session: "s", agent: "tutor" });
    expect(done).toEqual({ op: "add", ids: [], sequences: [], repeated: false });
    expect(await probe.version(ADA)).toBe(0);
    expect([...(await probe.names("user")), ...(await probe.names("agent"))]).toEqual([]);
    expect(await probe.sessionNames()).toEqual([]);
  });

  check("accepts a round of a thousand items", async (probe) => {
    const drafts = Array.from({ length: 1000 }, (_, at) => ({ id: `id-${at}`, content: `number ${at}` }));
    const done = await probe.add(ADA, drafts, { session: "s" });
    expect(done.sequences).toEqual(drafts.map((_, at) => at + 1));
    expect(await probe.ids(ADA)).toEqual(drafts.map(({ id }) => id));
    expect((await probe.item(ADA, "id-999")).round).toBe(1);
    expect(await probe.get(ADA, ...drafts.map(({ id }) => id))).toHaveLength(1000);
  });
}
