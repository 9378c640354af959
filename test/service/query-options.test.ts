/** Every option of a query with meaning, and the options of the QueryBuffer: each value changes something. */

import { setImmediate as turn } from "node:timers/promises";
import type { Hit, Hits, Memory, OpenOptions, QueryOptions, Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { open } from "../support/opened.js";
import { until } from "../support/until.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 4, 20, 12);
const ADA = { user: "ada", agent: "tutor", session: "s1" };

interface Desk {
  readonly memory: Memory;
  readonly session: Session;
  readonly clock: FakeClock;
  readonly embedder: MirrorEmbedder;
}

async function opened(buffer: OpenOptions["buffer"] = {}): Promise<Desk> {
  const [clock, embedder] = [new FakeClock(NOW), new MirrorEmbedder()];
  const memory = await open({ path: ":memory:", clock, embedder, buffer });
  return { memory, session: memory.session(ADA, { grants: [{ team: "crew" }] }), clock, embedder };
}

const said = (id: string, content: string, more = {}) => ({ id, role: "user" as const, content, ...more });
const ids = (hits: Hits) => hits.map(({ id }) => id);

/** All of them are about boats; asked by meaning alone. */
async function boats(buffer: OpenOptions["buffer"] = {}): Promise<Desk> {
  const desk = await opened(buffer);
  const { memory, session } = desk;
  await session.add([
    said("a", "boat one, a boat", { occurredAt: NOW - 40 * DAY, metadata: { topic: "sea" } }),
    said("b", "boat two and then some more words", { role: "assistant", occurredAt: NOW - 30 * DAY, tier: "semantic" }),
  ]);
  await memory
    .session({ user: "ada", agent: "coach", session: "s2" })
    .add([said("c", "boat three", { occurredAt: NOW - 20 * DAY, metadata: { topic: "lake" } })]);
  await memory
    .session({ user: "ada" })
    .addItems([{ id: "d", kind: "knowledge", content: "every boat floats", occurredAt: NOW - 10 * DAY }]);
  await memory.session({ team: "crew", session: "s1" }).add([said("t", "team boat")]);
  await memory.session({ user: "bob", session: "s1" }).add([said("x", "boat of bob")]);
  return desk;
}

const BOAT = mirrored("boat");

const NARROWED: readonly (readonly [string, QueryOptions, readonly string[]])[] = [
  ["the whole user", {}, ["a", "b", "c", "d"]],
  ["within the session", { within: "session" }, ["a", "b"]],
  ["within the agent", { within: "agent" }, ["a", "b"]],
  ["by sessions", { session: ["s2", "s1"] }, ["a", "b", "c"]],
  ["by agent", { agent: "coach" }, ["c"]],
  ["by role", { role: "assistant" }, ["b"]],
  ["by kind", { kind: "knowledge" }, ["d"]],
  ["by tier", { tier: "semantic" }, ["b"]],
  ["from a time on", { from: NOW - 20 * DAY }, ["c", "d"]],
  ["before a time", { to: NOW - 20 * DAY }, ["a", "b"]],
  ["by metadata", { metadata: { topic: ["sea", "lake"] } }, ["a", "c"]],
  ["by all that is given", { metadata: { topic: "sea" }, role: "assistant" }, []],
  ["in named spaces", { spaces: [{ user: "ada" }, { team: "crew" }], kind: "message" }, ["a", "b", "c", "t"]],
  ["as it was known then", { askedAt: NOW - 25 * DAY }, ["a", "b"]],
];

describe("a query by meaning alone", () => {
  it("is narrowed by every filter, in the buffers and in the store", async () => {
    const { memory, session } = await boats({ hybridBuffer: { maxSize: 1_000 } });
    for (const level of ["hybrid", "store"]) {
      if (level === "hybrid") await until(() => memory.service.buffers.hybrid?.itemCount === 6);
      else await memory.flush();
      for (const [what, options, expected] of NARROWED) {
        const hits = await session.query(BOAT, { topK: 50, ...options });
        expect([what, ...ids(hits).sort()]).toEqual([what, ...expected]);
        expect(new Set(hits.map((hit) => hit.level))).toEqual(new Set(expected.map(() => level)));
      }
    }
  });
});

describe("the option", () => {
  it("topK with offset makes pages that join without a gap or a repetition", async () => {
    const { memory, session } = await opened();
    for (let at = 0; at < 30; at++) await session.add([said(`m${at}`, `boat ${"and so on ".repeat(at % 5)}${at % 3}`)]);
    await memory.flush();
    const whole = ids(await session.query("boat", { topK: 30 }));
    expect(new Set(whole).size).toBe(30);
    const pages = await Promise.all([0, 7, 14, 21, 28].map((offset) => session.query("boat", { topK: 7, offset })));
    expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 7, 2]);
    expect(pages.flatMap(ids)).toEqual(whole);
    expect(await session.query("boat", { topK: 7, offset: 30 })).toHaveLength(0);
    await expect(session.query("boat", { topK: 900, offset: 101 })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("sortBy and order turn the page, not what is on it", async () => {
    const { session } = await boats();
    const best = ids(await session.query(BOAT, { topK: 3 }));
    const shown = async (options: QueryOptions) => ids(await session.query(BOAT, { topK: 3, ...options }));
    expect(await shown({ order: "asc" })).toEqual([...best].reverse());
    expect(await shown({ sortBy: "timestamp" })).toEqual([...best].sort().reverse());
    expect(await shown({ sortBy: "timestamp", order: "asc" })).toEqual([...best].sort());
  });

  it("askedAt is what dates are counted from, and leaves out what came more than a day later", async () => {
    const { memory, session } = await opened();
    await session.add([
      said("march", "the boat was red", { occurredAt: Date.UTC(2026, 2, 9) }),
      said("may", "the boat was red", { occurredAt: NOW - 7 * DAY }),
      said("next", "the boat was red", { occurredAt: Date.UTC(2026, 2, 17) + 1 }),
    ]);
    await memory.flush();
    const asked = "which boat did we see last week";
    expect(ids(await session.query(asked))[0]).toBe("may");
    const earlier = await session.query(asked, { askedAt: "2026-03-16", explain: true });
    expect(ids(earlier)).toEqual(["march"]);
    const [range] = earlier.explanation?.question.dates ?? [];
    expect(range?.from).toBeLessThanOrEqual(Date.UTC(2026, 2, 9));
    expect(range?.to).toBeGreaterThan(Date.UTC(2026, 2, 9));
    expect(ids(await session.query(asked, { askedAt: "2026-03-17" })).sort()).toEqual(["march", "next"]);
  });

  it("recency puts the new before the old, as far as it counts", async () => {
    const { memory, session } = await opened();
    await session.add([
      said("best", "boat boat", { occurredAt: NOW - 60 * DAY }),
      said("newest", "a boat on the sea with a sail", { occurredAt: NOW }),
    ]);
    await memory.flush();
    const order = async (recency: number) => ids(await session.query("boat", { recency }));
    expect(await order(0)).toEqual(["best", "newest"]);
    expect(await order(1)).toEqual(["newest", "best"]);
    const shares = (await session.query("boat", { recency: 0.8, explain: true })).map(({ id, why }) => [
      id,
      why?.recency,
    ]);
    expect(Object.fromEntries(shares)).toEqual({ best: 0.2, newest: 0.8 });
  });

  it("deadlineMs answers by then with what is there, says so, and keeps nothing of it", async () => {
    const { memory, session, clock, embedder } = await opened();
    await session.add([said("a", "blue kettle"), said("b", "green lamp")]);
    await memory.flush();
    const release = embedder.stall();
    for (let time = 1; time <= 2; time++) {
      const asking = session.query("kettle", { deadlineMs: 100, explain: true });
      await until(() => embedder.waiting > 0);
      for (let turns = 0; turns < 10; turns++) await turn(); // the second time, the embedder is waiting already
      clock.advance(74); // the rest is left for words
      expect(await Promise.race([asking, session.list()])).not.toHaveProperty("partial");
      clock.advance(1);
      const hits = await asking;
      expect([hits.partial, hits[0]?.id, hits[0]?.why?.meaning]).toEqual([true, "a", undefined]);
      expect(hits.explanation?.sources).toContainEqual(
        expect.objectContaining({ source: "meaning", asked: true, why: "not done by the deadline" }),
      );
    }
    release();
    const whole = await session.query("kettle", { deadlineMs: 60_000 });
    expect([whole.partial, ids(whole)]).toEqual([false, ["a", "b"]]);
    expect(memory.service.buffers.query).toMatchObject({ misses: 3, answers: { hits: 0 } });
    await session.query("kettle"); // what is whole answers for any deadline
    expect(memory.service.buffers.query.answers.hits).toBe(1);
  });

  it("bufferOnly finds what is not indexed yet, and nothing else", async () => {
    const { memory, session } = await opened({ roundBuffer: { eager: false } });
    await session.add([said("indexed", "blue kettle")]);
    await memory.flush();
    await session.add([said("waiting", "a kettle that is green")]);
    for (const question of ["kettle", mirrored("kettle")]) {
      expect(ids(await session.query(question)).sort()).toEqual(["indexed", "waiting"]);
      const hits = await session.query(question, { bufferOnly: true, explain: true });
      expect(ids(hits)).toEqual(["waiting"]);
      expect(hits[0]?.level).toBe("round");
      expect(hits.explanation?.sources).toContainEqual(
        expect.objectContaining({ source: "meaning", asked: false, why: "only the buffers were to be asked" }),
      );
    }
    await memory.flush();
    expect(await session.query("kettle", { bufferOnly: true })).toHaveLength(0);
  });
});

describe("the option explain", () => {
  const sumOf = ({ why }: Hit) =>
    (why?.words?.share ?? 0) +
    (why?.meaning?.share ?? 0) +
    Number(why?.exact) +
    Number(why?.role) +
    Number(why?.date) +
    Number(why?.session) +
    Number(why?.recency);

  it("says what each score is made of: the shares add up to it", async () => {
    const { memory, session } = await boats();
    await memory.flush();
    const hits = await session.query("which boat did you mention on 20 April 2026", {
      explain: true,
      recency: 0.5,
      topK: 20,
    });
    expect(hits).toHaveLength(4);
    for (const hit of hits) expect(sumOf(hit)).toBeCloseTo(hit.score, 6);
    const why = new Map(hits.map((hit) => [hit.id, hit.why]));
    for (const share of ["role", "date"] as const) {
      expect(why.get("a")?.[share]).toBe(0);
      expect(why.get("b")?.[share]).toBeGreaterThan(0);
    }
    expect(Number(why.get("d")?.recency)).toBeGreaterThan(Number(why.get("a")?.recency));
    const plain = await session.query("which boat did you mention on 20 April 2026", { recency: 0.5, topK: 20 });
    expect(plain.every((hit) => !("why" in hit)) && !("explanation" in plain)).toBe(true);
    expect(plain.map(({ score }) => score)).toEqual(hits.map(({ score }) => score));
  });

  it("says which sources were asked and what they found, and why others were not", async () => {
    const { memory, session } = await opened({ roundBuffer: { eager: false } });
    const sources = async (text: string) => {
      const { explanation } = await session.query(text, { explain: true });
      return Object.fromEntries(
        (explanation?.sources ?? []).map(({ source, asked, why, found }) => [source, asked ? found : why]),
      );
    };
    await session.add([said("a", "blue kettle")]);
    expect(await sources("kettle")).toEqual({ query: 0, words: 1, round: 1, hybrid: 1, meaning: 0 });
    await memory.flush();
    expect(await sources("kettle")).toEqual({
      query: 0,
      words: 1,
      round: "nothing waits to be embedded",
      hybrid: "it holds nothing of these spaces",
      meaning: 1,
    });
    expect(await sources("kettle")).toMatchObject({ query: 1, words: 1 });
    expect(await sources("?!")).toMatchObject({ words: "the question has no words" });
    const words = await open({ path: ":memory:" });
    const { explanation } = await words.session(ADA).query("kettle", { explain: true });
    expect(explanation?.sources.filter(({ asked }) => !asked).map(({ why }) => why)).toEqual(
      Array(3).fill("there is no embedding model"),
    );
    expect(explanation?.question).not.toHaveProperty("embedded");
  });

  it("says how the question was read", async () => {
    const { memory, session } = await opened();
    await session.add([said("a", "I bought a blue kettle", { name: "Ann" })]);
    await memory.flush();
    const { explanation } = await session.query("What  did Ann buy last week?", { explain: true });
    expect(explanation?.question).toMatchObject({
      text: "What did Ann buy last week?",
      embedded: "Ann: What did I buy last week?",
      refersBack: false,
    });
    expect(explanation?.question.terms).toEqual(expect.arrayContaining(["ann", "week"]));
    expect(explanation?.question.terms).not.toContain("what");
    expect(explanation?.question.dates).toHaveLength(1);
    expect(explanation?.candidates).toBe(1);
    const plain = await session.query("remind me of the kettle", { explain: true });
    expect(plain.explanation?.question).toMatchObject({ embedded: "remind me of the kettle", refersBack: true });
    expect(plain.explanation?.question).not.toHaveProperty("dates");
  });

  it("says of given items why they are not among the hits", async () => {
    const { session, clock } = await boats();
    await session.add([said("gone", "boat that goes", { expiresAt: NOW + DAY })]);
    clock.set(NOW + DAY);
    const options = { topK: 1, explain: ["a", "b", "c", "gone", "x"], role: "user" } as const;
    const hits = await session.query("boat", options);
    const shown = hits[0]?.id;
    const missing = new Map(hits.explanation?.missing.map(({ id, why }) => [id, why]));
    expect(missing.has(String(shown))).toBe(false);
    const [second] = hits.explanation?.missing.filter(({ ranked }) => ranked) ?? [];
    const both = await session.query("boat", { ...options, topK: 2 });
    expect(second).toMatchObject({ id: both[1]?.id, ranked: { place: 2, score: both[1]?.score, why: both[1]?.why } });
    expect(missing.get(shown === "a" ? "c" : "a")).toBe("ranked 2; the answer shows places 1 to 1");
    expect(missing.get("b")).toBe("excluded by the filter: role");
    for (const id of ["gone", "x"]) expect(missing.get(id)).toBe("not in these spaces, or expired");
  });

  it("says which fields of the filter exclude an item, and not that they might", async () => {
    const { session } = await opened();
    await session.add([said("a", "boat", { metadata: { kind: "oar" } }), said("b", "kettle")]);
    const why = async (filter: object, question = "boat") => {
      const { explanation } = await session.query(question, { ...filter, explain: ["a", "b"], by: "words" });
      return Object.fromEntries(explanation?.missing.map((one) => [one.id, one.why]) ?? []);
    };
    const unfound = "no source found it";
    expect(await why({ role: "user" }, "harbour")).toEqual({ a: unfound, b: unfound });
    expect(await why({ metadata: { kind: "oar" } })).toEqual({ b: "excluded by the filter: metadata.kind" });
    const all = { session: "other", agent: "z", role: "tool", kind: "fact", tier: "working", from: NOW + DAY };
    expect((await why(all))["a"]).toBe("excluded by the filter: session, agent, role, kind, tier, from");
    expect((await why({ to: 1, metadata: { "kind.length": 3 } }))["a"]).toBe(
      "excluded by the filter: to, metadata.kind.length",
    );
  });
});

describe("an answer", () => {
  it("is frozen down to the last object in it", async () => {
    const { session } = await opened();
    await session.add([said("a", "blue kettle", { metadata: { deep: { list: [1, { n: 1 }] } } })]);
    const isFrozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    for (const options of [{}, { explain: ["a", "b"] }])
      expect(isFrozen(await session.query("kettle", options))).toBe(true);
  });
});

describe("the QueryBuffer", () => {
  const origins = ({ service }: Memory) => {
    const { answers, rankings, victims, shared, misses } = service.buffers.query;
    return { answers: answers.hits, rankings: rankings.hits, victims: victims.hits, shared, misses };
  };

  it("reports by level where answers came from, and how many repeated questions needed no search", async () => {
    const { memory, session } = await opened({ query: { cacheSize: 1 } });
    await session.add([said("a", "blue kettle"), said("b", "green lamp")]);
    await memory.flush();
    expect((await memory.stats()).health.cacheHitRate.condition).toBe("no data");
    const first = await session.query("kettle");
    expect(await session.query("  kettle ")).toBe(first); // the same question
    await session.query("kettle", { topK: 1 });
    await session.query("lamp");
    await session.query("kettle", { topK: 1 });
    await Promise.all([session.query("chair"), session.query("chair")]);
    expect(origins(memory)).toEqual({ answers: 1, rankings: 1, victims: 1, shared: 1, misses: 3 });
    const { query } = await memory.stats();
    expect(memory.service.buffers.query).toMatchObject(query);
    expect(query).toMatchObject({
      queries: 7,
      levels: { round: 0, hybrid: 0, store: 8 },
      latency: { cached: { count: 3 }, cold: { count: 4 } },
      repeated: { questions: 4, hits: 4 },
      embeddings: { misses: 3, entries: 3 },
    });
    for (let time = 0; time < 20; time++) await session.query("kettle");
    const { health, latencies } = await memory.stats();
    expect(health.cacheHitRate).toMatchObject({ condition: "healthy", value: 1 });
    expect(latencies.query.count).toBe(27);
    for (let time = 0; time < 30; time++) {
      await session.add([said(`more${time}`, "white chair")]);
      await session.query("kettle");
    }
    expect((await memory.stats()).health.cacheHitRate.condition).toBe("alert");
  });

  it("keeps nothing with a cacheSize of 0, neither answers nor vectors of questions", async () => {
    const { memory, session } = await opened({ query: { cacheSize: 0 } });
    await session.add([said("a", "blue kettle")]);
    await memory.flush();
    const first = await session.query("kettle");
    const second = await session.query("kettle");
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(origins(memory)).toEqual({ answers: 0, rankings: 0, victims: 0, shared: 0, misses: 2 });
    expect(memory.service.buffers.query).toMatchObject({ bytes: 0, embeddings: { misses: 2, entries: 0, bytes: 0 } });
  });

  it("keeps as much as maxBytes allows", async () => {
    const asked = async (maxBytes: number) => {
      const { memory, session } = await opened({ query: { maxBytes } });
      await session.add([said("a", `blue kettle ${"and so on ".repeat(1_000)}`)]);
      await memory.flush();
      for (let time = 0; time < 2; time++) await session.query("kettle");
      return { ...origins(memory), bytes: memory.service.buffers.query.bytes };
    };
    const [small, large] = [await asked(1024 * 1024), await asked(64 * 1024 * 1024)];
    expect(small).toMatchObject({ answers: 0, rankings: 1, misses: 1 });
    expect(large).toMatchObject({ answers: 1, rankings: 0, misses: 1 });
    expect(small.bytes).toBeLessThan(large.bytes);
  });

  it("treats a question in other words as a different one, even with the same vector and candidates", async () => {
    const { memory, session } = await opened();
    await session.add([said("a", "blue kettle"), said("b", "green lamp")]);
    await memory.flush();
    expect(ids(await session.query("blue kettle"))[0]).toBe("a");
    expect(ids(await session.query("kettle blue"))[0]).toBe("a");
    expect(origins(memory).misses).toBe(2);
  });
});
