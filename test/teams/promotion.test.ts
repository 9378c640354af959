/** Promotion: private items are copied to the team on purpose, all or nothing, and with a log. */
import type { PromoteOptions, Promotion, Session } from "holdfast";
import { describe, expect, it } from "vitest";
import { ADA, BOB, CREW, gather, NOON, ownersIn } from "./company.js";

const REASON = { to: CREW, reason: "all should know" };

const factOf = async (session: Session): Promise<string> => (await session.facts.list()).items[0]?.id ?? "";

const log = async (session: Session): Promise<readonly Promotion[]> => (await session.promotions()).items;

describe("promotion", () => {
  it("copies an item for the team, keeps the original, and records who, why, from where and when", async () => {
    const { memory, ada, bob, crew, clock } = await gather();
    clock.advance(1_000);
    expect(await ada.promote(["ada note"], REASON)).toEqual(["ada note"]);
    expect(await log(crew)).toEqual([
      { id: "ada note", from: ADA, to: CREW, actor: "user ada", reason: "all should know", at: NOON + 1_000 },
    ]);
    expect(await log(ada)).toEqual([]);
    const [copy] = await crew.get(["ada note"]);
    expect(copy).toMatchObject({ space: CREW, content: "the orchid plan of ada", role: "user", occurredAt: NOON });
    expect(copy).not.toHaveProperty("session");
    expect((await ada.get(["ada note"]))[0]).toMatchObject({ space: ADA, session: "s", version: 1 });
    const found = await bob.query("orchid plan of ada", { spaces: [BOB, CREW] });
    expect(found[0]).toMatchObject({ id: "ada note", space: CREW });
    expect(await memory.session(BOB).get(["ada note"])).toEqual([]);
  });

  it("copies name, parts, metadata and tier; later edits of one do not affect the other", async () => {
    const { ada, crew } = await gather({ path: ":memory:" });
    const item = {
      id: "rich",
      role: "user",
      name: "Ada",
      content: [
        { type: "text", text: "a tulip" },
        { type: "image", description: "red" },
      ],
      metadata: { topic: "flowers" },
      tier: "working",
      occurredAt: NOON - 5,
    } as const;
    await ada.add([item]);
    await ada.promote(["rich"], REASON);
    const { id, name, metadata, tier, occurredAt } = item;
    expect(await crew.get(["rich"])).toMatchObject([{ id, name, metadata, tier, occurredAt, parts: item.content }]);
    await ada.update("rich", { content: "a rose" });
    expect((await crew.query("tulip"))[0]?.id).toBe("rich");
    expect(await crew.query("rose")).toHaveLength(0);
  });

  it("of a fact creates a fact of the team, with its own source, since the same time", async () => {
    const { memory, ada, crew, clock } = await gather();
    const fact = await factOf(ada);
    clock.advance(1_000);
    await ada.promote([fact], REASON);
    const copies = (await crew.facts.list()).items.filter(({ id }) => id === fact);
    expect(copies).toMatchObject([{ content: "orchid fact of ada", category: "plan", space: CREW, state: "holds" }]);
    expect(copies[0]).toMatchObject({ sources: [{}], spans: [{ from: NOON }], confidence: 1 });
    await memory.session(ADA).facts.retract(fact);
    expect(ownersIn(await crew.query("orchid", { kind: "fact" }))).toEqual(["ada", "crew"]);
    await crew.facts.end(fact);
    expect(ownersIn(await crew.query("orchid", { kind: "fact" }))).toEqual(["crew"]);
    expect(await ada.facts.get([fact])).toMatchObject([{ state: "retracted" }]);
  });

  it("of a fact that the team knows in another spelling is the same fact, with one more source", async () => {
    const { ada, crew } = await gather();
    const { id } = (await crew.facts.upsert({ category: "Plan", content: "ORCHID fact of ada." })).fact;
    expect(await ada.promote([id], REASON)).toEqual([id]);
    const [fact] = await crew.facts.get([id]);
    expect(fact).toMatchObject({ content: "ORCHID fact of ada.", sources: [{ session: "s" }, {}] });
    expect((await crew.facts.list()).items).toHaveLength(2);
  });

  it("of a fact that no longer holds, or that the team has retracted, is refused", async () => {
    const { ada, crew } = await gather();
    const fact = await factOf(ada);
    await ada.promote([fact], REASON);
    await crew.facts.retract(fact);
    await expect(ada.promote([fact], REASON)).rejects.toMatchObject({ code: "conflict", details: { id: fact } });
    await ada.facts.end(fact);
    await expect(ada.promote([fact], REASON)).rejects.toMatchObject({ code: "not_found", details: { id: fact } });
    expect(await log(crew)).toHaveLength(1);
    expect(await crew.facts.get([fact])).toMatchObject([{ state: "retracted" }]);
  });

  it("repeated creates no second copy, but is logged", async () => {
    const { ada, crew, clock } = await gather();
    await ada.promote(["ada note"], REASON);
    const before = (await crew.list({ limit: 100 })).items;
    clock.advance(1_000);
    expect(await ada.promote(["ada note", "ada note"], { ...REASON, reason: "again" })).toEqual(["ada note"]);
    expect(await crew.list({ limit: 100 })).toEqual({ items: before });
    const log = (await crew.promotions()).items.map(({ reason, at }) => [reason, at]);
    expect(log).toEqual([
      ["again", NOON + 1_000],
      ["all should know", NOON],
    ]);
  });

  it("is all or nothing: a missing item, or another one of its id, stops all of it", async () => {
    const { ada, crew } = await gather();
    await ada.add([{ id: "twin", role: "user", content: "ada's tulip" }]);
    await crew.add([{ id: "twin", role: "user", content: "the crew's tulip" }]);
    for (const [id, code] of [
      ["twin", "conflict"],
      ["none", "not_found"],
      ["bob note", "not_found"],
    ] as const) {
      const call = ada.promote(["ada note", id], REASON);
      await expect(call).rejects.toMatchObject({ code, details: { id } });
    }
    expect(await crew.get(["ada note"])).toEqual([]);
    expect(await log(crew)).toEqual([]);
    expect((await crew.get(["twin"]))[0]?.content).toBe("the crew's tulip");
  });

  it("records the actor: the one given, else the agent, else the space", async () => {
    const { memory, ada, crew } = await gather({ path: ":memory:" });
    const tutored = memory.session({ ...ADA, agent: "tutor" }, { grants: [CREW] });
    await ada.promote(["ada note"], { ...REASON, actor: "Ada herself" });
    await tutored.promote(["ada note"], REASON);
    await ada.promote(["ada note"], REASON);
    expect((await log(crew)).map(({ actor }) => actor)).toEqual(["user ada", "agent tutor", "Ada herself"]);
  });

  it("requires access to the target: what the scope names and what was granted, but not its own space", async () => {
    const { memory, ada } = await gather({ path: ":memory:" });
    const bare = memory.session(ADA);
    await expect(bare.promote(["ada note"], REASON)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("options.to"),
    });
    await expect(ada.promote(["ada note"], { ...REASON, to: BOB })).rejects.toMatchObject({ code: "forbidden" });
    await expect(ada.promote(["ada note"], { ...REASON, to: ADA })).rejects.toMatchObject({ code: "invalid_input" });
    const member = memory.session({ ...ADA, ...CREW });
    expect(await member.promote(["ada note"], REASON)).toEqual(["ada note"]);
    // From the team back to a member, for a handle in the team's space.
    const standing = memory.session({ ...ADA, ...CREW, space: "team" });
    expect(await standing.promote(["crew note"], { to: ADA, reason: "for later" })).toEqual(["crew note"]);
    expect(await memory.session(BOB).get(["ada note", "crew note"])).toEqual([]);
  });

  it.each([
    ["no options", ["ada note"], undefined],
    ["no target", ["ada note"], { reason: "r" }],
    ["no reason", ["ada note"], { to: CREW }],
    ["a reason that is no text", ["ada note"], { to: CREW, reason: 3 }],
    ["an actor that is no text", ["ada note"], { ...REASON, actor: {} }],
    ["two targets in one", ["ada note"], { ...REASON, to: { ...CREW, ...BOB } }],
    ["an unknown key", ["ada note"], { ...REASON, why: "x" }],
    ["no items", [], REASON],
    ["no list", "ada note", REASON],
  ])("is refused with %s, and nothing is written", async (_, ids, options) => {
    const { ada, crew } = await gather({ path: ":memory:" });
    const call = ada.promote(ids as readonly string[], options as PromoteOptions);
    await expect(call).rejects.toMatchObject({ code: "invalid_input" });
    expect(await log(crew)).toEqual([]);
    expect(await crew.get(["ada note"])).toEqual([]);
  });
});

