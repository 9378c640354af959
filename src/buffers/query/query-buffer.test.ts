/** The QueryBuffer over the store in memory, with a search by words that tests can hold up, change and count. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { ParsedQuery } from "../../input/query.js";
import type { Presentation, Question } from "../../input/question.js";
import { analyse } from "../../retrieval/words/analyse.js";
import { SqliteStore } from "../../stores/sqlite/store.js";
import type { Write } from "../../stores/store.js";
import { FakeClock } from "../../testing/fake-clock.js";
import type { SpaceRef } from "../../types.js";
import { Meter } from "../meter.js";
import type { AnswerEntry } from "./answer-cache.js";
import { QueryBuffer, type QueryBufferOptions } from "./query-buffer.js";
import type { Ranking } from "./retriever.js";

const ADA = { user: "ada" };
const BOB = { user: "bob" };
const MIB = 1024 * 1024;

/** A store, a QueryBuffer on it, and the hands of a test on both. */
class Desk {
  readonly store: SqliteStore;
  readonly clock = new FakeClock();
  readonly meter = new Meter(this.clock);
  readonly buffer: QueryBuffer;
  /** Answers made ahead of time. */
  readonly ahead = new Map<string, AnswerEntry>();
  /** What was searched for. */
  readonly searches: Question[] = [];
  /** How often content was read, and what is called before. */
  reads = 0;
  beforeRead: () => Promise<unknown> = async () => {};
  /** Awaited before the store is searched, and after. */
  before: Promise<unknown> = Promise.resolve();
  after: Promise<unknown> = Promise.resolve();
  change: (ranking: Ranking) => Ranking = (ranking) => ranking;

  static async open(options: Partial<QueryBufferOptions> = {}): Promise<Desk> {
    const store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
    onTestFinished(() => store.close());
    return new Desk(store, options);
  }

  private constructor(store: SqliteStore, options: Partial<QueryBufferOptions>) {
    this.store = store;
    const read = store.read.bind(store);
    store.read = async (request) => {
      this.reads++;
      await this.beforeRead();
      return read(request);
    };
    const { clock, meter } = this;
    const rank = (question: Question, now: number, signal?: AbortSignal) => this.#rank(question, now, signal);
    const { ahead } = this;
    this.buffer = new QueryBuffer({ store, clock, meter, ahead, rank, cacheSize: 100, maxBytes: 16 * MIB, ...options });
  }

  async #rank(question: Question, now: number, signal?: AbortSignal): Promise<Ranking> {
    this.searches.push(question);
    await this.before;
    signal?.throwIfAborted();
    const { text, spaces, filter, depth: limit } = question;
    const result = await this.store.search({
      ...{ spaces, filter, now, limit, terms: [...analyse(text).keys()], lookups: [] },
      hints: { refersBack: false, dates: [], recency: 0, askedAt: now },
    });
    const why = { exact: 0, role: 0, date: 0, session: 0, recency: 0 };
    const found = result.found.map((item) => ({ ...item, why: { ...why } }));
    const source = { source: "words", asked: true, found: found.length, ms: 1 } as const;
    const reading = { text, terms: [], refersBack: false };
    const ranking = this.change({
      found,
      candidates: found.length,
      partial: false,
      isClockBound: false,
      sources: [source],
      reading,
    });
    await this.after;
    return ranking;
  }

  async write(...writes: Write[]): Promise<void> {
    const { outcomes } = await this.store.commit([writes], this.clock.now(), "");
    for (const outcome of outcomes) if (!outcome.ok) throw new Error(outcome.error.message);
  }

  /** Adds texts; their ids are how they begin. Outside of sessions, unless one is named, no text lends words to another. */
  add(texts: readonly string[], { space = ADA as SpaceRef, session = "", expiresAt = 0, metadata = {} } = {}) {
    const items = texts.map((content) => ({
      id: content.slice(0, 40),
      kind: "message" as const,
      role: "user" as const,
      content,
      metadata,
      tier: "episodic" as const,
      occurredAt: this.clock.now(),
      ...(expiresAt > 0 && { expiresAt }),
    }));
    return this.write({ op: "add", space, ...(session !== "" && { session }), existing: "same", items });
  }

  ask(text: string, asking: Asking = {}) {
    return this.buffer.query(...asked(text, asking));
  }

  /** Answers ahead of time, and holds the answer as the SpeculativeBuffer does. */
  async prefetch(text: string, asking: Asking = {}): Promise<string> {
    const prefetched = await this.buffer.prefetch(...asked(text, asking));
    if (prefetched.outcome === "ready") this.ahead.set(prefetched.entry.key, prefetched.entry);
    return prefetched.outcome;
  }

  /** The contents of the answer. */
  async tell(text: string, asking: Asking = {}): Promise<readonly string[]> {
    return (await this.ask(text, asking)).map(({ content }) => content);
  }

  /** Where answers came from so far. */
  get origins() {
    const { answers, rankings, victims, ahead, shared, misses } = this.buffer.stats;
    return { answers: answers.hits, rankings: rankings.hits, victims: victims.hits, ahead: ahead.hits, shared, misses };
  }
}

