/** The injection ledger: the contents of the window of a session's model, by session, and the tokens saved. */
import { expect } from "vitest";
import { LEDGER_MAX, type Ledger, type LedgerEntry, type LedgerWrite, ledgerState } from "../../stores/ledger.js";
import type { SpaceRef } from "../../types.js";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, type Probe } from "./probe.js";

const EMPTY: Ledger = { entries: [], saved: 0, resets: 0 };
/** Fails in every store. */
const FAILING = { op: "update", space: ADA, id: "never there", patch: {} } as const;

type Draft = Partial<Omit<LedgerWrite, "op">>;

const entry = (ref: string, version = 1, tokens = 10): LedgerEntry => ({ ref, version, tokens });

const writing = (draft: Draft): LedgerWrite => ({
  op: "ledger",
  space: ADA,
  session: "s",
  reset: false,
  drop: [],
  put: [],
  saved: 0,
  ...draft,
});

async function write(probe: Probe, draft: Draft): Promise<void> {
  expect(await probe.unit(writing(draft))).toEqual([{ op: "ledger", before: expect.any(Array) }]);
}

const read = (probe: Probe, session = "s", space: SpaceRef = ADA): Promise<Ledger> =>
  probe.store.ledger(space, session);

async function refs(probe: Probe, session?: string, space?: SpaceRef): Promise<readonly string[]> {
  return (await read(probe, session, space)).entries.map(({ ref }) => ref);
}

