/** Facts and the rest: their items and ids, their spaces and sessions, units, and other handles. */
import { expect } from "vitest";
import type { PendingItem } from "../../stores/indexing.js";
import type { Check, CheckPersistent } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { EAST, embedded, Indexer, OUTSIDE } from "./indexer.js";
import { ADA, BOB, DAY, START } from "./probe.js";

export function factItems(check: Check, checkPersistent: CheckPersistent): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("keeps the vectors of a fact whose confidence alone has changed", async (facts) => {
    const { probe } = facts;
    await facts.put("porto");
    const indexer = new Indexer(probe);
    const fence = await indexer.claim(OUTSIDE);
    const [waiting] = await indexer.pending(OUTSIDE);
    await indexer.index(OUTSIDE, fence, [embedded(waiting as PendingItem, [EAST])]);
    expect(await probe.ids(ADA, { filter: { pending: true } })).toEqual([]);
    await facts.put("porto", { confidence: 0.9 });
    expect(await probe.ids(ADA, { filter: { pending: true } })).toEqual([]);
    expect(await indexer.nearIds([ADA], EAST)).toEqual(["porto"]);
    await facts.end("porto");
    expect(await indexer.nearIds([ADA], EAST)).toEqual([]);
  });

  checkFacts("is found like any item while it holds, and not after", async (facts) => {
    const { probe } = facts;
    await facts.put("porto", { content: "lives in Porto" });
    const seen = async () => ({
      words: await probe.found(ADA, "porto"),
      list: await probe.ids(ADA, { filter: { kinds: ["fact"] } }),
      pending: await probe.ids(ADA, { filter: { pending: true } }),
      got: (await probe.get(ADA, "porto")).length,
      stored: (await probe.store.stats()).items,
    });
    const [one, none] = [["porto"], [] as string[]];
    expect(await seen()).toEqual({ words: one, list: one, pending: one, got: 1, stored: 1 });
    const since = await probe.cursor(ADA);
    await probe.grows([ADA], () => facts.end("porto"));
    expect(await seen()).toEqual({ words: none, list: none, pending: none, got: 0, stored: 0 });
    expect(await probe.changes(ADA, since)).toMatchObject({ changed: [], removed: [{ items: 1 }] });
    expect(await facts.fact("porto")).toMatchObject({ state: "ended", content: "lives in Porto" });
    await facts.put("porto");
    expect(await seen()).toEqual({ words: one, list: one, pending: one, got: 1, stored: 1 });
  });

  checkFacts("keeps spaces apart, and shows the requested ones together", async (facts) => {
    const { probe } = facts;
    const his = new FactProbe(probe, BOB);
    await facts.put("porto", { content: "hers" });
    await his.put("porto", { content: "his" });
    await facts.put("lisbon", { supersedes: ["porto"] });
    expect(await facts.ids()).toEqual(["lisbon"]);
    expect(await his.query()).toMatchObject([{ content: "his", space: BOB, version: 1 }]);
    const both = await probe.store.facts({ spaces: [BOB, ADA, BOB], limit: 9, now: probe.now });
    expect(both.items.map(({ id, space }) => [id, space])).toEqual([
      ["porto", BOB],
      ["lisbon", ADA],
    ]);
    expect((await probe.store.facts({ spaces: [], limit: 9, now: probe.now })).items).toEqual([]);
    expect((await probe.store.facts({ spaces: [{ team: "none" }], limit: 9, now: probe.now })).items).toEqual([]);
    await facts.end("lisbon", undefined, "retracted");
    await facts.forget({ space: ADA, entry: true });
    expect(await his.ids()).toEqual(["porto"]);
  });

  checkFacts("follows renames of its space and its session", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await facts.put("said", { source: { message: "m" } });
    await facts.put("heard", { source: { session: "s" } });
    await facts.end("heard");
    await probe.amend({ kind: "session", space: ADA, name: "s" }, { name: "renamed" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    expect(await facts.query({ states: ["holds", "ended"] })).toEqual([]);
    const lovelace = new FactProbe(probe, { user: "lovelace" });
    expect(await lovelace.fact("said")).toMatchObject({
      space: { user: "lovelace" },
      sources: [{ session: "renamed" }],
    });
    expect(await lovelace.fact("heard")).toMatchObject({ sources: [{ session: "renamed" }] });
    await lovelace.put("heard", { source: { session: "renamed" } });
    expect((await lovelace.fact("heard")).sources).toHaveLength(1);
  });

  checkFacts("cannot be edited as an item in its content, but can in the rest", async (facts) => {
    const { probe } = facts;
    await facts.put("porto");
    for (const patch of [{ content: "x", parts: null }, { name: "Ann" }, { name: null }, { metadata: {} }]) {
      await probe.fails("invalid_input", { op: "update", space: ADA, id: "porto", patch });
    }
    await probe.update(ADA, "porto", { tier: "working", expiresAt: START + DAY });
    expect(await probe.item(ADA, "porto")).toMatchObject({ tier: "working", content: "content of porto" });
    await facts.put("porto", { confidence: 1 });
    expect(await probe.item(ADA, "porto")).toMatchObject({ tier: "working", expiresAt: START + DAY });
    await facts.end("porto");
    await probe.fails("not_found", { op: "update", space: ADA, id: "porto", patch: { tier: "episodic" } });
  });

  checkFacts("keeps its id to itself, whether it holds or not", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "message" }, { id: "plain", kind: "fact" }]);
    await probe.fails("conflict", facts.putting("message"));
    await probe.fails("conflict", facts.putting("plain"));
    await facts.put("porto");
    const adding = (existing: "same" | "replace", draft = {}) =>
      probe.adding(ADA, [{ id: "porto", ...draft }], { existing });
    await probe.fails("conflict", adding("same"));
    await probe.fails("conflict", adding("replace", { kind: "fact" }));
    for (const as of ["ended", "retracted"] as const) {
      await facts.end("porto", undefined, as);
      expect((await probe.fails("conflict", adding("same"))).details).toMatchObject({ id: "porto" });
      await probe.fails("conflict", adding("replace"));
      await probe.fails("conflict", probe.adding(ADA, [{ id: "porto" }], { session: "s" }));
    }
    await new FactProbe(probe, BOB).probe.add(BOB, [{ id: "porto" }]);
    await facts.forgetIds("porto");
    await probe.add(ADA, [{ id: "porto", content: "a message" }]);
    expect(await probe.contents(ADA)).toContain("a message");
  });

  checkFacts("records up to where facts were extracted, and never goes back", async (facts) => {
    const { probe } = facts;
    const note = (session: string, upTo: number) => ({ op: "extracted", space: ADA, session, upTo }) as const;
    expect(await probe.store.extracted(ADA, "s")).toBe(0);
    await probe.fails("not_found", note("s", 1));
    await probe.add(ADA, ["one", "two"], { session: "s" });
    await probe.fails("not_found", note("t", 1));
    await probe.fails("not_found", { ...note("s", 1), space: BOB });
    expect(await probe.store.extracted(ADA, "s")).toBe(0);
    expect(await probe.unit(note("s", 2))).toEqual([{ op: "extracted" }]);
    await probe.unit(note("s", 1));
    expect(await probe.store.extracted(ADA, "s")).toBe(2);
    await probe.fails("conflict", { ...note("s", 3), after: 1 }, facts.putting("late"));
    expect(await facts.ids()).toEqual([]);
    await probe.unit({ ...note("s", 3), after: 2 });
    expect(await probe.store.extracted(ADA, "s")).toBe(3);
    await probe.forget({ space: ADA, session: "s", entry: true });
    await probe.add(ADA, ["one"], { session: "s" });
    expect(await probe.store.extracted(ADA, "s")).toBe(0);
  });

  checkFacts("succeeds or fails with its unit", async (facts) => {
    const { probe } = facts;
    await facts.put("porto", { from: 10 });
    const before = [await facts.fact("porto"), probe.written, await probe.version(ADA)];
    await probe.fails(
      "not_found",
      probe.adding(ADA, [{ id: "m", content: "I live in Lisbon" }], { session: "s" }),
      facts.putting("lisbon", { source: { message: "m" }, supersedes: ["porto"], agent: "tutor" }),
      facts.putting("porto", { source: { session: "t" }, from: 90 }),
      { op: "end_fact", space: ADA, id: "nobody", as: "ended", at: 1 },
    );
    expect([await facts.fact("porto"), probe.written, await probe.version(ADA)]).toEqual(before);
    expect(await facts.ids({ states: ["holds", "ended", "retracted"] })).toEqual(["porto"]);
    expect(await probe.ids(ADA)).toEqual(["porto"]);
    expect(await probe.found(ADA, "porto")).toEqual(["porto"]);
    expect(await probe.found(ADA, "lisbon")).toEqual([]);
    expect(await probe.sessionNames()).toEqual([]);
    expect(await probe.names("agent")).toEqual([]);
    await probe.unit(
      probe.adding(ADA, [{ id: "m", content: "I live in Lisbon" }], { session: "s" }),
      facts.putting("lisbon", { source: { message: "m" }, from: 40, supersedes: ["porto"] }),
    );
    expect((await facts.fact("lisbon")).sources).toEqual([{ message: "m", session: "s" }]);
    expect((await facts.fact("porto")).spans).toEqual([{ from: 10, to: 40, supersededBy: "lisbon" }]);
    expect(await probe.forget({ space: ADA, ids: ["m"] })).toMatchObject({ items: 2 });
    expect((await facts.fact("porto")).spans, "the successor is gone").toEqual([{ from: 10, to: 40 }]);
  });

  checkPersistent("finds its facts after close and open", async (probe, reopen) => {
    const facts = new FactProbe(probe, ADA);
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await facts.put("porto", { from: 10, source: { message: "m" }, pinned: true });
    await facts.put("lisbon", { from: 20, supersedes: ["porto"], source: { session: "t" } });
    await facts.put("rome");
    await facts.end("rome", undefined, "retracted");
    await probe.unit({ op: "extracted", space: ADA, session: "s", upTo: 1 });
    const all = { states: ["holds", "ended", "retracted"] } as const;
    const before = await facts.query(all);
    expect(before).toHaveLength(3);
    await probe.store.close();
    const second = new FactProbe(probe.on(await reopen()), ADA);
    try {
      expect(await second.query(all)).toEqual(before);
      expect(await second.probe.store.extracted(ADA, "s")).toBe(1);
      expect(await second.put("rome")).toMatchObject({ outcome: "retracted" });
      expect(await second.forgetIds("m")).toMatchObject({ items: 1, facts: 1 });
      expect(await second.ids(all)).toEqual(["lisbon", "rome"]);
    } finally {
      await second.probe.store.close();
    }
  });
}
