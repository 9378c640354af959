/** What an import writes and an export reads: facts from elsewhere, and all versions of all blocks. */
import { expect } from "vitest";
import type { BlockVersion } from "../../stores/blocks.js";
import type { RestoreFactDone, RestoreFactWrite } from "../../stores/facts.js";
import type { SpaceRef } from "../../types.js";
import { forgetBlock, put } from "./block-editor.js";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, DAY, type Probe, START } from "./probe.js";

export function restoring(check: Check): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("restores a fact that holds with its past and its sources, as a searchable item", async (facts) => {
    const { probe } = facts;
    const spans = [{ from: 10, to: 20 }, { from: 30 }];
    const sources = [{ session: "monday" }, {}];
    const more = { agent: "tutor", expiresAt: START + DAY, pinned: true, spans, sources };
    expect(await restore(facts, "porto", more)).toEqual({ op: "restore_fact", outcome: "added" });
    expect(await facts.fact("porto")).toMatchObject({ state: "holds", pinned: true, spans, sources, version: 1 });
    const [item] = await probe.get(ADA, "porto");
    expect(item).toMatchObject({ kind: "fact", agent: "tutor", occurredAt: 30, expiresAt: START + DAY });
    expect(await probe.sessionNames()).toEqual(["monday"]);
    expect(await probe.names("agent")).toEqual(["tutor"]);
    expect(await facts.ids({ asOf: 15 })).toEqual(["porto"]);
    expect(await facts.ids({ asOf: 25 })).toEqual([]);
    expect((await facts.forget({ space: ADA, session: "monday", entry: true })).factsLeft, "it rests on both").toEqual([
      "porto",
    ]);
  });

  checkFacts("restores facts that no longer hold without an item, and retracted ones as retracted", async (facts) => {
    await restore(facts, "ended", { state: "ended", spans: [{ from: 10, to: 20 }] });
    await restore(facts, "wrong", { state: "retracted", spans: [] });
    expect(await facts.probe.get(ADA, "ended", "wrong")).toEqual([]);
    expect(await facts.ids({ states: ["ended", "retracted"] })).toEqual(["ended", "wrong"]);
    expect(await facts.ids({ asOf: 15 })).toEqual(["ended"]);
    expect((await facts.put("wrong")).outcome).toBe("retracted");
    expect((await facts.put("ended", { from: 30 })).outcome).toBe("revived");
  });

  checkFacts("records the successor of a fact as soon as it is known, once", async (facts) => {
    const porto = { state: "ended", spans: [{ from: 10, to: 20, supersededBy: "lisbon" }] } as const;
    await restore(facts, "porto", porto);
    expect((await facts.fact("porto")).spans).toEqual([{ from: 10, to: 20 }]);
    await restore(facts, "lisbon", { spans: [{ from: 20 }] });
    expect(await restore(facts, "porto", porto)).toMatchObject({ outcome: "linked" });
    expect((await facts.fact("porto")).spans).toEqual(porto.spans);
    expect(await restore(facts, "porto", porto)).toMatchObject({ outcome: "unchanged" });
    expect((await facts.fact("porto")).version).toBe(2);
  });

  checkFacts("refuses to restore a fact that is known with other content, and changes nothing", async (facts) => {
    await restore(facts, "porto", { spans: [{ from: 10 }] });
    const before = await facts.fact("porto");
    const others: Partial<RestoreFactWrite>[] = [
      { content: "something else" },
      { category: "other" },
      { confidence: 0.9 },
      { pinned: true },
      { spans: [{ from: 11 }] },
      { state: "ended", spans: [{ from: 10, to: 20 }] },
    ];
    for (const other of others) {
      const write = restoringOf(facts, "porto", { spans: [{ from: 10 }], ...other });
      await facts.probe.fails("conflict", write);
    }
    expect(await facts.fact("porto")).toEqual(before);
    expect(await restore(facts, "porto", { spans: [{ from: 10 }] })).toMatchObject({ outcome: "unchanged" });
  });

  checkFacts("lets a fact have a later one as its source, but no cycle and no item's id", async (facts) => {
    const { probe } = facts;
    await restore(facts, "first", { sources: [{ message: "second" }] });
    await probe.fails("invalid_input", restoringOf(facts, "second", { sources: [{ message: "first" }] }));
    await restore(facts, "second");
    expect((await facts.forgetIds("second")).facts, "with what rests on it alone").toBe(2);
    await probe.add(ADA, [{ id: "taken" }]);
    await probe.fails("conflict", restoringOf(facts, "taken"));
  });

  checkFacts("restores the log of promotions once, with its times, and recognises the copies", async (facts) => {
    const { probe } = facts;
    const restoring = (id: string, at: number, from?: SpaceRef) =>
      ({ op: "restore_promotion", id, to: BOB, ...(from && { from }), actor: "tutor", reason: "why", at }) as const;
    await probe.add(ADA, [{ id: "m", content: "copied" }]);
    await probe.add(BOB, [{ id: "m", content: "copied" }]);
    const writes = [restoring("m", 10, ADA), restoring("lost", 5, { team: "unknown" }), restoring("m", 10, ADA)];
    const done = await probe.unit(...writes);
    expect(done.map((one) => one.op === "restore_promotion" && one.restored)).toEqual([true, true, false]);
    const said = { to: BOB, actor: "tutor", reason: "why" };
    const log = [
      { ...said, id: "m", from: ADA, at: 10 },
      { ...said, id: "lost", at: 5 },
    ];
    const { items, next } = await probe.store.promotions({ space: BOB, order: "asc", limit: 1 });
    const rest = await probe.store.promotions({ space: BOB, order: "asc", limit: 1, cursor: String(next) });
    expect([...items, ...rest.items]).toEqual(log);
    expect((await probe.store.promotions({ space: BOB, limit: 9 })).items).toEqual(log.toReversed());
    expect(await probe.names("team"), "no space is made of a name").toEqual([]);
    expect((await facts.forgetIds("m")).copiesLeft).toBe(1);
  });

  check("pages all versions of all blocks of a space, with the state of each", async (probe) => {
    await put(probe, "b2", 0, { name: "notes", description: "for all", actor: "tutor", reason: "start" });
    await put(probe, "b1", 0, { content: "one", maxTokens: 7, policy: "archive" });
    await put(probe, "b2", 1, { name: "renamed", content: "two", readOnly: true, counter: "gpt" });
    await put(probe, "b1", 0, { space: BOB });
    const all = await versions(probe, 100);
    expect(all.map(({ id, version, name, presentName }) => [id, version, name, presentName])).toEqual([
      ["b2", 1, "notes", "renamed"],
      ["b2", 2, "renamed", "renamed"],
      ["b1", 1, "b1", "b1"],
    ]);
    expect(all[0]).toStrictEqual({
      ...{ id: "b2", version: 1, name: "notes", presentName: "renamed", content: "text 1", description: "for all" },
      ...{ maxTokens: 4096, counter: "chars4", policy: "refuse", readOnly: false },
      ...{ reason: "start", actor: "tutor", at: START },
    });
    expect(all[1]).toMatchObject({ content: "two", readOnly: true, counter: "gpt" });
    expect(all[1]).not.toHaveProperty("description");
    for (const limit of [1, 2, 3]) expect(await versions(probe, limit)).toEqual(all);
    const one = await probe.store.blockVersions({ space: ADA, id: "b2", version: 2, limit: 1 });
    expect(one.items).toEqual([all[1]]);
    await forgetBlock(probe, "b2");
    expect((await versions(probe, 100)).map(({ id }) => id)).toEqual(["b1"]);
    expect(await probe.store.blockVersions({ space: { team: "nobody" }, limit: 1 })).toEqual({ items: [] });
    const bad = probe.store.blockVersions({ space: ADA, limit: 1, cursor: "bad" });
    await expect(bad).rejects.toMatchObject({ code: "invalid_input" });
  });
}

function restoringOf(facts: FactProbe, id: string, more: Partial<RestoreFactWrite> = {}): RestoreFactWrite {
  const { category, content, confidence, space } = facts.putting(id);
  const standing = { pinned: false, state: "holds", spans: [{ from: 10 }], sources: [{}] } as const;
  return { op: "restore_fact", id, space, category, content, confidence, ...standing, ...more };
}

async function restore(facts: FactProbe, id: string, more?: Partial<RestoreFactWrite>): Promise<RestoreFactDone> {
  const [done] = await facts.probe.unit(restoringOf(facts, id, more));
  if (done?.op !== "restore_fact") throw new Error("a fact's restoring was answered by something else");
  return done;
}

async function versions(probe: Probe, limit: number): Promise<readonly BlockVersion[]> {
  const all: BlockVersion[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await probe.store.blockVersions({ space: ADA, limit, ...(cursor !== undefined && { cursor }) });
    all.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) return all;
  }
}