export function ledger(check: Check, checkPersistent: CheckPersistent): void {
  check("is empty if nothing was written, and reading it registers nothing", async (probe) => {
    expect(await read(probe)).toEqual(EMPTY);
    await probe.add(ADA, ["hello"], { session: "s" });
    expect(await read(probe)).toEqual(EMPTY);
    expect(await read(probe, "another")).toEqual(EMPTY);
    expect(await read(probe, "s", BOB)).toEqual(EMPTY);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.sessionNames()).toEqual(["s"]);
  });

  check("keeps what was put, and registers space and session for it", async (probe) => {
    const put = [entry("b", 3, 120), entry("a", 1, 0)];
    await write(probe, { put, saved: 7 });
    expect(await read(probe)).toEqual({ entries: put, saved: 7, resets: 0 });
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
    expect(await probe.add(ADA, ["first"], { session: "s" })).toMatchObject({ sequences: [1] });
  });

  check("keeps the position of an entry that is put again, with its new version", async (probe) => {
    await write(probe, { put: [entry("c"), entry("a"), entry("b"), entry("a", 2, 20)] });
    expect(await read(probe)).toMatchObject({ entries: [entry("c"), entry("a", 2, 20), entry("b")] });
    await write(probe, { put: [entry("d"), entry("c", 2, 5)] });
    expect(await read(probe)).toMatchObject({
      entries: [entry("c", 2, 5), entry("a", 2, 20), entry("b"), entry("d")],
    });
    await write(probe, { put: [entry("a", 1, 1)] });
    expect((await read(probe)).entries[1], "also an older one").toEqual(entry("a", 1, 1));
    await write(probe, { drop: ["c", "never there", "d"] });
    expect(await refs(probe)).toEqual(["a", "b"]);
    await write(probe, { put: [entry("c"), entry("d")] });
    expect(await refs(probe), "what has left comes back at the end").toEqual(["a", "b", "c", "d"]);
  });

  check("writes nothing if the ledger is not the one that the write was made from", async (probe) => {
    const empty = ledgerState([]);
    await write(probe, { put: [entry("a")], saved: 1, expected: empty });
    const after = await read(probe);
    for (const draft of [
      { put: [entry("b")], expected: empty },
      { drop: ["a"], expected: ledgerState([entry("a", 2)]) },
      { reset: true, saved: 5, expected: ledgerState([entry("a"), entry("b")]) },
      { put: [entry("b")], session: "never there", expected: ledgerState(after.entries) },
    ]) {
      expect(await probe.unit(writing(draft))).toEqual([{ op: "ledger", isStale: true }]);
    }
    expect(await read(probe)).toEqual(after);
    expect(await probe.sessionNames(ADA), "nobody is registered by it").toEqual(["s"]);
    await write(probe, { put: [entry("b", 2), entry("a", 2)], expected: ledgerState(after.entries) });
    await write(probe, { drop: ["a"], expected: ledgerState([entry("a", 2), entry("b", 2)]) });
    expect(await refs(probe)).toEqual(["b"]);
    await write(probe, { put: [entry("c")], session: "new", expected: empty });
    expect(await refs(probe, "new")).toEqual(["c"]);
  });

  check("resets first, then drops, then puts", async (probe) => {
    await write(probe, { put: [entry("a"), entry("b")] });
    await write(probe, { drop: ["a"], put: [entry("a", 2)] });
    expect(await read(probe)).toMatchObject({ entries: [entry("b"), entry("a", 2)] });
    await write(probe, { reset: true, drop: ["c"], put: [entry("c"), entry("b", 2)] });
    expect(await read(probe)).toMatchObject({ entries: [entry("c"), entry("b", 2)], resets: 1 });
  });

  check("counts resets, even of an empty window, and saved tokens over all windows", async (probe) => {
    await write(probe, { reset: true });
    expect(await read(probe)).toEqual({ entries: [], saved: 0, resets: 1 });
    await write(probe, { put: [entry("a")], saved: 3_000_000_000 });
    await write(probe, { reset: true, saved: 3_000_000_000 });
    await write(probe, { reset: true, put: [entry("b")], saved: 1 });
    expect(await read(probe)).toEqual({ entries: [entry("b")], saved: 6_000_000_001, resets: 3 });
  });

  check("evicts the oldest entries when there are too many", async (probe) => {
    const all = Array.from({ length: LEDGER_MAX + 10 }, (_, at) => entry(`r${at}`));
    await write(probe, { put: all.slice(0, LEDGER_MAX) });
    expect((await read(probe)).entries).toEqual(all.slice(0, LEDGER_MAX));
    await write(probe, { put: [entry("r0", 2), entry("r5", 2)] });
    expect((await read(probe)).entries, "what is put again needs no room").toHaveLength(LEDGER_MAX);
    await write(probe, { put: all.slice(LEDGER_MAX, LEDGER_MAX + 3), session: "another" });
    await write(probe, { put: all.slice(LEDGER_MAX, LEDGER_MAX + 3) });
    const { entries } = await read(probe);
    expect(entries).toHaveLength(LEDGER_MAX);
    expect(entries.slice(0, 3)).toEqual([entry("r3"), entry("r4"), entry("r5", 2)]);
    expect(entries.at(-1)?.ref).toBe(`r${LEDGER_MAX + 2}`);
    await write(probe, { reset: true, put: all });
    expect((await read(probe)).entries, "all at once").toEqual(all.slice(10));
    expect(await refs(probe, "another")).toHaveLength(3);
  });

  check("keeps sessions and spaces apart", async (probe) => {
    const places = [
      [ADA, "s"],
      [ADA, "t"],
      [BOB, "s"],
      [{ agent: "ada" }, "s"],
    ] as const;
    for (const [at, [space, session]] of places.entries()) {
      await write(probe, { space, session, put: [entry("same", at + 1)], saved: at });
    }
    await write(probe, { session: "t", drop: ["same"], reset: true });
    await write(probe, { session: "t", put: [entry("other")] });
    expect(await read(probe)).toEqual({ entries: [entry("same", 1)], saved: 0, resets: 0 });
    expect(await read(probe, "t")).toEqual({ entries: [entry("other")], saved: 1, resets: 1 });
    expect(await read(probe, "s", BOB)).toEqual({ entries: [entry("same", 3)], saved: 2, resets: 0 });
    expect(await read(probe, "s", { agent: "ada" })).toEqual({ entries: [entry("same", 4)], saved: 3, resets: 0 });
  });

  check("counts changes as a commit that changes no answer of its space", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const answers = async () => ({
      version: await probe.version(ADA),
      items: await probe.list(ADA),
      sessions: (await probe.store.sessions({ kind: "session", limit: 10 })).items,
    });
    const before = await answers();
    probe.now += 1;
    const saying = [{ put: [entry("a")] }, { put: [entry("a", 2)] }, { saved: 1 }, { reset: true }, { reset: true }];
    for (const draft of [...saying, { put: [entry("a")] }, { drop: ["a"] }]) {
      expect(await probe.commit([writing(draft)]), JSON.stringify(draft)).toMatchObject({
        changed: true,
        versions: [],
      });
    }
    await write(probe, { put: [entry("a")] });
    for (const draft of [{}, { put: [entry("a")] }, { drop: ["b"] }]) {
      expect(await probe.commit([writing(draft)]), JSON.stringify(draft)).toMatchObject({ changed: false });
    }
    expect(await answers()).toEqual(before);
    await probe.grows([ADA], () => write(probe, { session: "new" }), "a new session is an answer");
  });

  check("succeeds or fails with its unit", async (probe) => {
    await write(probe, { put: [entry("a"), entry("b")], saved: 5 });
    const before = await read(probe);
    const change = { drop: ["a"], put: [entry("b", 2), entry("c")], saved: 9 };
    await probe.fails("not_found", writing(change), FAILING);
    await probe.fails("not_found", writing({ ...change, reset: true }), FAILING);
    await probe.fails("not_found", writing({ session: "new" }), writing({ space: BOB, put: [entry("x")] }), FAILING);
    expect(await read(probe)).toEqual(before);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.sessionNames()).toEqual(["s"]);
    const { outcomes } = await probe.commit([writing(change), FAILING], [writing({ put: [entry("d")] })]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
    expect(await refs(probe)).toEqual(["a", "b", "d"]);
  });

  check("can be in one unit with messages, without affecting their sequences", async (probe) => {
    const message = (text: string) => probe.adding(ADA, [text], { session: "s" });
    const put = [entry("a")];
    const done = await probe.unit(writing({ put }), message("one"), writing({ saved: 1 }), message("two"));
    expect(done).toMatchObject([{ op: "ledger" }, { sequences: [1] }, { op: "ledger" }, { sequences: [2] }]);
    expect(await read(probe)).toEqual({ entries: put, saved: 1, resets: 0 });
  });

  check("is not affected by changes of the items it names", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    await write(probe, { put: [entry("x")] });
    await probe.update(ADA, "x", { content: "edited", parts: null });
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await read(probe)).toEqual({ ...EMPTY, entries: [entry("x")] });
  });

  check("is removed with its session, whether the entry stays or not", async (probe) => {
    for (const session of ["s", "t", "other"]) {
      await probe.add(ADA, ["hello"], { session });
      await write(probe, { session, reset: true, put: [entry("a")], saved: 4 });
    }
    await probe.forget({ space: ADA, session: "s", entry: true });
    await probe.forget({ space: ADA, session: "t", entry: false });
    for (const session of ["s", "t"]) {
      expect(await read(probe, session)).toEqual(EMPTY);
      await probe.add(ADA, ["here again"], { session });
      expect(await read(probe, session)).toEqual(EMPTY);
      await write(probe, { session, put: [entry("b")] });
      expect(await read(probe, session)).toEqual({ ...EMPTY, entries: [entry("b")] });
    }
    expect(await read(probe, "other")).toEqual({ entries: [entry("a")], saved: 4, resets: 1 });
  });

  check("is removed with its space", async (probe) => {
    for (const space of [ADA, BOB]) await write(probe, { space, reset: true, put: [entry("a")], saved: 4 });
    await probe.forget({ space: ADA, entry: true });
    expect(await read(probe)).toEqual(EMPTY);
    await write(probe, { put: [entry("b")] });
    expect(await read(probe)).toEqual({ ...EMPTY, entries: [entry("b")] });
    expect(await read(probe, "s", BOB)).toEqual({ entries: [entry("a")], saved: 4, resets: 1 });
  });

  check("follows the names of its space and its session", async (probe) => {
    await write(probe, { reset: true, put: [entry("a")], saved: 4 });
    const before = await read(probe);
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    expect(await read(probe, "t", { user: "lovelace" })).toEqual(before);
    expect(await read(probe, "t")).toEqual(EMPTY);
    expect(await read(probe, "s", { user: "lovelace" })).toEqual(EMPTY);
  });

  check("keeps any reference unchanged, as a copy", async (probe) => {
    const names = [
      "",
      " ",
      "a",
      "A",
      "é",
      "e\u0301",
      "👩‍👧",
      "\uFFFE",
      "'\"\\%_*",
      "__proto__",
      "1",
      "01",
      "x".repeat(5000),
    ];
    const put = names.map((ref) => entry(ref));
    await write(probe, { put });
    for (const given of put) Object.assign(given, { version: 9 });
    for (const given of (await read(probe)).entries) Object.assign(given, { version: 9 });
    expect((await read(probe)).entries).toEqual(names.map((ref) => entry(ref)));
    await write(probe, { drop: names.slice(1) });
    expect(await refs(probe)).toEqual([""]);
  });

  check("continues after a reopen where it was", async (probe) => {
    await write(probe, { reset: true, put: [entry("b"), entry("a")], saved: 4 });
    const before = await read(probe);
    await probe.store.reopen();
    expect(await read(probe)).toEqual(before);
  });

  checkPersistent("is one ledger for all handles, even after they are closed", async (probe, reopen) => {
    await write(probe, { reset: true, put: [entry("b"), entry("a")], saved: 4 });
    const second = probe.on(await reopen());
    try {
      await write(second, { put: [entry("c"), entry("b", 2)], saved: 2 });
      const both = { entries: [entry("b", 2), entry("a"), entry("c")], saved: 6, resets: 1 };
      expect(await read(probe)).toEqual(both);
      await probe.store.close();
      expect(await read(second)).toEqual(both);
    } finally {
      await second.store.close();
    }
    const third = await reopen();
    try {
      expect(await third.ledger(ADA, "s")).toMatchObject({ saved: 6, resets: 1 });
    } finally {
      await third.close();
    }
  });
}
