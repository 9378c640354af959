/** Reading facts: what holds now, what held then, and what each option of list, get and query does. */
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { begin, contents, DAY, type Life, livesIn, NOON, reopen } from "./city.js";

const PORTO = "Ada lives in Porto";
const LISBON = "Ada lives in Lisbon";

/** Porto for a day, Lisbon for a day, then Porto again. */
async function travels(): Promise<Life> {
  const life = await begin();
  const { facts } = life.session;
  const porto = (await facts.upsert(livesIn("Porto"))).fact.id;
  life.clock.advance(DAY);
  const lisbon = (await facts.upsert(livesIn("Lisbon", { supersedes: porto }))).fact.id;
  life.clock.advance(DAY);
  await facts.upsert(livesIn("Porto", { supersedes: lisbon }));
  return life;
}

describe("asOf", () => {
  const MOMENTS: readonly [string, number, readonly string[]][] = [
    ["before anything", NOON - 1, []],
    ["the first moment", NOON, [PORTO]],
    ["the last moment of Porto", NOON + DAY - 1, [PORTO]],
    ["the first moment of Lisbon", NOON + DAY, [LISBON]],
    ["the last moment of Lisbon", NOON + 2 * DAY - 1, [LISBON]],
    ["back in Porto", NOON + 2 * DAY, [PORTO]],
    ["as far as one can see", NOON + 1000 * DAY, [PORTO]],
  ];

  it("shows what held then, at every boundary", async () => {
    const { session } = await travels();
    for (const [when, asOf, expected] of MOMENTS) {
      expect(contents((await session.facts.list({ asOf })).items), when).toEqual(expected);
      const found = await session.facts.query("Where does Ada live? In Porto or Lisbon?", { asOf });
      expect(contents(found), when).toEqual(expected);
    }
  });

  it("accepts dates and strings, and refuses invalid ones", async () => {
    const { session } = await travels();
    for (const asOf of [new Date(NOON + DAY), new Date(NOON + DAY).toISOString()]) {
      expect(contents((await session.facts.list({ asOf })).items)).toEqual([LISBON]);
    }
    for (const asOf of ["yesterday", Number.NaN, new Date("no")]) {
      const refusal = { code: "invalid_input", details: { field: "options.asOf" } };
      await expect(session.facts.list({ asOf })).rejects.toMatchObject(refusal);
      await expect(session.facts.query("x", { asOf })).rejects.toMatchObject(refusal);
    }
  });

  it("shows in context what held then, and now what holds now", async () => {
    const { session } = await travels();
    const question = { query: "Where does Ada live?", fresh: true };
    expect((await session.context({ ...question, asOf: NOON + DAY })).tail).toContain(LISBON);
    const now = (await session.context(question)).tail;
    expect(now).toContain(PORTO);
    expect(now).not.toContain(LISBON);
  });
});