function asked(
  text: string,
  { space = ADA as SpaceRef, session = "", ...rest }: Asking,
): [{ readonly space: SpaceRef; readonly session?: string }, ParsedQuery] {
  const { topK = 10, offset = 0, sortBy = "score", order = "desc", explain, ...question } = rest;
  const place = session === "" ? { space } : { space, session };
  const presentation = { topK, offset, sortBy, order, ...(explain && { explain }) };
  const all = { text, spaces: [space], filter: {}, depth: 50, bufferOnly: false, recency: 0, ...question };
  return [place, { question: all, presentation }];
}

type Asking = Partial<Question> & Partial<Presentation> & { readonly space?: SpaceRef; readonly session?: string };

const none = { answers: 0, rankings: 0, victims: 0, ahead: 0, shared: 0, misses: 0 };

/** A promise and the hand that lets it go. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("an answer made ahead of time", () => {
  it("is served once to the question it answers, without a search and without a read; then it is cached", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    expect(await desk.prefetch("cat")).toBe("ready");
    expect([desk.searches.length, desk.reads, desk.origins]).toEqual([1, 1, none]);
    const first = await desk.ask("cat");
    expect(first.map(({ content }) => content)).toEqual(["a cat"]);
    expect(desk.ahead.size).toBe(0);
    expect(await desk.ask("cat")).toBe(first);
    expect([desk.searches.length, desk.reads]).toEqual([1, 1]);
    expect(desk.origins).toEqual({ ...none, ahead: 1, answers: 1 });
  });

  it("is served to another page of the same question as a ranking", async () => {
    const desk = await Desk.open();
    await desk.add(["cat", "cat and dog", "cat and dog and bird"]);
    await desk.prefetch("cat", { topK: 1 });
    expect(await desk.tell("cat", { topK: 1, offset: 1 })).toEqual(["cat and dog"]);
    expect(desk.searches.length).toBe(1);
    expect(desk.origins).toEqual({ ...none, ahead: 1 });
  });

  it("is not served to another question, filter, space or depth, nor after a write", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    await desk.add(["a cat of bob"], { space: BOB });
    await desk.prefetch("cat", { depth: 1, topK: 1 });
    for (const asking of [{ filter: { roles: ["user" as const] } }, { space: BOB }, { depth: 9 }, { recency: 0.5 }])
      await desk.ask("cat", asking);
    await desk.ask("dog");
    await desk.add(["another cat"]);
    expect(await desk.tell("cat", { depth: 2, topK: 2 })).toHaveLength(2);
    expect(desk.origins).toEqual({ ...none, misses: 6 });
  });

  it("is not made again if it is there, here or in the cache", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    expect([await desk.prefetch("cat"), await desk.prefetch("cat")]).toEqual(["ready", "known"]);
    await desk.ask("dog");
    expect(await desk.prefetch("dog")).toBe("known");
    await desk.add(["a second cat"]);
    expect(await desk.prefetch("cat")).toBe("ready");
    expect(desk.searches.length).toBe(3);
  });

  it("is not made while a question is in progress", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    const { passed, open } = gate();
    desk.after = passed;
    const asking = desk.ask("dog");
    await settle();
    expect(await desk.prefetch("cat")).toBe("busy");
    open();
    await asking;
    expect(await desk.prefetch("cat")).toBe("ready");
  });

  it("is given up when another question is searched, or something is written", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    for (const come of [() => desk.tell("dog"), async () => desk.buffer.interrupt()]) {
      const { passed, open } = gate();
      desk.before = passed;
      const prefetching = desk.prefetch("cat");
      await settle();
      desk.before = Promise.resolve();
      await come();
      open();
      expect(await prefetching).toBe("stopped");
    }
    expect(await desk.tell("cat")).toEqual(["a cat"]);
    expect(desk.origins).toEqual({ ...none, misses: 2 });
  });

  it("runs beside another, and both are given up together", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    const { passed, open } = gate();
    desk.before = passed;
    const prefetching = [desk.prefetch("cat"), desk.prefetch("dog")];
    await settle();
    expect(desk.searches.length).toBe(2);
    desk.buffer.interrupt();
    open();
    expect(await Promise.all(prefetching)).toEqual(["stopped", "stopped"]);
  });

  it("is joined by the question itself, which no other question then interrupts", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    const { passed, open } = gate();
    desk.before = passed;
    const prefetching = desk.prefetch("cat");
    await settle();
    const asking = desk.tell("cat");
    await settle();
    desk.before = Promise.resolve();
    await desk.ask("dog");
    desk.buffer.interrupt();
    open();
    expect(await asking).toEqual(["a cat"]);
    expect(await prefetching).toBe("ready");
    expect(desk.searches.length).toBe(2);
    expect(desk.origins).toEqual({ ...none, shared: 1, misses: 1 });
  });

  it("is not joined once it was given up, because its search fails", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    const { passed, open } = gate();
    desk.before = passed;
    const prefetching = desk.prefetch("cat");
    await settle();
    desk.buffer.interrupt();
    const asking = desk.tell("cat");
    await settle();
    open();
    expect(await asking).toEqual(["a cat"]);
    expect(await prefetching).toBe("stopped");
    expect(desk.origins).toEqual({ ...none, misses: 1 });
  });

  it("is not kept if the cache would not keep it, or its space is forgotten meanwhile", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    desk.change = (ranking) => ({ ...ranking, partial: true });
    expect(await desk.prefetch("cat")).toBe("unusable");
    desk.change = (ranking) => ranking;
    const { passed, open } = gate();
    desk.after = passed;
    const prefetching = desk.prefetch("cat");
    await settle();
    desk.buffer.forget(ADA);
    open();
    expect(await prefetching).toBe("unusable");
  });

  it("fails with its search", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat"]);
    desk.change = () => {
      throw new Error("the search failed");
    };
    await expect(desk.prefetch("cat")).rejects.toThrow("the search failed");
  });
});

describe("a question that is repeated", () => {
  it("gets the very same answer, without a search and without a read", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat", "a dog"]);
    const first = await desk.ask("cat");
    expect(first.map(({ content }) => content)).toEqual(["a cat"]);
    expect(await desk.ask("cat")).toBe(first);
    expect(desk.searches.length).toBe(1);
    expect(desk.reads).toBe(1);
    expect(desk.origins).toEqual({ ...none, answers: 1, misses: 1 });
  });

  it("is ranked once for all its pages, sortings and sizes: only content is read", async () => {
    const desk = await Desk.open();
    await desk.add(["cat", "cat and dog", "cat and dog and bird"]);
    expect(await desk.tell("cat", { topK: 2 })).toEqual(["cat", "cat and dog"]);
    expect(await desk.tell("cat", { topK: 2, offset: 2 })).toEqual(["cat and dog and bird"]);
    expect(await desk.tell("cat", { topK: 2, order: "asc" })).toEqual(["cat and dog", "cat"]);
    expect(desk.searches.length).toBe(1);
    expect(desk.reads).toBe(3);
    expect(desk.origins).toEqual({ ...none, rankings: 2, misses: 1 });
  });

  it("is ranked again if more hits are requested than were ranked, unless there are no more", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2", "cat 3"]);
    await desk.ask("cat", { depth: 2, topK: 2 });
    expect((await desk.ask("cat", { depth: 3, topK: 2 })).length).toBe(2);
    expect(desk.searches.map(({ depth }) => depth)).toEqual([2, 3]);
    await desk.ask("cat", { depth: 9, topK: 2 });
    expect(desk.searches.map(({ depth }) => depth)).toEqual([2, 3, 9]);
    await desk.ask("cat", { depth: 900, topK: 2 }); // three is all there is
    expect(desk.searches.length).toBe(3);
  });

  it("keeps the deeper of two rankings, whichever came last", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2", "cat 3"]);
    const { passed, open } = gate();
    desk.after = passed;
    const shallow = desk.ask("cat", { depth: 1, topK: 1 });
    await settle();
    desk.after = Promise.resolve();
    await desk.ask("cat", { depth: 2, topK: 2 });
    open();
    await shallow;
    await desk.ask("cat", { depth: 2, topK: 2 });
    expect(desk.searches.map(({ depth }) => depth)).toEqual([1, 2]);
  });

  it("is ranked as deep as its page requires, regardless of the requested depth", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2", "cat 3"]);
    expect((await desk.ask("cat", { depth: 1, offset: 1, topK: 2 })).length).toBe(2);
    expect(desk.searches[0]?.depth).toBe(3);
  });

  it("is another question in another space, with another filter, time or weight; not with another deadline", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    await desk.add(["cat of bob"], { space: BOB });
    const others: Asking[] = [
      {},
      { space: BOB },
      { filter: { sessions: ["two"] } },
      { askedAt: 5 },
      { recency: 0.1 },
      { spaces: [ADA, BOB] },
    ];
    const answers: (readonly string[])[] = [];
    for (const other of others) answers.push((await desk.tell("cat", other)).toSorted());
    expect(answers).toEqual([["cat"], ["cat of bob"], [], ["cat"], ["cat"], ["cat", "cat of bob"]]);
    await desk.ask("cat", { deadlineMs: 100 });
    expect(desk.origins).toEqual({ ...none, answers: 1, misses: others.length });
  });

  it("marks for each session which hits are its own", async () => {
    const desk = await Desk.open();
    await desk.add(["cat in one"], { session: "one" });
    await desk.add(["cat in two"], { session: "two" });
    const scopes = async (asking: Asking) =>
      Object.fromEntries((await desk.ask("cat", asking)).map(({ content, scope }) => [content, scope]));
    const [own, other] = ["in_session", "cross_session"];
    expect(await scopes({ session: "one" })).toEqual({ "cat in one": own, "cat in two": other });
    expect(await scopes({ session: "two" })).toEqual({ "cat in one": other, "cat in two": own });
    expect(await scopes({})).toEqual({ "cat in one": other, "cat in two": other });
    const elsewhere = { spaces: [ADA], space: BOB, session: "one" };
    expect(await scopes(elsewhere)).toEqual({ "cat in one": other, "cat in two": other });
    expect(desk.searches.length).toBe(1);
  });

  it("is forgotten by `clear`, also if its search was under way", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    await desk.ask("cat");
    desk.buffer.clear();
    expect(desk.buffer.stats).toMatchObject({ bytes: 0, answers: { entries: 0 } });
    const { passed, open } = gate();
    desk.before = passed;
    const asked = desk.ask("cat");
    await settle();
    desk.buffer.clear();
    open();
    await asked;
    expect(desk.buffer.stats).toMatchObject({ bytes: 0, answers: { entries: 0 } });
    await desk.ask("cat");
    expect(desk.searches.length).toBe(3);
  });
});

describe("after `clear`", () => {
  it("questions share the searches begun since, not those begun before", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    const old = gate();
    desk.after = old.passed;
    const first = desk.ask("cat");
    await settle();
    desk.buffer.clear();
    const young = gate();
    desk.after = young.passed;
    const second = desk.ask("cat");
    await settle();
    old.open();
    await first;
    const third = desk.ask("cat");
    await settle();
    young.open();
    expect(await third).toBe(await second);
    expect(desk.searches.length).toBe(2);
  });
});

describe("never stale:", () => {
  it("query; add; query sees the new message", async () => {
    const desk = await Desk.open();
    await desk.add(["a cat"]);
    expect(await desk.tell("cat")).toEqual(["a cat"]);
    await desk.add(["the cat sleeps well"]);
    expect((await desk.tell("cat")).toSorted()).toEqual(["a cat", "the cat sleeps well"]);
    expect((await desk.tell("cat", { topK: 5 })).length).toBe(2);
  });

  it("query of nothing; add; query sees the first message of a space", async () => {
    const desk = await Desk.open();
    expect(await desk.tell("cat")).toEqual([]);
    expect(await desk.tell("cat")).toEqual([]);
    expect(desk.searches.length).toBe(1);
    await desk.add(["a cat"]);
    expect(await desk.tell("cat")).toEqual(["a cat"]);
  });

  it("after an edit no answer has the old text, on any page", async () => {
    const desk = await Desk.open();
    await desk.add(["cat here", "cat there"]);
    await desk.ask("cat");
    await desk.ask("cat", { topK: 1 });
    await desk.write({ op: "update", space: ADA, id: "cat here", patch: { content: "dog here" } });
    expect(await desk.tell("cat")).toEqual(["cat there"]);
    expect(await desk.tell("cat", { topK: 1 })).toEqual(["cat there"]);
    expect(await desk.tell("cat", { topK: 2 })).toEqual(["cat there"]);
  });

  it("after a delete no answer has the item", async () => {
    const desk = await Desk.open();
    await desk.add(["cat here", "cat there"]);
    await desk.ask("cat");
    await desk.write({ op: "forget", target: { space: ADA, ids: ["cat here"] } });
    expect(await desk.tell("cat")).toEqual(["cat there"]);
  });

  it("after a session was renamed hits have its new name", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"], { session: "one" });
    await desk.ask("cat");
    await desk.write({ op: "amend", entry: { kind: "session", name: "one", space: ADA }, name: "uno" });
    expect((await desk.ask("cat", { session: "uno" }))[0]).toMatchObject({ session: "uno", scope: "in_session" });
    expect((await desk.ask("cat"))[0]?.session).toBe("uno");
  });

  it("a space that was forgotten and created again under its name has none of the old answers", async () => {
    const desk = await Desk.open();
    await desk.add(["old cat"]);
    await desk.ask("cat");
    await desk.write({ op: "forget", target: { space: ADA, entry: true } });
    expect(await desk.tell("cat")).toEqual([]);
    await desk.add(["new cat"]);
    expect(await desk.tell("cat")).toEqual(["new cat"]);
  });

  it("a space that takes the name of another has none of its answers, even at the same version", async () => {
    const desk = await Desk.open();
    const add = (space: SpaceRef, content: string): Write => ({
      op: "add",
      space,
      existing: "same",
      items: [{ id: content, kind: "message", content, metadata: {}, tier: "episodic", occurredAt: 1 }],
    });
    await desk.write(add(ADA, "cat of ada"), add(BOB, "cat of bob"));
    expect(await desk.store.versions([ADA, BOB])).toMatchObject([{ version: 1 }, { version: 1 }]);
    expect(await desk.tell("cat", { space: BOB })).toEqual(["cat of bob"]);
    await desk.write({ op: "forget", target: { space: BOB, entry: true } });
    await desk.write({ op: "amend", entry: { kind: "user", name: "ada" }, name: "bob" });
    expect(await desk.tell("cat", { space: BOB })).toEqual(["cat of ada"]);
    expect(await desk.tell("cat")).toEqual([]);
    await desk.write({ op: "amend", entry: { kind: "user", name: "bob" }, name: "ada" });
    expect(await desk.tell("cat")).toEqual(["cat of ada"]);
    expect(await desk.tell("cat", { space: BOB })).toEqual([]);
  });

  it("a search begun before an add is not served to a question asked after it, nor kept for it", async () => {
    const desk = await Desk.open();
    await desk.add(["old cat"]);
    const { passed, open } = gate();
    desk.after = passed; // it has searched, and is slow to answer
    const early = desk.tell("cat");
    await settle();
    await desk.add(["new cat"]);
    desk.after = Promise.resolve();
    expect((await desk.tell("cat")).toSorted()).toEqual(["new cat", "old cat"]);
    open();
    expect(await early).toEqual(["old cat"]);
    expect((await desk.tell("cat")).toSorted()).toEqual(["new cat", "old cat"]);
    expect(desk.searches.length).toBe(2); // the slow one did not take the newer one's place
  });

  it("an item that expires is in no answer from that moment on, without any write", async () => {
    const desk = await Desk.open();
    await desk.add(["short cat"], { expiresAt: desk.clock.now() + 1_000 });
    await desk.add(["long cat"]);
    expect((await desk.tell("cat")).length).toBe(2);
    desk.clock.advance(1_000);
    expect(await desk.tell("cat")).toEqual(["long cat"]);
  });

  it("what the space's retention ends is in no answer from that moment on", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    await desk.ask("cat");
    await desk.write({ op: "amend", entry: { kind: "user", name: "ada" }, retentionMs: 1_000 });
    expect(await desk.tell("cat")).toEqual(["cat"]);
    desk.clock.advance(1_000);
    expect(await desk.tell("cat")).toEqual([]);
  });

  it("what expires while an equal question is being answered is not in the answer of one asked later", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"], { expiresAt: desk.clock.now() + 1_000 });
    const { passed, open } = gate();
    desk.after = passed;
    const early = desk.tell("cat");
    await settle();
    desk.clock.advance(1_000);
    const late = desk.tell("cat");
    open();
    expect(await late).toEqual([]);
    expect(await early).toEqual([]);
  });
});

describe("what changed between search and read", () => {
  it("is dropped, its place is filled from the ranking, and neither is kept", async () => {
    const desk = await Desk.open();
    await desk.add(["cat", "cat and dog", "cat and dog and bird", "cat and dog and bird and fish"]);
    desk.beforeRead = async () => {
      desk.beforeRead = async () => {};
      await desk.write({ op: "update", space: ADA, id: "cat", patch: { content: "fish" } });
    };
    expect(await desk.tell("cat", { topK: 2 })).toEqual(["cat and dog", "cat and dog and bird"]);
    expect(desk.searches.length).toBe(1);
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 0 }, victims: { entries: 0 } });
  });

  it("is searched again if too few hits are left", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2"]);
    desk.beforeRead = async () => {
      desk.beforeRead = async () => {};
      await desk.write({ op: "update", space: ADA, id: "cat 1", patch: { content: "cat one" } });
    };
    expect((await desk.tell("cat")).toSorted()).toEqual(["cat 2", "cat one"]);
    expect(desk.searches.length).toBe(2);
    expect(desk.origins).toEqual({ ...none, misses: 1 });
    await desk.ask("cat"); // the second ranking is whole, and kept
    expect(desk.searches.length).toBe(2);
  });

  it("is searched for three times at most", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2"]);
    let edits = 0;
    desk.beforeRead = () =>
      desk.write({ op: "update", space: ADA, id: "cat 1", patch: { content: `cat ${++edits} times` } });
    expect(await desk.tell("cat")).toEqual(["cat 2"]);
    expect(desk.searches.length).toBe(3);
    expect(desk.buffer.stats.answers.entries).toBe(0);
  });

  it("is not taken for a cached answer: a ranking from L1 that lost an item is computed again", async () => {
    const desk = await Desk.open();
    await desk.add(["cat 1", "cat 2"]);
    await desk.ask("cat");
    desk.beforeRead = async () => {
      desk.beforeRead = async () => {};
      await desk.write({ op: "forget", target: { space: ADA, ids: ["cat 1"] } });
    };
    expect(await desk.tell("cat", { topK: 2 })).toEqual(["cat 2"]);
    expect(desk.searches.length).toBe(2);
  });
});

describe("questions asked at the same time", () => {
  it("share one search and one read if they are equal", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    const [first, second, page] = await Promise.all([
      desk.ask("cat"),
      desk.ask("cat"),
      desk.ask("cat", { topK: 1 }), // the same search, another page
    ]);
    expect(second).toBe(first);
    expect(page).toEqual(first);
    expect(page).not.toBe(first);
    expect(desk.searches.length).toBe(1);
    expect(desk.reads).toBe(2);
    expect(desk.origins).toEqual({ ...none, shared: 2, misses: 1 });
  });

  it("do not share a search with another deadline: it may be cut shorter", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    await Promise.all([desk.ask("cat"), desk.ask("cat", { deadlineMs: 5 }), desk.ask("cat", { deadlineMs: 5 })]);
    expect(desk.searches.map(({ deadlineMs }) => deadlineMs)).toEqual([undefined, 5]);
  });

  it("fail together, and the next one searches again", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    desk.before = Promise.reject(new Error("the search failed"));
    const answers = await Promise.allSettled([desk.ask("cat"), desk.ask("cat")]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(desk.searches.length).toBe(1);
    expect(desk.buffer.stats).toMatchObject({ queries: 0, answers: { entries: 0 } });
    desk.before = Promise.resolve();
    expect(await desk.tell("cat")).toEqual(["cat"]);
  });

  it("fail together if the read fails, and the ranking is still good for the next", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    desk.beforeRead = () => Promise.reject(new Error("the read failed"));
    const answers = await Promise.allSettled([desk.ask("cat"), desk.ask("cat")]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(desk.reads).toBe(1);
    desk.beforeRead = async () => {};
    expect(await desk.tell("cat")).toEqual(["cat"]);
    expect(desk.searches.length).toBe(1);
  });
});

describe("not kept:", () => {
  it.each<[string, Asking, (ranking: Ranking) => Ranking]>([
    ["what is partial", {}, (ranking) => ({ ...ranking, partial: true })],
    ["what is degraded", {}, (ranking) => ({ ...ranking, degraded: "no model" })],
    ["what depends on the clock", {}, (ranking) => ({ ...ranking, isClockBound: true })],
    [
      "what holds something that expires",
      {},
      (ranking) => ({ ...ranking, found: ranking.found.map((item) => ({ ...item, until: 9e15 })) }),
    ],
    ["what was asked of the buffers only", { bufferOnly: true }, (ranking) => ranking],
  ])("%s", async (_what, asking, change) => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    desk.change = change;
    await desk.ask("cat", asking);
    const { partial, degraded } = await desk.ask("cat", asking);
    const reading = { text: "cat", terms: [], refersBack: false };
    const changed = change({ found: [], candidates: 0, partial: false, isClockBound: false, sources: [], reading });
    expect({ partial, degraded }).toEqual({ partial: changed.partial, degraded: changed.degraded });
    expect(desk.searches.length).toBe(2);
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 0 }, victims: { entries: 0 } });
  });

  it("anything, if the cache is switched off; equal questions at the same time still share a search", async () => {
    const desk = await Desk.open({ cacheSize: 0 });
    await desk.add(["cat"]);
    await desk.ask("cat");
    expect(await desk.tell("cat")).toEqual(["cat"]);
    expect(desk.searches.length).toBe(2);
    await Promise.all([desk.ask("cat"), desk.ask("cat")]);
    expect(desk.searches.length).toBe(3);
    desk.buffer.clear();
    expect(desk.buffer.stats).toMatchObject({ queries: 4, bytes: 0, repeated: { questions: 0, hits: 0 } });
  });

  it("an answer that says how it came about; its ranking is", async () => {
    const desk = await Desk.open();
    await desk.add(["cat", "cat and dog", "bird"]);
    const explain = { ids: ["cat", "cat and dog", "bird", "fish"] };
    const plain = await desk.ask("cat", { topK: 1 });
    const told = await desk.ask("cat", { topK: 1, explain });
    expect(plain[0]).not.toHaveProperty("why");
    expect(plain).not.toHaveProperty("explanation");
    expect(told[0]?.why).toEqual({ exact: 0, role: 0, date: 0, session: 0, recency: 0 });
    expect(told.explanation).toMatchObject({
      question: { text: "cat" },
      origin: "rankings",
      candidates: 2,
      sources: [
        { source: "query", asked: true, found: 2 },
        { source: "words", found: 2 },
      ],
      missing: [
        { id: "cat and dog", why: "ranked 2; the answer shows places 1 to 1", ranked: { place: 2 } },
        { id: "bird", why: "no source found it" },
        { id: "fish", why: "not in these spaces, or expired" },
      ],
    });
    const [second, ...unranked] = told.explanation?.missing ?? [];
    const both = await desk.ask("cat", { topK: 2, explain: { ids: [] } });
    expect(second?.ranked).toEqual({ place: 2, score: both[1]?.score, why: both[1]?.why });
    for (const one of unranked) expect(one).not.toHaveProperty("ranked");
    expect(await desk.ask("cat", { topK: 1, explain })).not.toBe(told);
    expect(desk.searches.length).toBe(1);
    desk.buffer.clear();
    const fresh = await desk.ask("cat", { explain: { ids: [] } });
    expect(fresh.explanation?.sources[0]).toEqual({ source: "query", asked: true, found: 0, ms: 0 });
    expect(fresh.explanation).toMatchObject({ origin: "misses", missing: [] });
  });
});

describe("when L1 is full", () => {
  it("the least recently used entry moves to the victim cache and back: its ranking is kept, its content is read again", async () => {
    const desk = await Desk.open({ cacheSize: 2 });
    await desk.add(["cat", "dog", "bird"]);
    await desk.ask("cat");
    await desk.ask("dog");
    await desk.ask("cat");
    await desk.ask("bird"); // dog goes
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 2 }, victims: { entries: 1 } });
    const reads = desk.reads;
    expect(await desk.tell("dog")).toEqual(["dog"]); // cat goes
    expect(desk.reads).toBe(reads + 1);
    expect(desk.searches.length).toBe(3);
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 2 }, victims: { entries: 1 } });
    expect(desk.origins).toEqual({ ...none, answers: 1, victims: 1, misses: 3 });
    await desk.ask("dog");
    expect(desk.origins).toEqual({ ...none, answers: 2, victims: 1, misses: 3 });
    await desk.ask("cat");
    expect(desk.origins).toEqual({ ...none, answers: 2, victims: 2, misses: 3 });
  });

  it("a victim is not served after a write", async () => {
    const desk = await Desk.open({ cacheSize: 1 });
    await desk.add(["a cat"]);
    await desk.ask("cat");
    await desk.ask("dog");
    await desk.add(["another cat"]);
    expect((await desk.tell("cat")).length).toBe(2);
    expect(desk.origins).toEqual({ ...none, misses: 3 });
  });

  it("keeps four victims for each question in L1", async () => {
    const desk = await Desk.open({ cacheSize: 2 });
    for (let at = 0; at < 20; at++) await desk.ask(`cat ${at}`);
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 2 }, victims: { entries: 8 } });
  });

  it("a question asked again after writes takes one place, not one for every version", async () => {
    const desk = await Desk.open();
    for (let at = 0; at < 20; at++) {
      await desk.add([`cat ${at}`]);
      await desk.ask("cat");
    }
    expect(desk.buffer.stats).toMatchObject({ answers: { entries: 1 }, victims: { entries: 0 } });
  });
});

describe("the bytes", () => {
  const LONG = "x".repeat(2_000);

  it("of all that is kept stay within the bound: victims go first, then answers", async () => {
    const maxBytes = 100_000;
    const desk = await Desk.open({ maxBytes });
    const words = Array.from({ length: 60 }, (_, at) => `${"bcdfgh"[Math.floor(at / 10)]}o${"bcdfghjklm"[at % 10]}`);
    await desk.add(words.map((word) => `${word} ${LONG}`));
    for (const [at, word] of words.entries()) {
      await desk.ask(word);
      const { bytes, victims } = desk.buffer.stats;
      expect(bytes - 160 * (at + 1)).toBeLessThanOrEqual(maxBytes); // beside the hashes of what was asked
      expect(victims.entries).toBeLessThanOrEqual(2);
    }
    const { answers, bytes } = desk.buffer.stats;
    expect(answers.entries).toBeGreaterThan(10);
    expect(answers.entries).toBeLessThan(30);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
    await desk.ask("hom");
    expect(desk.origins.answers).toBe(1);
  });

  it("of one answer may take at most a quarter of the cache; larger answers are read again from the ranking", async () => {
    const desk = await Desk.open({ maxBytes: 100_000 });
    await desk.add([`cat ${"x".repeat(20_000)}`]);
    await desk.ask("dog");
    await desk.ask("cat");
    await desk.ask("cat");
    expect(desk.origins).toEqual({ ...none, rankings: 1, misses: 2 });
    await desk.ask("dog");
    expect(desk.origins.answers).toBe(1);
  });

  it("are gone with what they were of; a victim keeps no content", async () => {
    const desk = await Desk.open({ cacheSize: 1 });
    await desk.add([`cat ${LONG}`, `dog ${LONG}`]);
    await desk.ask("cat");
    const one = desk.buffer.stats.bytes;
    await desk.ask("dog");
    expect(desk.buffer.stats.bytes).toBeLessThan(2 * one - 2 * LONG.length);
    for (const text of ["cat", "dog", "cat", "bird", "dog"]) await desk.ask(text);
    expect(desk.origins).toEqual({ ...none, victims: 4, misses: 3 });
    await desk.add(["cat"]);
    for (const text of ["cat", "dog", "bird", "cat"]) await desk.ask(text, { topK: 3 });
    desk.buffer.clear();
    expect(desk.buffer.stats.bytes).toBe(0);
  });

  it("count metadata and parts", async () => {
    const light = await Desk.open();
    const heavy = await Desk.open();
    await light.add(["cat"]);
    await heavy.add(["cat"], { metadata: { deep: { list: [LONG, 1, null] } } });
    await light.ask("cat");
    await heavy.ask("cat");
    expect(heavy.buffer.stats.bytes).toBeGreaterThan(light.buffer.stats.bytes + 2 * LONG.length);
  });

  it("do not grow with the pages of one question", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"]);
    const weights: number[] = [];
    for (let topK = 11; topK <= 40; topK++) {
      await desk.ask("cat", { topK });
      weights.push(desk.buffer.stats.bytes);
    }
    expect(new Set(weights.slice(10)).size).toBe(1);
    await desk.ask("cat", { topK: 40 });
    expect(desk.origins.answers).toBe(1);
  });
});

describe("an answer", () => {
  it("cannot be changed by those who got it, anywhere in it", async () => {
    const desk = await Desk.open();
    await desk.add(["cat"], { metadata: { deep: { list: [1, { a: 1 }] } } });
    const hits = await desk.ask("cat", { explain: { ids: ["dog"] } });
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(hits)).toBe(true);
    const [hit] = await desk.ask("cat");
    expect(() => Object.assign(hit ?? {}, { content: "dog" })).toThrow(TypeError);
    expect(() => Object.assign(hit?.metadata["deep"] ?? {}, { more: 1 })).toThrow(TypeError);
    expect(() => Object.assign(hit?.space ?? {}, { user: "eve" })).toThrow(TypeError);
    expect(() => (hits as unknown as unknown[]).push(1)).toThrow(TypeError);
    expect(await desk.tell("cat")).toEqual(["cat"]);
  });

  it("sorts the best hits of any page by time on request", async () => {
    const desk = await Desk.open();
    for (const text of ["cat and dog", "cat", "cat and dog and bird", "cat and dog and bird and fish"]) {
      await desk.add([text]);
      desk.clock.advance(1_000);
    }
    const byTime = { sortBy: "timestamp", topK: 3 } as const;
    expect(await desk.tell("cat", byTime)).toEqual(["cat and dog and bird", "cat", "cat and dog"]);
    expect(await desk.tell("cat", { ...byTime, order: "asc" })).toEqual(["cat and dog", "cat", "cat and dog and bird"]);
    expect(await desk.tell("cat", { ...byTime, offset: 3 })).toEqual(["cat and dog and bird and fish"]);
    expect(await desk.tell("cat", { ...byTime, offset: 4 })).toEqual([]);
  });
});

describe("the numbers", () => {
  it("say where answers came from, how long they took, and which level found the hits", async () => {
    const desk = await Desk.open();
    await desk.add(["cat", "cat and dog"]);
    desk.change = (ranking) => ({
      ...ranking,
      found: ranking.found.map((item, at) => ({ ...item, level: at === 0 ? "round" : "hybrid" })),
    });
    await Promise.all([desk.ask("cat"), desk.ask("cat")]);
    await desk.ask("cat");
    await desk.ask("cat", { topK: 1 });
    const { queries, levels, latency, answers } = desk.buffer.stats;
    expect(queries).toBe(4);
    expect(answers).toEqual({ hits: 1, entries: 1, evictions: 0 });
    expect(levels).toEqual({ round: 2, hybrid: 1, store: 0 }); // read for the first page, and for the second
    expect(latency).toMatchObject({ cached: { count: 2 }, cold: { count: 2 } });
    expect(desk.meter.latencies.query.count).toBe(4);
  });

  it("count repeated questions separately from new ones, regardless of writes in between", async () => {
    const desk = await Desk.open({ cacheSize: 2 });
    await desk.add(["cat"]);
    for (const text of ["cat", "dog", "bird"]) await desk.ask(text);
    expect(desk.buffer.stats.repeated).toEqual({ questions: 0, hits: 0 });
    await desk.ask("cat", { topK: 3 });
    expect(desk.buffer.stats.repeated).toEqual({ questions: 1, hits: 1 });
    await desk.add(["another cat"]);
    await desk.ask("cat");
    expect(desk.buffer.stats.repeated).toEqual({ questions: 2, hits: 1 });
    desk.change = (ranking) => ({ ...ranking, partial: true });
    await desk.ask("fish");
    await desk.ask("fish"); // not kept, but asked before
    expect(desk.buffer.stats.repeated).toEqual({ questions: 3, hits: 1 });
  });
});
