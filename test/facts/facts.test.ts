/** Recording, changing and retracting facts: what each option does, and what no later call can undo. */
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { begin, contents, DAY, livesIn, NOON, reopen } from "./city.js";

describe("a fact", () => {
  it("is recorded with its details, and holds from now on", async () => {
    const { session } = await begin();
    const { outcome, fact, ended } = await session.facts.upsert(livesIn("Porto"));
    expect({ outcome, ended }).toEqual({ outcome: "added", ended: [] });
    expect(fact).toEqual({
      id: fact.id,
      space: { user: "ada" },
      category: "home",
      content: "Ada lives in Porto",
      confidence: 1,
      pinned: false,
      state: "holds",
      spans: [{ from: NOON }],
      sources: [{ session: "monday" }],
      recordedAt: NOON,
      updatedAt: NOON,
      version: 1,
    });
    expect(await session.facts.get([fact.id])).toEqual([fact]);
  });

  it("in another spelling is the same fact, and keeps its text", async () => {
    const { session, clock } = await begin();
    const first = await session.facts.upsert(livesIn("Porto", { confidence: 0.5 }));
    const spellings = ["ADA lives in porto", "  Ada  lives\n in\tPorto ", "Ada lives in Porto.", "Ａda lives in Porto"];
    for (const [at, content] of spellings.entries()) {
      clock.advance(DAY);
      const confidence = 0.6 + at / 10;
      const { outcome, fact } = await session.facts.upsert({ category: " Home ", content, confidence });
      expect(outcome, content).toBe("updated");
      const { id, recordedAt, spans } = first.fact;
      expect(fact).toMatchObject({ id, recordedAt, spans, content: "Ada lives in Porto", category: "home" });
      expect(fact).toMatchObject({ confidence, updatedAt: NOON + (at + 1) * DAY, version: at + 2 });
      expect((await session.facts.list()).items).toEqual([fact]);
    }
    expect(await session.query("Porto")).toHaveLength(1);
  });

  it("is another one in another category, or with another word", async () => {
    const { session } = await begin();
    await session.facts.upsert(livesIn("Porto"));
    expect((await session.facts.upsert({ ...livesIn("Porto"), category: "origin" })).outcome).toBe("added");
    expect((await session.facts.upsert(livesIn("Porto now"))).outcome).toBe("added");
    expect((await session.facts.list()).items).toHaveLength(3);
  });

  it("collects its sources, each once, and reports when nothing is new", async () => {
    const { session, memory } = await begin();
    const [message = ""] = (await session.add([{ role: "user", content: "I moved" }])).ids;
    await session.facts.upsert(livesIn("Porto"));
    expect((await session.facts.upsert(livesIn("Porto"))).outcome).toBe("unchanged");
    expect((await session.facts.upsert(livesIn("Porto", { source: { message } }))).outcome).toBe("updated");
    expect((await session.facts.upsert(livesIn("Porto", { source: { session: "tuesday" } }))).outcome).toBe("updated");
    const byHost = await memory.session({ user: "ada" }).facts.upsert(livesIn("Porto"));
    expect(byHost.fact.sources).toEqual([
      { session: "monday" },
      { session: "monday", message },
      { session: "tuesday" },
      {},
    ]);
    expect((await session.facts.upsert(livesIn("Porto", { source: {} }))).outcome).toBe("unchanged");
    expect((await memory.sessions.list({ space: { user: "ada" } })).items.map(({ name }) => name)).toContain("tuesday");
  });

  it("offered by many at once, through two handles on the file, is one fact", async () => {
    const path = newPath();
    const { session, clock } = await begin({ path });
    const other = (await open({ path, clock })).session({ user: "ada", session: "tuesday" });
    const offers = Array.from({ length: 10 }, () => [session, other]).flat();
    const outcomes = await Promise.all(offers.map(({ facts }) => facts.upsert(livesIn("Porto"))));
    const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
    // One created it, one added the second source, and for the others it was nothing new.
    expect([count("added"), count("updated"), count("unchanged")]).toEqual([1, 1, 18]);
    expect((await session.facts.list()).items).toMatchObject([{ version: 2, spans: [{ from: NOON }] }]);
  });

  it("has the confidence of the last upsert, and shows it in the item", async () => {
    const { session } = await begin();
    await session.facts.upsert(livesIn("Porto", { confidence: 0.25 }));
    expect((await session.query("Porto"))[0]).toMatchObject({ metadata: { category: "home", confidence: 0.25 } });
    await session.facts.upsert(livesIn("Porto", { confidence: 0 }));
    expect((await session.query("Porto"))[0]).toMatchObject({ kind: "fact", tier: "semantic", version: 2 });
    expect((await session.query("Porto", { metadata: { confidence: 0 } }))[0]?.content).toBe("Ada lives in Porto");
  });

  it("stays pinned until it is unpinned", async () => {
    const { session } = await begin();
    await session.facts.upsert(livesIn("Porto", { pinned: true }));
    expect((await session.facts.upsert(livesIn("Porto", { confidence: 0.5 }))).fact.pinned).toBe(true);
    expect((await session.context()).prefix).toContain("Ada lives in Porto");
    expect((await session.facts.upsert(livesIn("Porto", { pinned: false }))).fact.pinned).toBe(false);
    expect((await session.context({ fresh: true })).prefix).not.toContain("Porto");
  });

  it("holds since then, if it is said since when", async () => {
    const { session } = await begin();
    const before = "2026-11-10T08:00:00Z";
    const { fact } = await session.facts.upsert(livesIn("Porto", { validFrom: before }));
    expect(fact.spans).toEqual([{ from: Date.parse(before) }]);
    const earlier = await session.facts.upsert(livesIn("Porto", { validFrom: new Date(NOON - 30 * DAY) }));
    expect(earlier).toMatchObject({ outcome: "updated", fact: { spans: [{ from: NOON - 30 * DAY }] } });
    expect((await session.facts.upsert(livesIn("Porto", { validFrom: NOON }))).fact.spans).toEqual(earlier.fact.spans);
    expect((await session.query("Porto"))[0]?.occurredAt).toBe(NOON - 30 * DAY);
  });
});

