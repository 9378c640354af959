/** Commit numbers, versions of spaces, and units that stand or fall alone. */
import { expect } from "vitest";
import type { Unit, UpdateWrite } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND, START } from "./probe.js";

const MISSING: UpdateWrite = { op: "update", space: ADA, id: "not there", patch: { content: "never" } };

export function commits(check: Check): void {
  check("gives each commit the next number, however many units it has", async (probe) => {
    const first = await probe.commit([probe.adding(ADA, ["one"])]);
    const second = await probe.commit(
      [probe.adding(ADA, ["two"])],
      [probe.adding(BOB, ["three"]), probe.adding(ADA, ["four"])],
    );
    const third = await probe.commit([probe.adding(BOB, ["five"])]);
    expect([second.commit, third.commit]).toEqual([first.commit + 1, first.commit + 2]);
    expect(second.outcomes).toHaveLength(2);
    expect(second.workMs).toBeGreaterThanOrEqual(0);
    expect(await probe.commitNumber()).toBe(third.commit);
  });

  check("gives a space the number of the last commit that changed it, and no other space", async (probe) => {
    const { commit: first } = await probe.commit([probe.adding(ADA, ["one"])]);
    const { commit: second } = await probe.commit([probe.adding(BOB, ["two"])]);
    expect(await probe.store.versions([ADA, BOB, { user: "nobody" }, ADA])).toEqual([first, second, 0, first]);
    const { commit: both } = await probe.commit([probe.adding(ADA, ["three"])], [probe.adding(BOB, ["four"])]);
    expect(await probe.store.versions([ADA, BOB])).toEqual([both, both]);
  });

  check("bumps the version with every kind of change", async (probe) => {
    let before = 0;
    const expectBump = async (what: string) => {
      const version = await probe.version(ADA);
      expect(version, what).toBeGreaterThan(before);
      expect(version, what).toBe(await probe.commitNumber());
      before = version;
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

  check("moves neither the commit number nor a version when nothing changes", async (probe) => {
    const known = probe.adding(ADA, [{ id: "x" }], { session: "s", agent: "tutor" });
    const keyed = probe.adding(ADA, ["once"], { idempotency: { key: "k", hash: "h" } });
    await probe.unit(known);
    await probe.unit(keyed);
    const number = await probe.commitNumber();
    const versions = await probe.store.versions([ADA, { agent: "tutor" }]);
    const idle: readonly (readonly [string, Unit])[] = [
      ["nothing", []],
      ["an add without items", [probe.adding(ADA, [])]],
      ["an add without items in a new place", [probe.adding({ user: "nobody" }, [], { session: "s", agent: "a" })]],
      ["known items", [known]],
      ["a known key", [keyed]],
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
      const { commit, outcomes } = await probe.commit(unit);
      expect(outcomes, what).toMatchObject([{ ok: true }]);
      expect(commit, what).toBe(number);
      expect(await probe.store.versions([ADA, { agent: "tutor" }]), what).toEqual(versions);
    }
    const together = await probe.commit(...idle.map(([, unit]) => unit));
    expect(together.commit).toBe(number);
    expect(together.outcomes).toHaveLength(idle.length);
    expect(await probe.commitNumber()).toBe(number);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.names("agent")).toEqual(["tutor"]);
    const none = await probe.commit();
    expect(none).toMatchObject({ commit: number, outcomes: [] });
  });

  check("answers the last number when every unit failed, and keeps every space's version", async (probe) => {
    const { commit } = await probe.commit([probe.adding(ADA, ["one"])]);
    const failed = await probe.commit([probe.adding(ADA, ["two"]), MISSING], [MISSING]);
    expect(failed.outcomes.map((outcome) => outcome.ok)).toEqual([false, false]);
    expect(failed.commit).toBe(commit);
    expect(await probe.version(ADA)).toBe(commit);
    expect((await probe.commit([probe.adding(ADA, ["three"])])).commit).toBe(commit + 1);
  });

  check("undoes a unit that fails, and nobody else", async (probe) => {
    const { commit, outcomes } = await probe.commit(
      [probe.adding(ADA, ["first"], { session: "s" })],
      [probe.adding(ADA, ["gone"], { session: "s" }), probe.adding(BOB, ["gone too"]), MISSING],
      [probe.adding(ADA, ["third"], { session: "s" })],
    );
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, false, true]);
    expect(outcomes[2]).toMatchObject({ done: [{ sequences: [2] }] });
    expect(await probe.contents(ADA)).toEqual(["first", "third"]);
    expect(await probe.found(ADA, "gone")).toEqual([]);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.store.versions([ADA, BOB])).toEqual([commit, 0]);
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
      { op: "update", space: ADA, id: "x", patch: { content: "new lamp", metadata: { a: 1 }, name: "Ann" } },
      { op: "forget", target: { space: ADA, ids: ["y"] } },
      { op: "forget", target: { expired: true } },
      probe.adding(ADA, [{ id: "x", content: "replaced" }], { session: "s", existing: "replace", agent: "coach" }),
      probe.adding(ADA, ["fresh lamp"], { session: "fresh", idempotency: { key: "second", hash: "2" } }),
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
      probe.adding(ADA, ["other"], { session: "s", idempotency: { key: "first", hash: "other" } }),
    );
    const added = await probe.add(ADA, ["new"], { session: "fresh", idempotency: { key: "second", hash: "other" } });
    expect(added).toMatchObject({ repeated: false, sequences: [1] });
    expect(await probe.add(ADA, ["fourth"], { session: "s" })).toMatchObject({ sequences: [4] });
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

  check("keeps sequences and numbers apart when commits are given at the same time", async (probe) => {
    const writes = Array.from({ length: 20 }, (_, at) => probe.adding(ADA, [`message ${at}`], { session: "s" }));
    const committed = await Promise.all(writes.map((write) => probe.commit([write])));
    const done = committed.flatMap(({ outcomes }) => outcomes.flatMap((outcome) => (outcome.ok ? outcome.done : [])));
    const sequences = done.flatMap((one) => (one.op === "add" ? one.sequences : []));
    expect(sequences.toSorted((a, b) => a - b)).toEqual(writes.map((_, at) => at + 1));
    expect(new Set(committed.map(({ commit }) => commit)).size).toBe(writes.length);
    expect(await probe.list(ADA)).toHaveLength(writes.length);
  });

  check("takes the time it is given, also one that runs backwards", async (probe) => {
    await probe.add(ADA, [{ id: "late" }], { session: "s" });
    probe.now = START - 5 * SECOND;
    await probe.add(ADA, [{ id: "early" }], { session: "s" });
    expect(await probe.ids(ADA)).toEqual(["late", "early"]);
    expect(await probe.item(ADA, "early")).toMatchObject({ recordedAt: probe.now, sequence: 2 });
  });

  check("counts items and commits in its statistics", async (probe) => {
    expect(await probe.store.stats()).toMatchObject({ commit: 0, items: 0 });
    await probe.add(ADA, ["one", "two"]);
    await probe.add(BOB, [{ id: "x" }]);
    await probe.forget({ space: BOB, ids: ["x"] });
    const stats = await probe.store.stats();
    expect(stats).toMatchObject({ commit: await probe.commitNumber(), items: 2 });
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

  check("says whether there was a commit, and proves that there can be one without making one", async (probe) => {
    const write = probe.adding(ADA, [{ id: "x" }]);
    expect(await probe.commit([write])).toMatchObject({ changed: true, commit: 1 });
    expect(await probe.commit([write]), "a repeated add").toMatchObject({ changed: false, commit: 1 });
    const before = await everything(probe);
    await probe.store.proveWritable(probe.now);
    await probe.store.proveWritable(probe.now);
    expect(await everything(probe)).toEqual(before);
    expect(await probe.commitNumber()).toBe(1);
  });

  check("refuses everything once it is closed", async (probe) => {
    await probe.add(ADA, [{ id: "x" }]);
    await probe.store.close();
    const calls = [
      () => probe.commit([probe.adding(ADA, ["late"])]),
      () => probe.get(ADA, "x"),
      () => probe.list(ADA),
      () => probe.search(ADA, "x"),
      () => probe.store.versions([ADA]),
      () => probe.store.changes([ADA], 0),
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

/** All that can be read, for comparing before and after. */
async function everything(probe: Probe) {
  const spaces = [ADA, BOB, { user: "lovelace" }, { agent: "tutor" }, { agent: "coach" }, { team: "crew" }];
  const { changed, ...rest } = await probe.store.changes(spaces, 0);
  return {
    items: await probe.list(spaces),
    scores: await probe.search(spaces, "old new fresh lamp rope replaced Ann third"),
    versions: await probe.store.versions(spaces),
    changed: changed.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    rest,
    users: (await probe.store.entries({ kind: "user", limit: 100 })).items,
    agents: (await probe.store.entries({ kind: "agent", limit: 100 })).items,
    teams: (await probe.store.entries({ kind: "team", limit: 100 })).items,
    sessions: (await probe.store.sessions({ kind: "session", limit: 100 })).items,
    stored: (await probe.store.stats()).items,
  };
}
