/** Each option of a context changes what is given, through the public API. */
import { type Context, type ContextOptions, HoldfastError, type Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";

const ADA = { user: "ada" };
const CORE = { team: "core" };
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

/** A memory with something of every kind. */
async function ada(): Promise<Session> {
  const clock = new FakeClock(START);
  const memory = await open({ path: ":memory:", clock });
  const earlier = memory.session({ ...ADA, session: "earlier" });
  for (let n = 1; n <= 30; n++) {
    const content = `Boat ${n} came into the harbour, and nobody knew whose it was or where it had been.`;
    await earlier.add([{ id: `m${n}`, role: "user", content, occurredAt: START + n * DAY }]);
  }
  const now = memory.session({ ...ADA, session: "now" }, { grants: [CORE] });
  for (let n = 1; n <= 8; n++) await now.add([{ id: `t${n}`, role: "user", content: `It is the ${n}. turn.` }]);
  await now.blocks.create({ name: "persona", content: "She sails. ".repeat(60) });
  await now.facts.upsert({ category: "name", content: "Her name is Ada", pinned: true });
  const { fact } = await now.facts.upsert({ category: "boat", content: "Her boat in the harbour is red" });
  await clock.advance(10 * DAY);
  await now.facts.upsert({ category: "boat", content: "Her boat in the harbour is blue", supersedes: fact.id });
  const team = memory.session({ ...CORE, session: "plan" });
  await team.add([{ id: "c1", role: "assistant", content: "The team meets at the harbour." }]);
  await team.blocks.create({ name: "goals", content: "Repair the harbour." });
  return now;
}

const HARBOUR = { query: "harbour boat", fresh: true } satisfies ContextOptions;

const partOf = ({ added }: Context, part: string): readonly string[] =>
  added.filter((item) => item.part === part).map(({ id }) => id);
const sizes = (context: Context): Record<string, number> =>
  Object.fromEntries(["facts", "turns", "recall"].map((part) => [part, partOf(context, part).length]));

describe("an option of a context", () => {
  it("query: chooses facts and recalled text; without one there are turns and the prefix", async () => {
    const session = await ada();
    expect(sizes(await session.context(HARBOUR))).toMatchObject({ facts: 1, turns: 5 });
    expect(sizes(await session.context({ fresh: true }))).toEqual({ facts: 0, turns: 5, recall: 0 });
    const exact = await session.context({ query: "whose was boat 17", topK: 1, fresh: true });
    expect(partOf(exact, "recall")).toEqual(["m17"]);
  });

  it("budgetTokens: with more room more is given, and more is searched", async () => {
    const session = await ada();
    let before: Context | undefined;
    for (const budgetTokens of [100, 500, 1_000, 2_000]) {
      const context = await session.context({ ...HARBOUR, budgetTokens });
      expect(context.tokens).toMatchObject({ budget: budgetTokens });
      expect(context.tokens.total).toBeLessThanOrEqual(budgetTokens);
      expect(sizes(context)["recall"]).toBeGreaterThanOrEqual(sizes(before ?? context)["recall"] ?? 0);
      expect(context.tokens.total).toBeGreaterThan(before?.tokens.total ?? 0);
      before = context;
    }
    expect(sizes(before as Context)["recall"]).toBe(30);
  });

  it("counter: the counter decides what fits", async () => {
    const session = await ada();
    const [characters, tokens] = [
      await session.context({ ...HARBOUR, budgetTokens: 600, counter: "chars4" }),
      await session.context({ ...HARBOUR, budgetTokens: 600, counter: "gpt-4o-mini" }),
    ];
    expect(characters.tokens.total).not.toBe(tokens.tokens.total);
    expect(characters.tail).not.toBe(tokens.tail);
    expect((await session.context({ ...HARBOUR, budgetTokens: 600 })).tail).toBe(tokens.tail);
  });

  it("shares: a part without weight is left out, a heavier one gets more", async () => {
    const session = await ada();
    const asked = { ...HARBOUR, budgetTokens: 400, turns: 8 };
    expect((await session.context({ ...asked, shares: { blocks: 0, facts: 0 } })).prefix).toBe("");
    const [turns, recall] = [
      await session.context({ ...asked, shares: { turns: 10 } }),
      await session.context({ ...asked, shares: { recall: 10 } }),
    ];
    expect(sizes(turns)["turns"]).toBe(8);
    expect(sizes(recall)["turns"]).toBeLessThan(8);
    expect(sizes(recall)["recall"]).toBeGreaterThan(sizes(turns)["recall"] ?? 0);
  });

  it("turns and topK: limit the number of items", async () => {
    const session = await ada();
    const context = await session.context({ ...HARBOUR, turns: 2, topK: 3 });
    expect(partOf(context, "turns").toSorted()).toEqual(["t7", "t8"]);
    expect(sizes(context)["recall"]).toBe(3);
    expect(sizes(await session.context({ ...HARBOUR, turns: 0 }))["turns"]).toBe(0);
  });

  it("spaces: other spaces are read if granted, and labelled", async () => {
    const session = await ada();
    const both = await session.context({ ...HARBOUR, spaces: [CORE, ADA] });
    expect(partOf(both, "recall")).toContain("c1");
    expect(both.tail).toMatch(/\[message c1 assistant .* team core\]\n> The team meets/);
    expect(both.prefix).toMatch(/\[block goals team core\]\n> Repair the harbour\.\n\[block persona\]/);
    expect((await session.context(HARBOUR)).tail).not.toContain("team core");
    const foreign = session.context({ ...HARBOUR, spaces: [{ team: "other" }] });
    await expect(foreign).rejects.toMatchObject({ code: "forbidden" });
    await expect(foreign).rejects.toBeInstanceOf(HoldfastError);
  });

  it("asOf: facts as they held then, with their dates", async () => {
    const session = await ada();
    expect((await session.context(HARBOUR)).tail).toContain("is blue");
    const then = await session.context({ ...HARBOUR, asOf: START + 5 * DAY });
    expect(then.tail).toMatch(/\[past fact \S+ boat 2026-01-01 to 2026-01-11\]\n> Her boat in the harbour is red/);
    expect(then.tail).not.toContain("is blue");
  });

  it("askedAt: words such as yesterday are relative to it", async () => {
    const session = await ada();
    const asked = { query: "which boat came into the harbour yesterday?", topK: 1, fresh: true };
    const [january, later] = [
      partOf(await session.context({ ...asked, askedAt: START + 9 * DAY }), "recall"),
      partOf(await session.context({ ...asked, askedAt: START + 22 * DAY }), "recall"),
    ];
    expect(["m7", "m8", "m9"]).toContain(january[0]);
    expect(["m20", "m21", "m22"]).toContain(later[0]);
  });

  it("fresh and dryRun: nothing is recorded as given", async () => {
    const session = await ada();
    const asked = { query: HARBOUR.query };
    const first = await session.context({ ...asked, dryRun: true });
    expect((await session.context({ ...asked, fresh: true })).tail).toBe(first.tail);
    expect((await session.context(asked)).tail).toBe(first.tail);
    expect((await session.context(asked)).tail).toBe("");
    expect((await session.context({ ...asked, dryRun: true })).tail).toBe("");
    expect((await session.context({ ...asked, fresh: true })).tail).toBe(first.tail);
  });

  it("deadlineMs: what is not read by then is missing, and that is reported", async () => {
    const memory = await open({ path: newPath() }); // with a real clock: the deadline runs while threads search
    const session = memory.session({ ...ADA, session: "now" });
    await memory.session({ ...ADA, session: "earlier" }).add([{ id: "m1", role: "user", content: "The harbour." }]);
    const late = await session.context({ query: "harbour", deadlineMs: 0, fresh: true });
    expect(late.partial).toBe(true);
    expect(partOf(late, "recall")).toEqual([]);
    const inTime = await session.context({ query: "harbour", deadlineMs: 60_000, fresh: true });
    expect(inTime).toMatchObject({ partial: false });
    expect(partOf(inTime, "recall")).toEqual(["m1"]);
  });
});