describe("the log", () => {
  it("is newest first, in pages, and visible only in its space", async () => {
    const { ada, bob, crew, clock } = await gather();
    const texts = Array.from({ length: 5 }, (_, at) => `n${at}`);
    await ada.add(texts.map((id) => ({ id, role: "user" as const, content: `note ${id}` })));
    for (const id of texts) {
      clock.advance(1);
      await ada.promote([id], REASON);
    }
    const first = await crew.promotions({ limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["n4", "n3"]);
    await ada.promote(["ada note"], REASON); // does not move the next page
    const second = await crew.promotions({ limit: 2, cursor: first.next ?? "" });
    expect(second.items.map(({ id }) => id)).toEqual(["n2", "n1"]);
    const third = await crew.promotions({ limit: 2, cursor: second.next ?? "" });
    expect(third).toEqual({ items: [expect.objectContaining({ id: "n0" })] });
    expect(await log(bob)).toEqual([]);
    for (const options of [{ limit: 0 }, { cursor: "no" }, { order: "asc" }]) {
      await expect(crew.promotions(options as object)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("outlives the copy and the promoter, and is removed with the team", async () => {
    const { memory, ada, crew } = await gather({ path: ":memory:" });
    await ada.promote(["ada note"], REASON);
    await crew.delete(["ada note"]);
    await memory.forget(ADA);
    const [entry] = await log(crew);
    expect(entry).toMatchObject({ id: "ada note", to: CREW, reason: "all should know" });
    expect(entry).not.toHaveProperty("from");
    await memory.forget(CREW);
    expect(await log(crew)).toEqual([]);
  });
});