describe("what holds", () => {
  it("is the same right after the call, with answers kept, and after a restart", async () => {
    let life = await begin({ path: newPath() });
    const { facts } = life.session;
    const porto = (await facts.upsert(livesIn("Porto"))).fact.id;
    const asked = "Where does Ada live?";
    expect(contents(await life.session.query(asked))).toEqual([PORTO]); // the answer is cached
    await facts.upsert(livesIn("Lisbon", { supersedes: porto }));
    expect(contents(await life.session.query(asked))).toEqual([LISBON]);
    expect(contents(await facts.query(asked))).toEqual([LISBON]);
    life = await reopen(life);
    expect(contents(await life.session.query(asked))).toEqual([LISBON]);
    expect(contents(await life.session.facts.query(asked))).toEqual([LISBON]);
    expect((await life.memory.stats()).store.items).toBe(1);
  });

  it("is found by meaning too, and what ended is not", async () => {
    let life = await begin({ path: newPath(), embedder: new HashEmbedder() });
    const tea = (await life.session.facts.upsert({ category: "drink", content: "Ada enjoys green tea" })).fact.id;
    await life.session.facts.upsert({ category: "pet", content: "Ada keeps two cats" });
    await life.memory.flush();
    const explained = await life.session.query("Ada enjoys green tea", { explain: true });
    expect(explained[0]).toMatchObject({ id: tea, why: { meaning: { score: expect.closeTo(1, 3) } } });
    expect((await life.session.facts.query("enjoys green tea"))[0]?.id).toBe(tea);
    await life.session.facts.end(tea);
    const after = await life.session.query("Ada enjoys green tea", { topK: 100 });
    expect(contents(after)).toEqual(["Ada keeps two cats"]);
    life = await reopen(life, { embedder: new HashEmbedder() });
    await life.memory.flush();
    expect(contents(await life.session.query("Ada enjoys green tea", { topK: 100 }))).toEqual(["Ada keeps two cats"]);
    const again = await life.session.facts.upsert({ category: "drink", content: "Ada enjoys green tea" });
    expect(again.outcome).toBe("revived");
    await life.memory.flush();
    expect((await life.session.query("Ada enjoys green tea", { explain: true }))[0]).toMatchObject({
      id: tea,
      why: { meaning: { score: expect.closeTo(1, 3) } },
    });
  });
});

