/** Versions of spaces, and units that stand or fall alone. */
import { expect } from "vitest";
import type { Unit, UpdateWrite } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND, START } from "./probe.js";

const MISSING: UpdateWrite = { op: "update", space: ADA, id: "not there", patch: { content: "never" } };

export function commits(check: Check): void {
  check(
    "says which spaces it has changed, and gives each a higher version, however many units it has",
    async (probe) => {
      const first = await probe.commit([probe.adding(ADA, ["one"])]);
      expect(first.versions).toStrictEqual([await probe.cursor(ADA)]);
      const second = await probe.grows([ADA, BOB], () =>
        probe.commit([probe.adding(ADA, ["two"])], [probe.adding(BOB, ["three"]), probe.adding(ADA, ["four"])]),
      );
      expect(new Set(second.versions)).toEqual(new Set(await probe.store.versions([ADA, BOB])));
      expect(second.versions).toHaveLength(2);
      expect(second.outcomes).toHaveLength(2);
      expect(second.workMs).toBeGreaterThanOrEqual(0);
    },
  );

  check("gives a version to the spaces that a commit has changed, and to no other space", async (probe) => {
    await probe.grows([ADA], () => probe.add(ADA, ["one"]));
    const hers = await probe.cursor(ADA);
    await probe.grows([BOB], () => probe.add(BOB, ["two"]));
    const his = await probe.cursor(BOB);
    expect(his?.id).not.toBe(hers?.id);
    expect(await probe.store.versions([ADA, BOB, { user: "nobody" }, ADA])).toStrictEqual([hers, his, undefined, hers]);
  });

  check("gives a space versions that depend on nothing but what happens in it", async (probe) => {
    const versions: number[][] = [];
    for (const others of [0, 1, 7]) {
      const mine = { user: `mine beside ${others}` };
      const seen: number[] = [];
      for (let round = 0; round < 3; round++) {
        for (let other = 0; other < others; other++) await probe.add({ user: `other ${other}` }, ["noise"]);
        await probe.add(mine, ["signal"], { session: "s" });
        seen.push(await probe.version(mine));
      }
      versions.push(seen);
    }
    expect(versions[1]).toEqual(versions[0]);
    expect(versions[2]).toEqual(versions[0]);
  });

  check("tells a space from one that had its name before, however alike they are", async (probe) => {
    const states = new Set<string>();
    const note = async () => states.add(JSON.stringify(await probe.cursor(ADA)));
    const live = async (name: string) => {
      await probe.add({ user: name }, ["one"]);
      await probe.add({ user: name }, ["two"]);
    };
    await live("ada");
    await note();
    await probe.forget({ space: ADA, entry: true });
    await note();
    await live("ada");
    await note();
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    await live("other");
    await probe.amend({ kind: "user", name: "other" }, { name: "ada" });
    await note();
    expect(states.size).toBe(4);
  });

  check("bumps the version with every kind of change", async (probe) => {
    let [before, written] = [0, 0];
    const expectBump = async (what: string) => {
      const version = await probe.version(ADA);
      expect(version, what).toBeGreaterThan(before);
      expect(probe.written, what).toBeGreaterThan(written);
      [before, written] = [version, probe.written];
    };
    await probe.register({ kind: "user", name: "ada" });
    await expectBump("register");
    await probe.register({ kind: "session", name: "s", space: ADA });
    await expectBump("register a session");
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], { session: "s" });
    await expectBump("add");
    await probe.update(ADA, "x", { content: "edited" });
    await expectBump("update");
    await probe.add(ADA, [{ id: "x", content: "replaced" }], { session: "s", existing: "replace" });
    await expectBump("replace");
    await probe.forget({ space: ADA, ids: ["x"] });
    await expectBump("forget");
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    await expectBump("rename a session");
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: 1 });
    await expectBump("retention");
    probe.now += SECOND;
    await probe.forget({ expired: true });
    await expectBump("forget what has expired");
    await probe.forget({ space: ADA, session: "t", entry: true });
    await expectBump("forget a session");
  });

  check("writes nothing and moves no version when nothing changes", async (probe) => {
    const known = probe.adding(ADA, [{ id: "x" }], { session: "s", agent: "tutor" });
    const keyed = probe.keyed(ADA, ["once"], { idempotency: { key: "k", hash: "h" } });
    await probe.unit(known);
    await probe.unit(...keyed);
    const versions = await probe.store.versions([ADA, { agent: "tutor" }]);
    const idle: readonly (readonly [string, Unit])[] = [
      ["nothing", []],
      ["an add without items", [probe.adding(ADA, [])]],
      ["an add without items in a new place", [probe.adding({ user: "nobody" }, [], { session: "s", agent: "a" })]],
      ["known items", [known]],
      ["a known key", keyed],
      ["a question for a key", [{ op: "once", space: ADA, key: "not there", hash: "h" }]],
      ["a forget of missing ids", [{ op: "forget", target: { space: ADA, ids: ["not there"] } }]],
      ["a forget of a missing space", [{ op: "forget", target: { space: { user: "nobody" }, entry: true } }]],
      ["a forget of a missing session", [{ op: "forget", target: { space: ADA, session: "not there", entry: true } }]],
      ["a forget of what has expired", [{ op: "forget", target: { expired: true } }]],
      [
        "an ensured user",
        [{ op: "register", create: "ensure", entry: { kind: "user", name: "ada", description: "d" } }],
      ],
      [
        "an ensured session",
        [{ op: "register", create: "ensure", entry: { kind: "session", name: "s", space: ADA, agent: "other" } }],
      ],
      ["a user's own name", [{ op: "amend", entry: { kind: "user", name: "ada" }, name: "ada", description: null }]],
      ["a session's own name", [{ op: "amend", entry: { kind: "session", name: "s", space: ADA }, name: "s" }]],
    ];
    for (const [what, unit] of idle) {
      const { changed, outcomes } = await probe.commit(unit);
      expect(outcomes, what).toMatchObject([{ ok: true }]);
      expect(changed, what).toBe(false);
      expect(await probe.store.versions([ADA, { agent: "tutor" }]), what).toEqual(versions);
    }
    const together = await probe.commit(...idle.map(([, unit]) => unit));
    expect(together.changed).toBe(false);
    expect(together.outcomes).toHaveLength(idle.length);
    expect(await probe.store.versions([ADA, { agent: "tutor" }])).toEqual(versions);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.names("agent")).toEqual(["tutor"]);
    const none = await probe.commit();
    expect(none).toMatchObject({ changed: false, versions: [], outcomes: [] });
  });

  check("says so when every unit failed, and keeps every space's version", async (probe) => {
    await probe.add(ADA, ["one"]);
    const before = await probe.cursor(ADA);
    const failed = await probe.commit([probe.adding(ADA, ["two"]), MISSING], [MISSING]);
    expect(failed.outcomes.map((outcome) => outcome.ok)).toEqual([false, false]);
    expect(failed).toMatchObject({ changed: false, versions: [] });
    expect(await probe.cursor(ADA)).toEqual(before);
    await probe.grows([ADA], () => probe.add(ADA, ["three"]));
  });

  check("undoes a unit that fails, and nobody else", async (probe) => {
    const { versions, outcomes } = await probe.commit(
      [probe.adding(ADA, ["first"], { session: "s" })],
      [probe.adding(ADA, ["gone"], { session: "s" }), probe.adding(BOB, ["gone too"]), MISSING],
      [probe.adding(ADA, ["third"], { session: "s" })],
    );
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, false, true]);
    expect(outcomes[2]).toMatchObject({ done: [{ sequences: [2] }] });
    expect(await probe.contents(ADA)).toEqual(["first", "third"]);
    expect(await probe.found(ADA, "gone")).toEqual([]);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(versions).toHaveLength(1);
    expect(await probe.store.versions([ADA, BOB])).toEqual([versions[0], undefined]);
  });

  check("undoes every kind of write of a unit that fails later", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "old lamp" }, { id: "y", content: "old rope" }, "third"], {
      session: "s",
      agent: "tutor",
      idempotency: { key: "first", hash: "1" },
    });
    await probe.add(ADA, [{ id: "z", expiresAt: probe.now + SECOND }]);
    probe.now += 2 * SECOND;
    const before = await everything(probe);
    await probe.fails(
      "not_found",
      { op: "once", space: ADA, session: "s", key: "second", hash: "2" },
      { op: "update", space: ADA, id: "x", patch: { content: "new lamp", metadata: { a: 1 }, name: "Ann" } },
      { op: "forget", target: { space: ADA, ids: ["y"] } },
      { op: "forget", target: { expired: true } },
      probe.adding(ADA, [{ id: "x", content: "replaced" }], { session: "s", existing: "replace", agent: "coach" }),
      probe.adding(ADA, ["fresh lamp"], { session: "fresh" }),
      { op: "register", create: "new", entry: { kind: "team", name: "crew" } },
      { op: "amend", entry: { kind: "session", name: "s", space: ADA }, name: "renamed" },
      { op: "amend", entry: { kind: "agent", name: "tutor" }, name: "teacher" },
      { op: "amend", entry: { kind: "user", name: "ada" }, description: "someone", retentionMs: 1 },
      { op: "amend", entry: { kind: "user", name: "ada" }, name: "lovelace" },
      { op: "forget", target: { space: { user: "lovelace" }, session: "renamed", entry: true } },
      { op: "forget", target: { space: { user: "lovelace" }, entry: true } },
      { op: "update", space: { user: "lovelace" }, id: "x", patch: {} },
    );
    expect(await everything(probe)).toEqual(before);
    // The forgotten hash came back with its item, and the key of the undone add is free.
    await probe.fails(
      "conflict",
      ...probe.keyed(ADA, ["other"], { session: "s", idempotency: { key: "first", hash: "other" } }),
    );
    const added = await probe.add(ADA, ["fourth"], { session: "s", idempotency: { key: "second", hash: "other" } });
    expect(added).toMatchObject({ repeated: false, sequences: [4] });
    expect(await probe.add(ADA, ["new"], { session: "fresh" })).toMatchObject({ sequences: [1] });
  });

  check("lets a write see the writes before it, in its unit and in its commit", async (probe) => {
    const { outcomes } = await probe.commit(
      [
        probe.adding(ADA, [{ id: "x", content: "one" }], { session: "s" }),
        { op: "update", space: ADA, id: "x", patch: { content: "two" }, expectVersion: 1 },
      ],
      [{ op: "update", space: ADA, id: "x", patch: { content: "three" }, expectVersion: 2 }],
      [{ op: "forget", target: { space: ADA, ids: ["x"] } }, probe.adding(ADA, [{ id: "x" }], { session: "s" })],
    );
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true]);
    expect(await probe.item(ADA, "x")).toMatchObject({ version: 1, sequence: 2 });
    expect(await probe.found(ADA, "one two three")).toEqual([]);
  });

  check("keeps sequences and versions apart when commits are given at the same time", async (probe) => {
    const writes = Array.from({ length: 20 }, (_, at) => probe.adding(ADA, [`message ${at}`], { session: "s" }));
    const committed = await Promise.all(writes.map((write) => probe.commit([write])));
    const done = committed.flatMap(({ outcomes }) => outcomes.flatMap((outcome) => (outcome.ok ? outcome.done : [])));
    const sequences = done.flatMap((one) => (one.op === "add" ? one.sequences : []));
    expect(sequences.toSorted((a, b) => a - b)).toEqual(writes.map((_, at) => at + 1));
    const versions = committed.map(({ versions: [one] }) => one?.version);
    expect(new Set(versions).size).toBe(writes.length);
    const inOrder = done
      .map((one, at) => [one.op === "add" ? one.sequences[0] : undefined, versions[at]] as const)
      .toSorted(([a = 0], [b = 0]) => a - b);
    expect(inOrder, "versions grow in the order of the adds").toEqual(
      inOrder.toSorted(([, a = 0], [, b = 0]) => a - b),
    );
    expect(await probe.list(ADA)).toHaveLength(writes.length);
  });

  check("accepts the given time, even one that runs backwards", async (probe) => {
    await probe.add(ADA, [{ id: "late" }], { session: "s" });
    probe.now = START - 5 * SECOND;
    await probe.add(ADA, [{ id: "early" }], { session: "s" });
    expect(await probe.ids(ADA)).toEqual(["late", "early"]);
    expect(await probe.item(ADA, "early")).toMatchObject({ recordedAt: probe.now, sequence: 2 });
  });

  check("counts items in its statistics", async (probe) => {
    expect(await probe.store.stats()).toMatchObject({ items: 0 });
    await probe.add(ADA, ["one", "two"]);
    await probe.add(BOB, [{ id: "x" }]);
    await probe.forget({ space: BOB, ids: ["x"] });
    const stats = await probe.store.stats();
    expect(stats).toMatchObject({ items: 2 });
    for (const count of [stats.bytes, stats.checkpoints, stats.busyRetries, stats.busyMs]) {
      expect(count).toBeGreaterThanOrEqual(0);
    }
  });

  check("changes no answer by its housekeeping", async (probe) => {
    const keyed = { session: "s", idempotency: { key: "k", hash: "h" } };
    await probe.add(
      ADA,
      [
        { id: "x", content: "old lamp" },
        { id: "y", expiresAt: probe.now + SECOND },
      ],
      keyed,
    );
    await probe.add(ADA, [{ id: "z" }]);
    await probe.forget({ space: ADA, ids: ["z"] });
    for (const passed of [0, SECOND, 7 * DAY - 2 * SECOND]) {
      probe.now += passed;
      const before = await everything(probe);
      await probe.store.maintain(probe.now);
      expect(await everything(probe)).toEqual(before);
      expect(await probe.add(ADA, ["again"], keyed)).toMatchObject({ ids: ["x", "y"], repeated: true });
    }
  });

  check("may be closed twice", async (probe) => {
    await probe.add(ADA, ["one"]);
    await probe.store.close();
    await probe.store.close();
  });

  check(
    "reports whether there was a commit, and proves that commits are possible without making one",
    async (probe) => {
      const write = probe.adding(ADA, [{ id: "x" }]);
      expect(await probe.commit([write])).toMatchObject({ changed: true });
      expect(await probe.commit([write]), "a repeated add").toMatchObject({ changed: false });
      const before = await everything(probe);
      await probe.store.proveWritable(probe.now);
      await probe.store.proveWritable(probe.now);
      expect(await everything(probe)).toEqual(before);
    },
  );

  check("refuses everything once it is closed", async (probe) => {
    await probe.add(ADA, [{ id: "x" }]);
    await probe.store.close();
    const calls = [
      () => probe.commit([probe.adding(ADA, ["late"])]),
      () => probe.get(ADA, "x"),
      () => probe.list(ADA),
      () => probe.search(ADA, "x"),
      () => probe.store.versions([ADA]),
      () => probe.changes(ADA),
      () => probe.store.entries({ kind: "user", limit: 1 }),
      () => probe.store.sessions({ kind: "session", limit: 1 }),
      () => probe.store.stats(),
      () => probe.store.proveWritable(probe.now),
      () => probe.store.purge(10),
      () => probe.store.maintain(probe.now),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject({ code: "closed" });
  });
}

/** Everything that can be read, for comparing before and after. */
async function everything(probe: Probe) {
  const spaces = [ADA, BOB, { user: "lovelace" }, { agent: "tutor" }, { agent: "coach" }, { team: "crew" }];
  const changes = await probe.store.changes(spaces.map((space) => ({ space })));
  return {
    items: await probe.list(spaces),
    scores: await probe.search(spaces, "old new fresh lamp rope replaced Ann third"),
    versions: await probe.store.versions(spaces),
    changes: changes.map(({ changed, ...rest }) => ({ ...rest, changed: changed.toSorted(byId) })),
    users: (await probe.store.entries({ kind: "user", limit: 100 })).items,
    agents: (await probe.store.entries({ kind: "agent", limit: 100 })).items,
    teams: (await probe.store.entries({ kind: "team", limit: 100 })).items,
    sessions: (await probe.store.sessions({ kind: "session", limit: 100 })).items,
    stored: (await probe.store.stats()).items,
  };
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