describe("superseding", () => {
  it("ends the old fact, keeps it with its span, and names its successor", async () => {
    const { session, clock } = await begin();
    const porto = (await session.facts.upsert(livesIn("Porto"))).fact;
    clock.advance(DAY);
    const lisbon = await session.facts.upsert(livesIn("Lisbon", { supersedes: porto.id }));
    expect(lisbon).toMatchObject({ outcome: "added", ended: [porto.id] });
    expect(await session.facts.get([porto.id])).toMatchObject([
      {
        state: "ended",
        spans: [{ from: NOON, to: NOON + DAY, supersededBy: lisbon.fact.id }],
        sources: [{ session: "monday" }],
      },
    ]);
    expect(contents(await session.query("Where does Ada live?"))).toEqual(["Ada lives in Lisbon"]);
  });

  it("takes a list too, and says which of them it ended", async () => {
    const { session, clock } = await begin();
    const ids: string[] = [];
    for (const city of ["Porto", "Braga", "Faro"]) ids.push((await session.facts.upsert(livesIn(city))).fact.id);
    await session.facts.end(ids[0] ?? "");
    clock.advance(DAY);
    const { ended } = await session.facts.upsert(livesIn("Lisbon", { supersedes: [...ids, ...ids] }));
    expect(ended).toEqual(ids.slice(1));
    expect(contents((await session.facts.list()).items)).toEqual(["Ada lives in Lisbon"]);
  });

  it("is refused as a whole if one of them is unknown here, or is the fact itself", async () => {
    const { session, memory } = await begin();
    const { fact } = await session.facts.upsert(livesIn("Porto"));
    const unknown = session.facts.upsert(livesIn("Lisbon", { supersedes: [fact.id, "fact-of-nobody"] }));
    await expect(unknown).rejects.toMatchObject({ code: "not_found", details: { id: "fact-of-nobody" } });
    const itself = session.facts.upsert(livesIn("Porto", { supersedes: fact.id, confidence: 0.1 }));
    await expect(itself).rejects.toMatchObject({ code: "invalid_input" });
    const bob = memory.session({ user: "bob" });
    await expect(bob.facts.upsert(livesIn("Lisbon", { supersedes: fact.id }))).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await session.facts.list()).items).toEqual([fact]);
    expect((await bob.facts.list()).items).toEqual([]);
  });

  it("goes there and back again: Porto, Lisbon, Porto", async () => {
    let life = await begin({ path: newPath() });
    const { clock } = life;
    const porto = (await life.session.facts.upsert(livesIn("Porto"))).fact.id;
    expect(contents(await life.session.query("Ada lives"))).toEqual(["Ada lives in Porto"]);
    clock.advance(DAY);
    const lisbon = (await life.session.facts.upsert(livesIn("Lisbon", { supersedes: porto }))).fact.id;
    expect(contents(await life.session.query("Ada lives"))).toEqual(["Ada lives in Lisbon"]);
    clock.advance(DAY);
    const back = await life.session.facts.upsert(livesIn("Porto", { supersedes: lisbon }));
    expect(back).toMatchObject({ outcome: "revived", ended: [lisbon], fact: { id: porto, state: "holds" } });
    expect(back.fact.spans).toEqual([{ from: NOON, to: NOON + DAY, supersededBy: lisbon }, { from: NOON + 2 * DAY }]);
    expect(contents(await life.session.query("Ada lives"))).toEqual(["Ada lives in Porto"]);
    life = await reopen(life);
    expect(contents(await life.session.query("Ada lives"))).toEqual(["Ada lives in Porto"]);
    expect(contents((await life.session.facts.list()).items)).toEqual(["Ada lives in Porto"]);
    expect(await life.session.facts.get([porto])).toEqual([back.fact]);
    expect((await life.memory.session({ user: "ada" }).list({ kind: "fact" })).items).toHaveLength(1);
  });
});