describe("a list", () => {
  it("is narrowed by category, by pins and by state", async () => {
    const { session } = await begin();
    const { facts } = session;
    const add = async (category: string, content: string, pinned = false) =>
      (await facts.upsert({ category, content, pinned })).fact.id;
    await add("home", "in Porto", true);
    await add("pet", "two cats");
    await facts.end(await add("home", "in Faro"));
    await facts.retract(await add("drink", "coffee"));
    const list = async (options: Parameters<typeof facts.list>[0]) => contents((await facts.list(options)).items);
    expect(await list({})).toEqual(["in Porto", "two cats"]);
    expect(await list({ category: "home" })).toEqual(["in Porto"]);
    expect(await list({ category: ["home", "pet"] })).toEqual(["in Porto", "two cats"]);
    expect(await list({ category: "none" })).toEqual([]);
    expect(await list({ pinned: true })).toEqual(["in Porto"]);
    expect(await list({ pinned: false })).toEqual(["two cats"]);
    expect(await list({ state: "ended" })).toEqual(["in Faro"]);
    expect(await list({ state: "retracted" })).toEqual(["coffee"]);
    expect(await list({ state: ["holds", "ended", "retracted"] })).toEqual([
      "in Porto",
      "two cats",
      "in Faro",
      "coffee",
    ]);
    expect(await list({ state: "ended", category: "pet" })).toEqual([]);
  });

  it("has pages that miss and repeat nothing, even when facts are added and removed between them", async () => {
    const { session } = await begin();
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) {
      ids.push((await session.facts.upsert({ category: "n", content: `number ${at}` })).fact.id);
    }
    const first = await session.facts.list({ limit: 3 });
    expect(contents(first.items)).toEqual(["number 0", "number 1", "number 2"]);
    await session.facts.end(ids[1] ?? "");
    await session.facts.end(ids[4] ?? "");
    await session.facts.upsert({ category: "n", content: "number 7" });
    const second = await session.facts.list({ limit: 3, cursor: first.next ?? "" });
    expect(contents(second.items)).toEqual(["number 3", "number 5", "number 6"]);
    const third = await session.facts.list({ limit: 3, cursor: second.next ?? "" });
    expect(third).toMatchObject({ items: [{ content: "number 7" }] });
    expect(third.next).toBeUndefined();
  });

  it.each([
    ["limit", { limit: 0 }],
    ["limit", { limit: 1001 }],
    ["state", { state: "gone" }],
    ["pinned", { pinned: 1 }],
    ["category", { category: [""] }],
    ["cursor", { cursor: 3 }],
    ["spaces", { spaces: [] }],
  ])("refuses a bad %s (%#)", async (field, options) => {
    const { session } = await begin();
    const call = session.facts.list(options as Parameters<typeof session.facts.list>[0]);
    await expect(call).rejects.toMatchObject({ code: "invalid_input", details: { field: `options.${field}` } });
  });

  it("refuses what is no cursor, and keys that it does not know", async () => {
    const { session } = await begin();
    await session.facts.upsert(livesIn("Porto"));
    await expect(session.facts.list({ cursor: "x" })).rejects.toMatchObject({ code: "invalid_input" });
    const misspelled = { categories: "home" } as Parameters<typeof session.facts.list>[0];
    await expect(session.facts.list(misspelled)).rejects.toMatchObject({ code: "invalid_input" });
    const unknown = { limit: 3 } as Parameters<typeof session.facts.query>[1];
    await expect(session.facts.query("x", unknown)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("get and query", () => {
  it("get answers in the order asked for, in any state, and leaves out what is not here", async () => {
    const { session, memory } = await begin();
    const holds = (await session.facts.upsert(livesIn("Porto"))).fact.id;
    const ended = (await session.facts.upsert(livesIn("Faro"))).fact.id;
    await session.facts.end(ended);
    const [message = ""] = (await session.add([{ role: "user", content: "hello" }])).ids;
    const found = await session.facts.get([ended, "none", message, holds, ended]);
    expect(found.map(({ id, state }) => [id, state])).toEqual([
      [ended, "ended"],
      [holds, "holds"],
    ]);
    expect(await memory.session({ user: "bob" }).facts.get([holds, ended])).toEqual([]);
    expect(await session.facts.get([])).toEqual([]);
  });

  it("query finds facts only, of the requested categories, as many as requested", async () => {
    const { session, clock } = await begin();
    await session.add([{ role: "user", content: "cats cats cats" }]);
    for (let at = 0; at < 12; at++) {
      await session.facts.upsert({ category: at % 3 === 0 ? "pet" : "book", content: `cats number ${at}` });
    }
    clock.advance(1);
    for (const then of [{}, { asOf: NOON }]) {
      expect(await session.facts.query("cats", then)).toHaveLength(10);
      expect(await session.facts.query("cats", { ...then, topK: 12 })).toHaveLength(12);
      expect(await session.facts.query("cats", { ...then, topK: 1 })).toHaveLength(1);
      const pets = await session.facts.query("cats", { ...then, category: "pet" });
      expect(pets.map(({ category }) => category)).toEqual(["pet", "pet", "pet", "pet"]);
      expect(await session.facts.query("cats", { ...then, category: ["pet", "book"], topK: 100 })).toHaveLength(12);
      expect((await session.facts.query("number 7", then))[0]?.content).toBe("cats number 7");
      expect(await session.facts.query("dogs", then)).toEqual([]);
    }
  });

  it("one id can be a fact in two spaces, and each is found as its own", async () => {
    const { session, memory } = await begin();
    const team = memory.session({ user: "ada", team: "crew", space: "team" });
    await session.facts.upsert(livesIn("Porto", { confidence: 0.1 }));
    await team.facts.upsert(livesIn("Porto", { confidence: 0.9 }));
    const spaces = [{ user: "ada" }, { team: "crew" }];
    const both = memory.session({ user: "ada", team: "crew" }).facts;
    const known = (facts: readonly { readonly space: object; readonly confidence: number }[]) =>
      facts.map(({ space, confidence }) => ({ space, confidence }));
    const expected = [
      { space: { user: "ada" }, confidence: 0.1 },
      { space: { team: "crew" }, confidence: 0.9 },
    ];
    expect(known((await both.list({ spaces })).items)).toEqual(expected);
    for (const options of [{ spaces }, { spaces, asOf: NOON }]) {
      expect(known(await both.query("Porto", options))).toEqual(expect.arrayContaining(expected));
    }
    expect(known((await both.list()).items)).toEqual(expected.slice(0, 1));
  });
});
