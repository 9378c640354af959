/** Words of neighbours: the messages around a message in its session say what it is about. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import { bruteForceScores } from "../brute-force.js";
import type { Check } from "./check.js";
import { expectExact } from "./exact.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

const FILLERS = "alder birch cedar daisy elder fern grass holly iris juniper kale laurel".split(" ");

export function neighbours(check: Check): void {
  check("finds messages next to one that contains a word, and ranks them below it", async (probe) => {
    await say(probe, ["Do you still have that lamp?", "Yes, in the attic.", "Good."]);
    expect(await probe.found(ADA, "lamp")).toEqual(["1", "2", "3"]);
    await say(probe, ["In the attic.", "Oh."], "t");
    expect(await probe.found(ADA, "lamp attic"), "a word that is lent ranks").toEqual(["1", "2", "3", "t 1", "t 2"]);
    await expectExact(probe, ADA, "lamp");
    await expectExact(probe, ADA, "attic lamp good");
  });

  check("lends words up to four messages away, decreasing with distance", async (probe) => {
    await say(probe, [...FILLERS.slice(0, 5), "lamp", ...FILLERS.slice(5, 10)]);
    const scores = await scoresOf(probe, "lamp");
    expect([...scores.keys()].toSorted(byNumber)).toEqual(["2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    for (const [nearer, further] of [
      ["6", "5"],
      ["5", "4"],
      ["4", "3"],
      ["3", "2"],
      ["6", "7"],
      ["7", "8"],
      ["8", "9"],
      ["9", "10"],
    ] as const) {
      expect(scores.get(nearer), `${nearer} before ${further}`).toBeGreaterThan(scores.get(further) as number);
    }
    await expectExact(probe, ADA, "lamp");
  });

  check("lends from many messages at once, and adds it up", async (probe) => {
    await say(probe, ["lamp rope", "fern", "lamp", "lamp lamp sea", "holly", "rope"]);
    await say(probe, ["lamp", "iris"], "t");
    for (const query of ["lamp", "rope", "lamp rope sea"]) await expectExact(probe, ADA, query);
    expect((await probe.search(ADA, "lamp", { limit: 3 })).map(({ id }) => id)).toEqual(
      (await probe.found(ADA, "lamp")).slice(0, 3),
    );
  });

  check(
    "counts for what is lent a word all that is lent to it, also from further away than the word",
    async (probe) => {
      const lines = Array.from({ length: 31 }, (_, at) => words(1 + ((at * 5) % 9)));
      await say(probe, lines.toSpliced(15, 1, "lamp"));
      expect(await probe.found(ADA, "lamp")).toHaveLength(9);
      await expectExact(probe, ADA, "lamp");
    },
  );

  check("lets a long message lend no more than a short one", async (probe) => {
    await say(probe, [`lamp ${words(14)}`, "fern"], "fifteen");
    await say(probe, [`lamp ${words(149)}`, "fern"], "many");
    const lent = await scoresOf(probe, "lamp");
    expect(lent.get("many 2")).toBeGreaterThan(0);
    expect(lent.get("many 2"), "a tenth of its words").toBeLessThan(0.2 * (lent.get("fifteen 2") as number));
    await expectExact(probe, ADA, "lamp");
  });

  check("does not lend the name of a speaker, but finds the speaker by it", async (probe) => {
    await say(probe, [{ name: "Beatrice", content: "fern" }, "holly"]);
    expect(await probe.found(ADA, "beatrice")).toEqual(["1"]);
    await say(probe, [{ name: "Beatrice", content: "Beatrice has a lamp" }, "iris"], "t");
    expect(await probe.found(ADA, "beatrice"), "what is said is lent, whoever says it").toEqual(["t 1", "1", "t 2"]);
    await expectExact(probe, ADA, "beatrice");
    await probe.update(ADA, "t 1", { name: null });
    await probe.update(ADA, "2", { name: "Beatrice" });
    await expectExact(probe, ADA, "beatrice fern");
  });

  check("counts gaps: forgetting a message brings no others nearer", async (probe) => {
    await say(probe, ["lamp", ...FILLERS.slice(0, 5)]);
    const before = await scoresOf(probe, "lamp");
    expect(before.has("5")).toBe(true);
    expect(before.has("6")).toBe(false);
    await probe.forget({ space: ADA, ids: ["2", "3", "4"] });
    expect((await probe.found(ADA, "lamp")).toSorted()).toEqual(["1", "5"]);
    await expectExact(probe, ADA, "lamp");
  });

  check("lends nothing from expired messages, neither words nor length", async (probe) => {
    await say(probe, [{ content: "lamp fern", expiresAt: probe.now + SECOND }, "lamp", "holly"]);
    const before = await scoresOf(probe, "lamp fern");
    expect(before.get("3")).toBeGreaterThan(0);
    probe.now += SECOND;
    const stored = [
      { id: "1", content: "lamp fern", session: "s", sequence: 1, isExpired: true },
      { id: "2", content: "lamp", session: "s", sequence: 2 },
      { id: "3", content: "holly", session: "s", sequence: 3 },
    ];
    const expected = bruteForceScores(stored, probe.terms("lamp fern"));
    const after = await scoresOf(probe, "lamp fern");
    expect([...after.keys()]).toEqual(["2", "3"]);
    for (const [id, score] of after) {
      expect(score).toBeCloseTo(expected.get(id) as number, 9);
      expect(score).not.toBeCloseTo(before.get(id) as number, 3);
    }
    expect(await probe.found(ADA, "fern")).toEqual([]);
  });

  check("lends nothing from messages past their space's retention", async (probe) => {
    await say(probe, ["lamp"]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    probe.now += SECOND - 1;
    await probe.add(ADA, [{ id: "young", content: "fern" }], { session: "s" });
    expect(await probe.found(ADA, "lamp")).toEqual(["1", "young"]);
    probe.now += 1;
    expect(await probe.found(ADA, "lamp")).toEqual([]);
  });

  check("lends nothing to another session, to another space, or outside of sessions", async (probe) => {
    await say(probe, ["lamp"]);
    await say(probe, ["fern"], "t");
    await probe.add(ADA, ["holly", "lamp outside", "iris"]);
    await say(probe, ["juniper"], "s", BOB);
    expect(await probe.found([ADA, BOB], "lamp")).toHaveLength(2);
    await expectExact(probe, ADA, "lamp");
  });

  check("follows every edit of a neighbour and its removal", async (probe) => {
    await say(probe, ["lamp", "fern", "holly"]);
    const before = await scoresOf(probe, "lamp");
    await probe.update(ADA, "1", { content: "lamp and lamp and lamp", parts: null });
    const more = await scoresOf(probe, "lamp");
    for (const id of ["2", "3"]) expect(more.get(id)).toBeGreaterThan(before.get(id) as number);
    await expectExact(probe, ADA, "lamp");
    await probe.update(ADA, "1", { content: "rope", parts: null });
    expect(await probe.found(ADA, "lamp")).toEqual([]);
    await probe.update(ADA, "3", { content: "lamp", parts: null });
    expect((await probe.found(ADA, "lamp")).toSorted()).toEqual(["1", "2", "3"]);
    await probe.forget({ space: ADA, ids: ["3"] });
    expect(await probe.found(ADA, "lamp")).toEqual([]);
  });

  check("filters what is found, not what lends", async (probe) => {
    await say(probe, [
      { content: "lamp", role: "user", occurredAt: 100, metadata: { color: "red" } },
      { content: "fern", role: "assistant", occurredAt: 200 },
      { content: "holly", role: "tool", occurredAt: 300, kind: "knowledge", tier: "semantic" },
    ]);
    const scores = await scoresOf(probe, "lamp");
    expect(scores.size).toBe(3);
    for (const [filter, id] of [
      [{ roles: ["assistant"] }, "2"],
      [{ kinds: ["knowledge"] }, "3"],
      [{ tiers: ["semantic"] }, "3"],
      [{ from: 200, to: 300 }, "2"],
      [{ metadata: [{ path: ["color"], anyOf: ["red"] }] }, "1"],
      [{ sessions: ["s"], roles: ["tool"] }, "3"],
    ] as const) {
      const hits = await probe.search(ADA, "lamp", { filter });
      expect(
        hits.map(({ id, score }) => [id, score]),
        JSON.stringify(filter),
      ).toEqual([[id, scores.get(id)]]);
    }
  });
}

type Line = Parameters<Probe["add"]>[1][number];

/** Adds messages with the ids 1, 2, 3… to session "s", or "t 1", "t 2", … to another. */
async function say(probe: Probe, lines: readonly Line[], session = "s", space: SpaceRef = ADA): Promise<void> {
  const prefix = session === "s" ? "" : `${session} `;
  const drafts = lines.map((line, at) => ({
    ...(typeof line === "string" ? { content: line } : line),
    id: `${prefix}${at + 1}`,
  }));
  await probe.add(space, drafts, { session });
}

async function scoresOf(probe: Probe, query: string): Promise<Map<string, number>> {
  return new Map((await probe.search(ADA, query)).map(({ id, score }) => [id, score]));
}

/** `count` different words. */
const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(" ");

const byNumber = (a: string, b: string): number => Number(a) - Number(b);