describe("ending", () => {
  it("ends now, or at the time given, and once", async () => {
    const { session, clock } = await begin();
    const porto = (await session.facts.upsert(livesIn("Porto"))).fact.id;
    const faro = (await session.facts.upsert(livesIn("Faro"))).fact.id;
    clock.advance(DAY);
    expect(await session.facts.end(porto)).toMatchObject({ state: "ended", spans: [{ from: NOON, to: NOON + DAY }] });
    expect(await session.facts.end(faro, { at: NOON + 1 })).toMatchObject({ spans: [{ from: NOON, to: NOON + 1 }] });
    clock.advance(DAY);
    expect(await session.facts.end(porto)).toMatchObject({ spans: [{ from: NOON, to: NOON + DAY }], version: 2 });
    expect(await session.query("Ada lives")).toHaveLength(0);
  });

  it("before it began leaves no time at which it held", async () => {
    const { session } = await begin();
    const { id } = (await session.facts.upsert(livesIn("Porto"))).fact;
    expect(await session.facts.end(id, { at: NOON - DAY })).toMatchObject({ state: "ended", spans: [] });
    expect((await session.facts.list({ asOf: NOON })).items).toEqual([]);
  });

  it("in the future is refused: until then it would be there and not there", async () => {
    const { session } = await begin();
    const { fact } = await session.facts.upsert(livesIn("Porto"));
    const later = session.facts.end(fact.id, { at: NOON + 1 });
    await expect(later).rejects.toMatchObject({ code: "invalid_input", details: { field: "options.at" } });
    const misspelled = session.facts.end(fact.id, { when: NOON } as Parameters<typeof session.facts.end>[1]);
    await expect(misspelled).rejects.toMatchObject({ code: "invalid_input" });
    expect((await session.facts.list()).items).toEqual([fact]);
  });
});

describe("a retracted fact", () => {
  it("is in no answer, and was never true", async () => {
    const { session, clock } = await begin();
    const { id } = (await session.facts.upsert(livesIn("Porto"))).fact;
    clock.advance(DAY);
    expect(await session.facts.retract(id)).toMatchObject({ id, state: "retracted" });
    expect(await session.query("Porto")).toHaveLength(0);
    expect(await session.facts.query("Porto")).toEqual([]);
    for (const asOf of [NOON, NOON + DAY - 1, NOON + DAY]) {
      expect((await session.facts.list({ asOf })).items).toEqual([]);
      expect(await session.facts.query("Porto", { asOf })).toEqual([]);
    }
    expect(await session.facts.get([id])).toMatchObject([{ state: "retracted" }]);
  });

  it("stays so when it is offered again, by a call or in a turn, in any spelling, also after a restart", async () => {
    let life = await begin({ path: newPath() });
    const porto = (await life.session.facts.upsert(livesIn("Porto"))).fact.id;
    const faro = (await life.session.facts.upsert(livesIn("Faro"))).fact.id;
    const retracted = await life.session.facts.retract(porto);
    life = await reopen(life);
    const { session } = life;
    const again = await session.facts.upsert({ category: "HOME", content: "ada lives in porto!", supersedes: faro });
    expect(again).toEqual({ outcome: "retracted", fact: retracted, ended: [] });
    const turn = session.turn();
    turn.push({ op: "upsert_fact", category: "home", content: "Ada lives in Porto", confidence: 0.3 });
    turn.push({ op: "save_message", message: { role: "user", content: "I told you" } });
    await session.commit(turn);
    expect(contents(await session.query("Ada lives told"))).toEqual(
      expect.arrayContaining(["Ada lives in Faro", "I told you"]),
    );
    expect(await session.query("Porto")).toHaveLength(0);
    expect(await session.facts.get([porto])).toEqual([retracted]);
  });

  it("is revived by force, and then holds as if new", async () => {
    const { session, clock } = await begin();
    const { id } = (await session.facts.upsert(livesIn("Porto"))).fact;
    await session.facts.retract(id);
    clock.advance(DAY);
    const forced = await session.facts.upsert(livesIn("Porto", { force: true }));
    expect(forced).toMatchObject({ outcome: "revived", fact: { id, state: "holds" } });
    expect(contents(await session.query("Porto"))).toEqual(["Ada lives in Porto"]);
    expect((await session.facts.upsert(livesIn("Porto"))).outcome).toBe("unchanged");
    expect((await session.facts.list({ asOf: NOON + DAY })).items).toHaveLength(1);
  });

  it("may have ended before; an unknown fact cannot be retracted", async () => {
    const { session, memory } = await begin();
    const { id } = (await session.facts.upsert(livesIn("Porto"))).fact;
    await session.facts.end(id);
    expect(await session.facts.retract(id)).toMatchObject({ state: "retracted" });
    expect((await session.facts.upsert(livesIn("Porto"))).outcome).toBe("retracted");
    const bob = memory.session({ user: "bob" });
    for (const call of [() => bob.facts.retract(id), () => bob.facts.end(id), () => session.facts.retract("nothing")]) {
      await expect(call()).rejects.toMatchObject({ code: "not_found" });
    }
  });
});

