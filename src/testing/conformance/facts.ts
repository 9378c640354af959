/** Facts: what holds, since when, and on what evidence; superseding, ending, returning and retracting. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, DAY, SECOND, START } from "./probe.js";

export function facts(check: Check): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("records a fact as an item of the same id, outside any session", async (facts) => {
    const { probe } = facts;
    probe.now = START + SECOND;
    const done = await facts.put("porto", { content: "lives in Porto", from: 1000, agent: "tutor", pinned: true });
    expect(done).toEqual({
      op: "put_fact",
      outcome: "added",
      ended: [],
      fact: {
        id: "porto",
        space: ADA,
        category: "place",
        content: "lives in Porto",
        confidence: 0.5,
        pinned: true,
        state: "holds",
        spans: [{ from: 1000 }],
        sources: [{}],
        recordedAt: START + SECOND,
        updatedAt: START + SECOND,
        version: 1,
      },
    });
    expect(await probe.get(ADA, "porto")).toStrictEqual([
      {
        id: "porto",
        kind: "fact",
        space: ADA,
        agent: "tutor",
        content: "lives in Porto",
        metadata: { category: "place", confidence: 0.5 },
        tier: "semantic",
        occurredAt: 1000,
        recordedAt: START + SECOND,
        updatedAt: START + SECOND,
        version: 1,
      },
    ]);
    expect(await probe.names("user")).toEqual(["ada"]);
    expect(await probe.names("agent")).toEqual(["tutor"]);
    expect(await probe.sessionNames()).toEqual([]);
  });

  checkFacts("keeps what was superseded with the span in which it held: Porto, Lisbon, Porto", async (facts) => {
    await facts.put("porto", { from: 10 });
    expect(await facts.put("lisbon", { from: 20, supersedes: ["porto"] })).toMatchObject({ ended: ["porto"] });
    const again = await facts.put("porto", { from: 30, supersedes: ["lisbon"] });
    expect(again).toMatchObject({ outcome: "revived", ended: ["lisbon"] });
    expect(await facts.fact("porto")).toMatchObject({
      state: "holds",
      spans: [{ from: 10, to: 20, supersededBy: "lisbon" }, { from: 30 }],
    });
    expect((await facts.fact("lisbon")).spans).toEqual([{ from: 20, to: 30, supersededBy: "porto" }]);
    expect(await facts.ids()).toEqual(["porto"]);
    const held: [number, string[]][] = [
      [9, []],
      [10, ["porto"]],
      [19, ["porto"]],
      [20, ["lisbon"]],
      [29, ["lisbon"]],
      [30, ["porto"]],
      [START + DAY, ["porto"]],
    ];
    for (const [asOf, ids] of held) expect(await facts.ids({ asOf }), `as of ${asOf}`).toEqual(ids);
    expect(await facts.probe.ids(ADA)).toEqual(["porto"]);
    expect(await facts.probe.item(ADA, "porto")).toMatchObject({ occurredAt: 30, version: 1 });
  });

  checkFacts(
    "supersedes several at once, leaves those that do not hold, and drops a span of no length",
    async (facts) => {
      await facts.put("early", { from: 10 });
      await facts.put("late", { from: 50 });
      await facts.put("over", { from: 5 });
      await facts.end("over", 6);
      const done = await facts.put("new", { from: 30, supersedes: ["early", "late", "over", "early"] });
      expect(done.ended).toEqual(["early", "late"]);
      expect((await facts.fact("early")).spans).toEqual([{ from: 10, to: 30, supersededBy: "new" }]);
      expect(await facts.fact("late")).toMatchObject({ state: "ended", spans: [] });
      expect(await facts.fact("over")).toMatchObject({ spans: [{ from: 5, to: 6 }], version: 2 });
      expect(await facts.ids({ asOf: 55 })).toEqual(["new"]);
    },
  );

  checkFacts("refuses to supersede an unknown fact, or itself", async (facts) => {
    const { probe } = facts;
    await new FactProbe(probe, BOB).put("his");
    for (const other of ["nobody", "his"]) {
      const error = await probe.fails("not_found", facts.putting("new", { supersedes: [other] }));
      expect(error.details).toMatchObject({ id: other });
    }
    await probe.fails("invalid_input", facts.putting("new", { supersedes: ["new"] }));
    await facts.put("new");
    await probe.fails("invalid_input", facts.putting("new", { supersedes: ["new"] }));
    expect(await facts.ids()).toEqual(["new"]);
  });

  checkFacts(
    "is the same fact when put again: confidence, pin and sources are updated, the text is not",
    async (facts) => {
      const { probe } = facts;
      await probe.add(ADA, [{ id: "m" }], { session: "s" });
      await facts.put("porto", { from: 10 });
      const before = probe.written;
      const same = await facts.put("porto", { from: 15, content: "other words", category: "other" });
      expect(same).toMatchObject({ outcome: "unchanged", fact: { version: 1, content: "content of porto" } });
      expect(probe.written, "nothing was written").toBe(before);
      probe.now += SECOND;
      const surer = await facts.put("porto", { from: 15, confidence: 0.9 });
      expect(surer).toMatchObject({ outcome: "updated", fact: { version: 2, confidence: 0.9, updatedAt: probe.now } });
      expect(surer.fact).toMatchObject({ recordedAt: START, spans: [{ from: 10 }] });
      const item = { metadata: { category: "place", confidence: 0.9 }, version: 2, occurredAt: 10 };
      expect(await probe.item(ADA, "porto")).toMatchObject({ ...item, content: "content of porto" });
      const known = { from: 15, confidence: 0.9 };
      expect(await facts.put("porto", { ...known, pinned: true })).toMatchObject({
        fact: { pinned: true, version: 3 },
      });
      expect(await facts.put("porto", known)).toMatchObject({ outcome: "unchanged", fact: { pinned: true } });
      const say = () => facts.put("porto", { ...known, source: { message: "m" } });
      const said = await probe.grows([ADA], say);
      expect(said).toMatchObject({ outcome: "updated", fact: { sources: [{}, { message: "m", session: "s" }] } });
      expect(await say()).toMatchObject({ outcome: "unchanged" });
      expect(await probe.item(ADA, "porto"), "pin and source are not the item's").toMatchObject({ version: 2 });
    },
  );

  checkFacts("can be extended to an earlier start, but not before its last span ended", async (facts) => {
    await facts.put("porto", { from: 50 });
    expect((await facts.put("porto", { from: 20 })).fact.spans).toEqual([{ from: 20 }]);
    expect(await facts.probe.item(ADA, "porto")).toMatchObject({ occurredAt: 20, version: 2 });
    await facts.end("porto", 60);
    expect((await facts.put("porto", { from: 90 })).fact.spans).toEqual([{ from: 20, to: 60 }, { from: 90 }]);
    expect((await facts.put("porto", { from: 70 })).fact.spans).toEqual([{ from: 20, to: 60 }, { from: 70 }]);
    expect((await facts.put("porto", { from: 1 })).fact.spans).toEqual([{ from: 20, to: 60 }, { from: 60 }]);
    expect(await facts.put("porto", { from: 1 })).toMatchObject({ outcome: "unchanged" });
    for (const asOf of [20, 59, 60, 61]) expect(await facts.ids({ asOf })).toEqual(["porto"]);
  });

  checkFacts("can hold again after its end, not before it", async (facts) => {
    await facts.put("porto", { from: 10, pinned: true });
    await facts.end("porto", 40);
    const back = await facts.put("porto", { from: 20, confidence: 0.7, source: { session: "s" } });
    expect(back).toMatchObject({ outcome: "revived" });
    expect(back.fact).toMatchObject({ confidence: 0.7, pinned: true, sources: [{}, { session: "s" }], version: 3 });
    expect(back.fact.spans).toEqual([{ from: 10, to: 40 }, { from: 40 }]);
    expect(await facts.probe.item(ADA, "porto")).toMatchObject({ occurredAt: 40, metadata: { confidence: 0.7 } });
  });

  checkFacts("ends once, not before its start, and only where it is known", async (facts) => {
    const { probe } = facts;
    await facts.put("porto", { from: 10 });
    expect(await facts.end("porto", 30)).toMatchObject({ state: "ended", spans: [{ from: 10, to: 30 }], version: 2 });
    const before = probe.written;
    expect(await facts.end("porto", 20)).toMatchObject({ spans: [{ from: 10, to: 30 }], version: 2 });
    expect(probe.written, "nothing was written").toBe(before);
    await facts.put("brief", { from: 10 });
    expect(await facts.end("brief", 5)).toMatchObject({ state: "ended", spans: [] });
    const back = await facts.put("brief", { from: 3 });
    expect(back).toMatchObject({ outcome: "revived", fact: { spans: [{ from: 3 }] } });
    await probe.fails("not_found", facts.ending("nobody"));
    await probe.fails("not_found", new FactProbe(probe, BOB).ending("porto"));
    expect(await probe.names("user")).toEqual(["ada"]);
  });

  checkFacts("stays retracted when it is offered again, unless forced", async (facts) => {
    const { probe } = facts;
    await facts.put("porto", { from: 10 });
    await facts.put("lisbon", { from: 10 });
    expect(await facts.end("porto", 30, "retracted")).toMatchObject({ state: "retracted", version: 2 });
    for (const asOf of [10, 20, 40]) expect(await facts.ids({ asOf }), "it was never right").toEqual(["lisbon"]);
    expect(await facts.ids()).toEqual(["lisbon"]);
    expect(await facts.ids({ states: ["retracted"] })).toEqual(["porto"]);
    expect(await probe.ids(ADA)).toEqual(["lisbon"]);
    const before = probe.written;
    const offer = { from: 50, confidence: 1, agent: "new agent", source: { session: "new" }, supersedes: ["lisbon"] };
    const offered = await facts.put("porto", offer);
    expect(offered).toMatchObject({ outcome: "retracted", ended: [], fact: { state: "retracted", confidence: 0.5 } });
    expect(probe.written, "nothing was written, not even what it supersedes").toBe(before);
    expect(await probe.names("agent")).toEqual([]);
    expect(await facts.ids()).toEqual(["lisbon"]);
    const forced = await facts.put("porto", { ...offer, force: true });
    expect(forced).toMatchObject({ outcome: "revived", ended: ["lisbon"], fact: { state: "holds", confidence: 1 } });
    expect(forced.fact.spans).toEqual([{ from: 10, to: 30 }, { from: 50 }]);
    expect(await facts.ids({ asOf: 20 }), "its past counts again").toEqual(["porto", "lisbon"]);
  });

  checkFacts("can be retracted after it has ended, and not be ended after it was retracted", async (facts) => {
    await facts.put("porto", { from: 10 });
    await facts.end("porto", 30);
    expect(await facts.ids({ asOf: 20 })).toEqual(["porto"]);
    const retracted = await facts.end("porto", 99, "retracted");
    expect(retracted).toMatchObject({ state: "retracted", spans: [{ from: 10, to: 30 }], version: 3 });
    expect(await facts.ids({ asOf: 20 })).toEqual([]);
    const before = facts.probe.written;
    await facts.end("porto", 5);
    await facts.end("porto", 5, "retracted");
    expect(await facts.fact("porto")).toEqual(retracted);
    expect(facts.probe.written).toBe(before);
  });

  checkFacts("lists facts in the order of their first recording, by page and filter", async (facts) => {
    const { probe } = facts;
    for (const id of ["e", "a", "d", "b", "c"]) {
      await facts.put(id, { category: id < "c" ? "low" : "high", pinned: id === "d", from: 10 });
    }
    await facts.end("a", 20);
    await facts.put("a", { from: 30 });
    await facts.end("b", 20);
    await facts.end("c", 20, "retracted");
    expect(await facts.ids()).toEqual(["e", "a", "d"]);
    expect(await facts.ids({ states: ["holds", "ended", "retracted"] })).toEqual(["e", "a", "d", "b", "c"]);
    expect(await facts.ids({ states: ["ended"] })).toEqual(["b"]);
    expect(await facts.ids({ categories: ["low"] })).toEqual(["a"]);
    expect(await facts.ids({ categories: ["low", "high"], pinned: true })).toEqual(["d"]);
    expect(await facts.ids({ pinned: false })).toEqual(["e", "a"]);
    expect(await facts.ids({ ids: ["d", "e", "b", "zz"] })).toEqual(["e", "d"]);
    expect(await facts.ids({ asOf: 15, states: ["retracted"] }), "states are ignored").toEqual(["e", "a", "d", "b"]);
    expect(await facts.ids({ asOf: 25 })).toEqual(["e", "d"]);
    expect(await facts.ids({ ids: [] })).toEqual([]);
    const request = { spaces: [ADA], states: ["holds", "ended", "retracted"], limit: 2, now: probe.now } as const;
    const first = await probe.store.facts(request);
    expect(first.items.map(({ id }) => id)).toEqual(["e", "a"]);
    await facts.forgetIds("d");
    const second = await probe.store.facts({ ...request, cursor: first.next as string });
    expect(second.items.map(({ id }) => id)).toEqual(["b", "c"]);
    expect(second.next).toBeUndefined();
    await expect(probe.store.facts({ ...request, cursor: "nonsense" })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
}
