/** What forgetting does to facts: a fact is removed with its last source, and as a whole. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB } from "./probe.js";

const ALL = { states: ["holds", "ended", "retracted"] } as const;

export function factForgets(check: Check): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("is removed with its only source, its past included", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m", content: "secret lamp" }, { id: "n" }], { session: "s" });
    await facts.put("holds", { content: "a secret", source: { message: "m" } });
    await facts.put("ended", { source: { message: "m" } });
    await facts.end("ended");
    await facts.put("taken back", { source: { message: "m" } });
    await facts.end("taken back", undefined, "retracted");
    await facts.put("other", { source: { message: "n" } });
    const version = await probe.version(ADA);
    const gone = await facts.forgetIds("m");
    expect(gone).toMatchObject({ items: 2, facts: 3, factsLeft: [], sessions: 0, entries: 0, blocks: 0 });
    expect(await facts.ids(ALL)).toEqual(["other"]);
    expect(await facts.ids({ asOf: probe.now })).toEqual(["other"]);
    expect(await probe.ids(ADA)).toEqual(["n", "other"]);
    expect(await probe.found(ADA, "secret")).toEqual([]);
    expect(await probe.version(ADA)).toBeGreaterThan(version);
    const again = await facts.put("taken back");
    expect(again, "the mark of the retraction is gone too").toMatchObject({ outcome: "added", fact: { version: 1 } });
  });

  checkFacts("is reported once if it stays, and not if the same forget removes its last source", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }, { id: "n" }, { id: "o" }]);
    for (const message of ["m", "n"]) await facts.put("goes", { source: { message } });
    for (const message of ["m", "n", "o"]) await facts.put("stays", { source: { message } });
    expect(await facts.forgetIds("m", "n")).toMatchObject({ items: 3, facts: 1, factsLeft: ["stays"] });
    expect(await facts.query()).toMatchObject([{ id: "stays", sources: [{ message: "o" }] }]);
  });

  checkFacts("is removed with the session that is its source, and with the messages in it", async (facts) => {
    const { probe } = facts;
    for (const entry of [false, true]) {
      await probe.add(ADA, [{ id: "m" }], { session: "s" });
      await facts.put("said", { source: { message: "m" } });
      await facts.put("heard", { source: { session: "s" } });
      await facts.put("ended", { source: { session: "s" } });
      await facts.end("ended");
      await facts.put("both", { source: { session: "s" } });
      await facts.put("both", { source: { session: "t" } });
      const gone = await facts.forget({ space: ADA, session: "s", entry });
      expect(gone).toMatchObject({ items: 3, facts: 3, factsLeft: ["both"], sessions: entry ? 1 : 0 });
      expect(await facts.ids(ALL)).toEqual(["both"]);
      expect((await facts.fact("both")).sources).toEqual([{ session: "t" }]);
      await facts.forgetIds("both");
    }
    expect(await facts.forget({ space: ADA, session: "t", entry: true })).toMatchObject({ items: 0, facts: 0 });
  });

  checkFacts("is removed in slices too, if a session has many", async (facts) => {
    const { probe } = facts;
    const puts = Array.from({ length: 300 }, (_, at) => facts.putting(`f${at}`, { source: { session: "s" } }));
    await probe.unit(...puts);
    await probe.unit(...puts.slice(0, 280).map(({ id }) => facts.ending(id)));
    await facts.put("stays");
    expect(await facts.forget({ space: ADA, session: "s", entry: true })).toMatchObject({ items: 20, facts: 300 });
    expect(await facts.ids(ALL)).toEqual(["stays"]);
    await probe.unit(...puts);
    await probe.unit(...puts.map(({ id }) => facts.ending(id)));
    const space = await facts.forget({ space: ADA, entry: true });
    expect(space).toMatchObject({ items: 1, facts: 301, factsLeft: [], sessions: 1, entries: 1 });
    expect(await facts.ids(ALL)).toEqual([]);
  });

  checkFacts("is forgotten by its id, whether it holds or not, as a whole", async (facts) => {
    const { probe } = facts;
    await facts.put("holds", { from: 10, content: "lamp" });
    await facts.put("ended", { from: 10 });
    await facts.put("successor", { from: 20, supersedes: ["ended"] });
    await facts.put("taken back");
    await facts.end("taken back", undefined, "retracted");
    const his = new FactProbe(probe, BOB);
    await his.put("holds");
    const gone = await facts.forgetIds("holds", "ended", "taken back", "nobody", "holds");
    expect(gone).toMatchObject({ items: 1, facts: 3, factsLeft: [] });
    expect(await facts.ids(ALL)).toEqual(["successor"]);
    expect(await facts.ids({ asOf: 15 })).toEqual([]);
    expect(await probe.found(ADA, "lamp")).toEqual([]);
    expect(await his.ids()).toEqual(["holds"]);
    expect(await facts.put("ended")).toMatchObject({ outcome: "added", fact: { spans: [{ from: probe.now }] } });
  });

  checkFacts(
    "forgets the name of a successor with the successor, also if another comes under its id",
    async (facts) => {
      await facts.put("porto", { from: 10 });
      await facts.put("lisbon", { from: 20, supersedes: ["porto"] });
      await facts.forgetIds("lisbon");
      expect((await facts.fact("porto")).spans).toEqual([{ from: 10, to: 20 }]);
      await facts.put("lisbon", { from: 50 });
      expect((await facts.fact("porto")).spans).toEqual([{ from: 10, to: 20 }]);
    },
  );

  checkFacts("is not brought back by a message that comes under a forgotten id", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }, { id: "n" }]);
    await facts.put("porto", { source: { message: "m" } });
    await facts.put("porto", { source: { message: "n" } });
    await facts.forgetIds("m");
    await probe.add(ADA, [{ id: "m" }]);
    expect((await facts.fact("porto")).sources).toEqual([{ message: "n" }]);
    expect(await facts.forgetIds("m")).toMatchObject({ items: 1, facts: 0, factsLeft: [] });
    expect(await facts.forgetIds("n")).toMatchObject({ items: 2, facts: 1 });
  });

  checkFacts("is removed with its space; without the entry, blocks and entries stay", async (facts) => {
    const { probe } = facts;
    const state = {
      name: "b",
      content: "",
      maxTokens: 9,
      counter: "chars4",
      policy: "manual",
      readOnly: false,
    } as const;
    for (const entry of [false, true]) {
      const expected = entry ? 0 : 1;
      await probe.unit({
        op: "put_block",
        space: ADA,
        id: `b${expected}`,
        expect: 0,
        state: { ...state, name: `b${expected}` },
        reason: "",
      });
      await probe.add(ADA, [{ id: "m" }], { session: "s" });
      await facts.put("said", { source: { message: "m" } });
      await facts.put("said");
      await facts.put("ended");
      await facts.end("ended");
      const gone = await facts.forget({ space: ADA, entry });
      expect(gone).toMatchObject({ items: 2, facts: 2, factsLeft: [], entries: entry ? 1 : 0, blocks: entry ? 2 : 0 });
      expect(await facts.ids(ALL)).toEqual([]);
      expect(await probe.store.blocks({ spaces: [ADA] })).toHaveLength(expected);
      expect(await probe.names("user")).toHaveLength(expected);
    }
    await facts.put("said");
    expect(await probe.store.blocks({ spaces: [ADA] })).toEqual([]);
  });

  checkFacts("forgets the ledger with its session, and with its space", async (facts) => {
    const { probe } = facts;
    const put = [{ ref: "r", version: 1, tokens: 5 }];
    const note = { op: "ledger", space: ADA, session: "s", reset: false, drop: [], put, saved: 7 } as const;
    const empty = { entries: [], saved: 0, resets: 0 };
    const targets = [
      { space: ADA, session: "s", entry: false },
      { space: ADA, session: "s", entry: true },
      { space: ADA, entry: true },
    ];
    for (const target of targets) {
      await probe.unit(note);
      expect(await probe.store.ledger(ADA, "s")).toMatchObject({ entries: put, saved: 7 });
      await facts.forget(target);
      await probe.register({ kind: "session", name: "s", space: ADA }, "ensure");
      expect(await probe.store.ledger(ADA, "s")).toEqual(empty);
    }
  });

  checkFacts("is undone with a forget whose unit fails", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await facts.put("a", { source: { message: "m" } });
    await facts.put("b", { source: { session: "s" } });
    await facts.promote(["a"], BOB);
    const before = await facts.query(ALL);
    const nowhere = facts.ending("nobody");
    await probe.fails("not_found", { op: "forget", target: { space: ADA, ids: ["m"] } }, nowhere);
    await probe.fails("not_found", { op: "forget", target: { space: ADA, session: "s", entry: true } }, nowhere);
    await probe.fails("not_found", { op: "forget", target: { space: ADA, entry: true } }, nowhere);
    expect(await facts.query(ALL)).toEqual(before);
    const gone = await facts.forget({ space: ADA, session: "s", entry: true });
    expect(gone).toMatchObject({ items: 3, facts: 2, copiesLeft: 1, sessions: 1 });
  });
}