describe("bad input", () => {
  const BAD: readonly [string, unknown, string][] = [
    ["no object", "Ada lives in Porto", "fact"],
    ["an unknown key", livesIn("Porto", { confidense: 1 } as object), "fact"],
    ["no category", { content: "x" }, "fact.category"],
    ["an empty category", { category: " \n", content: "x" }, "fact.category"],
    ["empty content", { category: "c", content: " \u00a0 " }, "fact.content"],
    ["content that is no text", { category: "c", content: ["x"] }, "fact.content"],
    ["more than certain", livesIn("Porto", { confidence: 1.01 }), "fact.confidence"],
    ["less than nothing", livesIn("Porto", { confidence: -0.01 }), "fact.confidence"],
    ["no number", livesIn("Porto", { confidence: Number.NaN }), "fact.confidence"],
    ["a day that is not in the calendar", livesIn("Porto", { validFrom: "2026-02-30" }), "fact.validFrom"],
    ["the future", livesIn("Porto", { validFrom: NOON + 1 }), "fact.validFrom"],
    ["a pin that is no flag", livesIn("Porto", { pinned: "yes" as unknown as boolean }), "fact.pinned"],
    ["force that is no flag", livesIn("Porto", { force: 1 as unknown as boolean }), "fact.force"],
    ["a source with an unknown key", livesIn("Porto", { source: { messages: "m" } as object }), "fact.source"],
    ["an empty source", livesIn("Porto", { source: { session: "" } }), "fact.source.session"],
  ];

  it.each(BAD)("is refused with its field, and nothing is written: %s", async (_, fact, field) => {
    const { session, memory } = await begin();
    const call = session.facts.upsert(fact as Parameters<typeof session.facts.upsert>[0]);
    await expect(call).rejects.toMatchObject({ code: "invalid_input", details: { field } });
    expect((await memory.stats()).store.items).toBe(0);
  });

  it("names no message that is not there, and none of another space", async () => {
    const { session, memory } = await begin();
    const bob = memory.session({ user: "bob", session: "monday" });
    await bob.add([{ id: "his", role: "user", content: "I live in Porto" }]);
    for (const message of ["none", "his"]) {
      const call = session.facts.upsert(livesIn("Porto", { source: { message } }));
      await expect(call).rejects.toMatchObject({ code: "not_found", details: { id: message } });
    }
    expect((await session.facts.list({ state: ["holds", "ended", "retracted"] })).items).toEqual([]);
  });

  it("an item's edit cannot make a fact say something else", async () => {
    const { session } = await begin();
    const { fact } = await session.facts.upsert(livesIn("Porto"));
    const edit = session.update(fact.id, { content: "Ada lives in Lisbon" });
    await expect(edit).rejects.toMatchObject({ code: "invalid_input" });
    expect(await session.facts.get([fact.id])).toEqual([fact]);
    expect(contents(await session.query("Ada"))).toEqual(["Ada lives in Porto"]);
  });

  it("a closed memory refuses", async () => {
    const { session, memory } = await begin();
    await memory.close();
    const { facts } = session;
    for (const call of [
      () => facts.upsert(livesIn("Porto")),
      () => facts.list(),
      () => facts.get(["x"]),
      () => facts.query("x"),
      () => facts.query("x", { asOf: NOON }),
      () => facts.retract("x"),
      () => facts.end("x"),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "closed" });
    }
  });
});
