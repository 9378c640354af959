/** Blocks, facts, context and promotions: the same in this process and behind a server. */
import type { Json, Session } from "holdfast";
import { expect, it } from "vitest";
import type { Opened } from "./doors.js";

const DAY_MS = 86_400_000;

export function itCarried(opened: () => Opened): void {
  const session = (user: string, name = "first"): Session =>
    opened().memory.session({ user, agent: "tutor", session: name });

  it("has blocks that are created, edited in five ways, and read in every version", async () => {
    const { blocks } = session("blocks");
    const made = await blocks.create({ name: "persona", content: "one\ntwo\n", description: "who", reason: "new" });
    expect(made).toMatchObject({ name: "persona", version: 1, policy: "manual", readOnly: false, maxTokens: 4096 });
    expect(await blocks.get("persona")).toEqual(made);
    expect(await blocks.get("nobody")).toBeUndefined();
    await blocks.edit("persona", { append: "three\n", reason: "more", actor: "a test" });
    await blocks.edit("persona", { replace: "two", with: "2", expectVersion: 2 });
    await blocks.edit("persona", { insert: "zero\n", line: 0 });
    await blocks.edit("persona", { patch: "@@ -1,2 +1,2 @@\n-zero\n+null\n one\n" });
    const whole = await blocks.edit("persona", { content: "all new" });
    expect(whole).toMatchObject({ version: 6, content: "all new" });
    expect(await blocks.version("persona", 5)).toBe("null\none\n2\nthree\n");
    expect(await blocks.diff("persona", 1, 2)).toContain("+three");
    const history = await blocks.history("persona", { limit: 2 });
    expect(history.map(({ version }) => version)).toEqual([6, 5]);
    expect(await blocks.history("persona")).toHaveLength(5);
    expect((await blocks.history("persona")).at(-1)).toMatchObject({
      reason: "more",
      actor: "a test",
      at: made.createdAt,
    });
    expect(await blocks.restore("persona", 1, { reason: "back" })).toMatchObject({ version: 7, content: "one\ntwo\n" });
    const stale = blocks.edit("persona", { content: "late", expectVersion: 2 });
    await expect(stale).rejects.toMatchObject({ code: "conflict", details: { version: 7 } });
    const merged = await blocks.edit("persona", { replace: "two", with: "deux", expectVersion: 1, merge: true });
    expect(merged.content).toBe("one\ndeux\n");
  });

  it("has blocks that are renamed, configured, listed, cut to their budget and deleted", async () => {
    const { blocks } = session("tidy");
    await blocks.create({ name: "b", content: "x ".repeat(40) });
    await blocks.create({ name: "a" });
    expect((await blocks.list()).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(await blocks.rename("a", "c d", { expectVersion: 1 })).toMatchObject({ name: "c d", version: 2 });
    expect(await blocks.archiveOverflow("b")).toBeUndefined();
    expect(await blocks.configure("b", { maxTokens: 10, description: null })).toMatchObject({ maxTokens: 10 });
    const cut = await blocks.archiveOverflow("b", { reason: "too long" });
    expect(cut?.archived).toMatchObject({ id: expect.any(String), text: expect.stringContaining("x") });
    expect(await blocks.configure("c d", { readOnly: true })).toMatchObject({ readOnly: true });
    await expect(blocks.delete("c d")).rejects.toMatchObject({ code: "read_only" });
    expect(await blocks.delete("b")).toMatchObject({ blocks: 1, items: 1 });
    await expect(blocks.history("b")).rejects.toMatchObject({ code: "not_found", details: { name: "b" } });
  });

  it("has points that are stored, replaced, searched, listed, read and deleted", async () => {
    const ada = session("points");
    const store = async (of: Session, pointId: string, vector: readonly number[] | Float32Array, payload?: Json) => {
      const turn = of.turn();
      turn.push({
        op: "store_embedding",
        collection: "n/ö 👍",
        pointId,
        vector,
        ...(payload !== undefined && { payload }),
      });
      await of.commit(turn);
    };
    const payload = JSON.parse('{"__proto__":{"a":[1,null]},"é":"\\u2028"}') as Json;
    await store(ada, "p1", [0.1, 3e38], payload);
    await store(session("points", "second"), "p2", Float32Array.of(-1, 0));
    await store(ada, "p2", [1, 1], "replaced");
    const name = "n/ö 👍";
    const point = { space: { user: "points" }, collection: name, session: "first", storedAt: opened().clock.now() };
    const [p1, p2] = [
      { ...point, id: "p1", payload },
      { ...point, id: "p2", payload: "replaced" },
    ];
    const vectors = [Float32Array.of(0.1, 3e38), Float32Array.of(1, 1)];
    expect(await ada.points.list(name)).toEqual({
      items: [
        { ...p1, vector: vectors[0] },
        { ...p2, vector: vectors[1] },
      ],
    });
    const { items, next } = await ada.points.list(name, { limit: 1 });
    expect(items).toMatchObject([p1]);
    expect((await ada.points.list(name, { cursor: String(next) })).items).toMatchObject([p2]);
    expect(await ada.points.get(name, ["p2", "none", "p1"])).toMatchObject([p2, p1]);
    expect(await ada.points.search(name, Float32Array.of(0, 2))).toEqual([
      { ...p1, score: expect.closeTo(1, 6) },
      { ...p2, score: expect.closeTo(Math.SQRT1_2, 6) },
    ]);
    const granted = opened().memory.session({ user: "someone" }, { grants: [{ user: "points" }] });
    expect(await granted.points.search(name, [1, 1])).toEqual([]);
    const asked = { topK: 1, spaces: [{ user: "points" }] };
    expect(await granted.points.search(name, [1, 1], asked)).toMatchObject([{ ...p2, score: expect.closeTo(1, 6) }]);
    expect(await ada.points.delete(name, ["p1", "none"])).toMatchObject({ points: 1, missing: ["none"], purged: true });
    expect(await ada.points.get(name, ["p1"])).toEqual([]);
    expect(await ada.forget()).toMatchObject({ points: 1, sessions: 1 });
    expect(await ada.points.search(name, [1, 1])).toEqual([]);
  });

  it("has facts that hold, end, are superseded, retracted and found", async () => {
    const ada = session("facts");
    await ada.add([{ id: "m1", role: "user", content: "I live in Porto" }]);
    const now = opened().clock.now();
    const porto = await ada.facts.upsert({
      category: "home",
      content: "lives in Porto",
      confidence: 0.8,
      source: { message: "m1" },
      validFrom: new Date(now - 10 * DAY_MS),
    });
    expect(porto).toMatchObject({
      outcome: "added",
      ended: [],
      fact: { state: "holds", sources: [{ message: "m1" }] },
    });
    expect((await ada.facts.upsert({ category: "home", content: "lives in Porto", confidence: 0.8 })).outcome).toBe(
      "updated",
    );
    const lisbon = await ada.facts.upsert({
      category: "home",
      content: "lives in Lisbon",
      supersedes: porto.fact.id,
      validFrom: now - 5 * DAY_MS,
      pinned: true,
    });
    expect(lisbon).toMatchObject({ outcome: "added", ended: [porto.fact.id] });
    expect((await ada.facts.list()).items.map(({ id }) => id)).toEqual([lisbon.fact.id]);
    expect((await ada.facts.list({ state: ["ended"], category: "home" })).items).toMatchObject([
      { id: porto.fact.id, spans: [{ to: now - 5 * DAY_MS, supersededBy: lisbon.fact.id }] },
    ]);
    const then = await ada.facts.list({ asOf: new Date(now - 7 * DAY_MS), limit: 1 });
    expect(then.items.map(({ content }) => content)).toEqual(["lives in Porto"]);
    expect(await ada.facts.query("where does she live in Lisbon", { category: ["home"] })).toMatchObject([
      { id: lisbon.fact.id },
    ]);
    expect(await ada.facts.query("Porto", { asOf: new Date(now - 7 * DAY_MS), topK: 1 })).toMatchObject([
      { id: porto.fact.id },
    ]);
    expect(await ada.facts.end(lisbon.fact.id, { at: new Date(now - DAY_MS) })).toMatchObject({ state: "ended" });
    expect(await ada.facts.retract(lisbon.fact.id)).toMatchObject({ state: "retracted" });
    expect((await ada.facts.upsert({ category: "home", content: "lives in Lisbon" })).outcome).toBe("retracted");
    expect((await ada.facts.upsert({ category: "home", content: "lives in Lisbon", force: true })).outcome).toBe(
      "revived",
    );
    expect((await ada.facts.get([lisbon.fact.id, "none", porto.fact.id])).map(({ id }) => id)).toEqual([
      lisbon.fact.id,
      porto.fact.id,
    ]);
  });

  it("has facts extracted from what was said", async () => {
    const ada = session("extracted");
    await ada.add([{ id: "x1", role: "user", content: "Tusk is a cat" }]);
    expect(await ada.facts.extract({ limit: 10 })).toMatchObject({
      messages: 1,
      facts: [{ content: "Tusk is a cat" }],
    });
    expect(await ada.facts.extract()).toEqual({ messages: 0, facts: [], refused: [] });
    await ada.add([{ role: "user", content: "this will fail" }]);
    await expect(ada.facts.extract()).rejects.toMatchObject({ code: "extractor_failed", hint: expect.any(String) });
  });

  it("is given as context, once: the ledger remembers it until the window is reset", async () => {
    const ada = session("window", "now");
    await session("window", "earlier").add([{ id: "w1", role: "user", content: "I moved to Lisbon in May" }]);
    await ada.blocks.create({ name: "persona", content: "A tutor." });
    const peek = await ada.context({ query: "Lisbon", counter: "chars4", dryRun: true });
    expect(peek.added.map(({ id }) => id)).toEqual(["w1"]);
    expect(await ada.ledger()).toEqual({ entries: [], saved: 0, resets: 0 });
    expect(
      await ada.context({ query: "Lisbon", counter: "chars4", budgetTokens: 500, turns: 2, shares: { blocks: 1 } }),
    ).toEqual({
      ...peek,
      tokens: { ...peek.tokens, budget: 500 },
    });
    expect((await ada.ledger()).entries.length).toBeGreaterThan(0);
    expect(await ada.context({ query: "Lisbon", counter: "chars4" })).toMatchObject({ tail: "", added: [] });
    expect((await ada.context({ query: "Lisbon", counter: "chars4", fresh: true })).added.map(({ id }) => id)).toEqual([
      "w1",
    ]);
    expect(await ada.windowReset()).toBeUndefined();
    expect(await ada.ledger()).toMatchObject({ entries: [], resets: 1 });
    const asked = { query: "Lisbon", askedAt: new Date(opened().clock.now()), asOf: opened().clock.now(), topK: 3 };
    expect((await ada.context({ ...asked, deadlineMs: 4000, counter: "chars4" })).prefix).toContain("A tutor.");
  });

  it("can be announced before it is asked, with and without options", async () => {
    const ada = session("typing", "now");
    await ada.add([{ role: "user", content: "Bruno sleeps in the garden" }]);
    expect(await ada.anticipate("where does Bruno")).toBeUndefined();
    expect(await ada.anticipate("where does Bruno sleep?", { topK: 3, role: "user" })).toBeUndefined();
    expect((await ada.query("where does Bruno sleep?", { topK: 3, role: "user" })).map((hit) => hit.content)).toEqual([
      "Bruno sleeps in the garden",
    ]);
    await expect(ada.anticipate("x", { topK: 0 })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ada.anticipate("x", { spaces: [{ user: "stranger" }] })).rejects.toMatchObject({ code: "forbidden" });
  });

  it("is promoted into spaces that were granted, and logged there", async () => {
    const crew = { team: "crew" };
    const ada = opened().memory.session({ user: "giver", agent: "tutor", session: "s" }, { grants: [crew] });
    await ada.add([{ id: "s1", role: "user", content: "the orchid needs water" }]);
    expect(await ada.promote(["s1"], { to: crew, reason: "all must know" })).toEqual(["s1"]);
    const team = opened().memory.session(crew);
    expect((await team.promotions({ limit: 1 })).items).toEqual([
      {
        id: "s1",
        from: { user: "giver" },
        to: crew,
        actor: "agent tutor",
        reason: "all must know",
        at: opened().clock.now(),
      },
    ]);
    expect([...(await ada.query("orchid", { spaces: [crew] }))]).toMatchObject([{ id: "s1", space: crew }]);
    const refusal = { code: "forbidden", details: { space: crew }, hint: expect.stringContaining("grant") };
    const stranger = session("stranger");
    await expect(stranger.query("orchid", { spaces: [crew] })).rejects.toMatchObject(refusal);
    await expect(stranger.context({ spaces: [crew] })).rejects.toMatchObject(refusal);
    await expect(stranger.facts.list({ spaces: [crew] })).rejects.toMatchObject(refusal);
    await expect(stranger.facts.query("orchid", { spaces: [crew] })).rejects.toMatchObject(refusal);
    await expect(stranger.promote(["s1"], { to: crew, reason: "why not" })).rejects.toMatchObject(refusal);
  });
}
