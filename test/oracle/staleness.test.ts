/** Every way in which an answer could be stale, by name. Edits and forgets have their own suite (forgotten.test.ts). */
import { type Hits, type Memory, type OpenOptions, openMemory, type Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { ONE_MIRROR_BYTES, openService } from "./service.js";
import { SlowIndex } from "./slow-index.js";

const DAY = 86_400_000;
const OLD = "blue kettle";
const NEW = "yellow boat";
const said = (content: string, id?: string) => ({ role: "user" as const, content, ...(id !== undefined && { id }) });
const texts = (hits: Hits) => hits.map(({ content }) => content);
const first = (hits: Hits) => hits[0]?.content;

/** Answers of the QueryBuffer by their origin. */
function origins({ service }: Memory) {
  const { answers, rankings, victims, shared, misses } = service.buffers.query;
  return { answers: answers.hits, rankings: rankings.hits, victims: victims.hits, shared, misses };
}

/** By this clock no time passes: a question waits for what is embedded as long as that takes. */
const embedding = (): OpenOptions => ({ clock: new FakeClock(), embedder: new MirrorEmbedder() });
const GATHERING = { roundBuffer: { eager: false } };
const HOLDING = { hybridBuffer: { maxSize: 1_000 } };

describe("query; add; query", () => {
  it.each(["this process", "another one"])("shows what %s has added, by words and by meaning", async (who) => {
    const path = newPath();
    const memory = await open({ path, ...embedding() });
    const other = who === "this process" ? memory : await open({ path, ...embedding() });
    const session = memory.session({ user: "ada" });
    await other.session({ user: "ada", session: "s" }).add([said("green lamp")]);
    await memory.flush();
    for (const question of [OLD, mirrored(OLD)]) {
      for (let time = 0; time < 2; time++) expect(texts(await session.query(question))).toEqual(["green lamp"]);
    }
    await other.session({ user: "ada", session: "s" }).add([said(OLD)]);
    for (const question of [OLD, mirrored(OLD)]) expect(first(await session.query(question))).toBe(OLD);
  });
});

describe("a question in progress", () => {
  /** The question's vector is on hold. */
  async function underWay() {
    const embedder = new MirrorEmbedder();
    const memory = await open({ path: ":memory:", clock: new FakeClock(), embedder });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD, "old"), said("green lamp")]);
    await memory.flush();
    const release = embedder.stall();
    const asking = session.query(OLD);
    await until(() => embedder.waiting === 1);
    return { memory, session, embedder, release, asking };
  }

  it("shows nothing that is deleted or edited before it ends", async () => {
    for (const isEdit of [true, false]) {
      const { session, release, asking } = await underWay();
      await (isEdit ? session.update("old", { content: NEW }) : session.delete(["old"]));
      release();
      expect(texts(await asking)).not.toContain(OLD);
      expect(texts(await session.query(OLD))).not.toContain(OLD);
    }
  });

  it("is not shared with one that was asked after an add, and leaves no stale answer", async () => {
    const { memory, session, release, asking } = await underWay();
    const joined = session.query(OLD);
    await session.add([said("another blue kettle")]);
    const later = session.query(OLD);
    await session.list(); // it has read the versions by now, and joined another search or not
    release();
    expect(texts(await later)).toContain("another blue kettle");
    expect(await joined).toBe(await asking);
    expect(texts(await session.query(OLD))).toContain("another blue kettle");
    expect(origins(memory).shared).toBe(1);
  });
});

describe("vectors that become searchable", () => {
  it("change the answer that was partial without them; that one was not kept", async () => {
    const memory = await open({ path: ":memory:", ...embedding(), buffer: GATHERING });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD), ...Array.from({ length: 20 }, (_, at) => said(`green lamp ${at}`))]);
    for (let time = 0; time < 2; time++) {
      const hits = await session.query(mirrored(OLD), { topK: 5 });
      expect(hits.partial).toBe(true);
      expect(texts(hits)).not.toContain(OLD);
    }
    expect(origins(memory)).toMatchObject({ misses: 2, answers: 0 });
    await memory.flush();
    const hits = await session.query(mirrored(OLD), { topK: 5 });
    expect([hits.partial, first(hits)]).toEqual([false, OLD]);
  });

  it("prevent an older answer from being served, even if it was complete", async () => {
    const memory = await open({ path: ":memory:", ...embedding(), buffer: GATHERING });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD)]);
    const levels = async () => (await session.query(mirrored(OLD))).map(({ content, level }) => [content, level]);
    expect(await levels()).toEqual([[OLD, "round"]]);
    expect(await levels()).toEqual([[OLD, "round"]]);
    expect(origins(memory)).toMatchObject({ misses: 1, answers: 1 });
    await memory.flush();
    expect(await levels()).toEqual([[OLD, "store"]]);
    expect(origins(memory)).toMatchObject({ misses: 2, answers: 1 });
  });
});

describe("vectors of parked items", () => {
  it("count as soon as they are embedded, even if an answer without them was complete", async () => {
    const [clock, embedder] = [new FakeClock(), new MirrorEmbedder()];
    embedder.refuse((text) => text.includes("ereh")); // as the embedder sees "here"
    const memory = await open({ path: ":memory:", clock, embedder, buffer: HOLDING });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(`${OLD} here`), said("green lamp")]);
    expect(await memory.flush()).toMatchObject({ parked: 1 });
    const question = mirrored(OLD);
    for (let time = 0; time < 2; time++) expect(texts(await session.query(question))).toEqual(["green lamp"]);
    embedder.refuse(() => false);
    expect(await session.replay()).toBe(1);
    await until(() => memory.service.buffers.hybrid?.itemCount === 1);
    expect(first(await session.query(question))).toBe(`${OLD} here`);
  });
});

describe("time alone", () => {
  async function clocked() {
    const clock = new FakeClock(Date.UTC(2026, 3, 15, 12));
    const memory = await open({ path: ":memory:", ...embedding(), clock });
    return { clock, memory, session: memory.session({ user: "ada", session: "s" }) };
  }

  it("removes expired items from every answer", async () => {
    const { clock, memory, session } = await clocked();
    await session.add([{ ...said(OLD), expiresAt: clock.now() + DAY }, said("green lamp")]);
    await memory.flush();
    for (const question of [OLD, mirrored(OLD)]) expect(first(await session.query(question))).toBe(OLD);
    clock.set(clock.now() + DAY);
    for (const question of [OLD, mirrored(OLD)]) expect(texts(await session.query(question))).toEqual(["green lamp"]);
  });

  it("removes the words that an expired item lent, even from hits that a filter selects", async () => {
    const { clock, memory, session } = await clocked();
    await session.add([
      { role: "assistant", content: OLD, expiresAt: clock.now() + DAY },
      said("green lamp"),
      said("white chair"),
    ]);
    await memory.flush();
    const wordsOf = async () =>
      (await session.query("kettle", { role: "user", explain: true })).map(({ why }) => why?.words?.score);
    await session.query("kettle", { role: "user" });
    expect((await wordsOf()).every((score) => Number(score) > 0)).toBe(true);
    clock.set(clock.now() + DAY);
    expect(await wordsOf()).toEqual([0, 0]);
  });

  it("removes the words that an expired item lent to hits found by meaning alone", async () => {
    const { clock, memory } = await clocked();
    // So many mention kettles that words do not return all of them.
    for (let at = 0; at < 160; at++) {
      const content = `kettle kettle kettle ${"abcdefgh".replace(/./g, (letter) => `${letter}${at} `)}`;
      await memory.session({ user: "ada", session: `s${at}` }).add([{ role: "assistant", content }]);
    }
    const lender = `one kettle and ${Array.from({ length: 30 }, (_, at) => `word${at}`).join(" ")}`;
    const session = memory.session({ user: "ada", session: "x" });
    await session.add([{ ...said(lender), expiresAt: clock.now() + DAY }, said(mirrored("kettle"), "found")]);
    await memory.flush();
    const words = async () => {
      const hits = await session.query("kettle", { explain: true });
      return hits.find(({ id }) => id === "found")?.why?.words?.score;
    };
    await session.query("kettle");
    expect(await words()).toBeGreaterThan(0);
    clock.set(clock.now() + DAY);
    expect(await words()).toBe(0);
  });

  it("removes what is past its space's retention, and a longer one brings it back", async () => {
    const { clock, memory, session } = await clocked();
    await session.add([said(OLD)]);
    for (let time = 0; time < 2; time++) await session.query(OLD);
    await memory.users.retain("ada", 10 * DAY);
    expect(await session.query(OLD)).toHaveLength(1);
    clock.set(clock.now() + 10 * DAY);
    for (const question of [OLD, mirrored(OLD)]) expect(await session.query(question)).toHaveLength(0);
    await memory.users.retain("ada", 20 * DAY);
    for (const question of [OLD, mirrored(OLD)]) expect(await session.query(question)).toHaveLength(1);
  });

  it("moves last week", async () => {
    const { clock, memory, session } = await clocked();
    await session.add([
      { ...said("kettle one"), occurredAt: clock.now() - 9 * DAY },
      { ...said("kettle two"), occurredAt: clock.now() + 19 * DAY },
    ]);
    await memory.flush();
    const best = async () => first(await session.query("kettle last week"));
    expect([await best(), await best()]).toEqual(["kettle one", "kettle one"]);
    clock.set(clock.now() + 28 * DAY);
    expect(await best()).toBe("kettle two");
  });

  it("ages new items, for queries that prefer recent ones", async () => {
    const { clock, memory, session } = await clocked();
    await session.add([said(OLD)]);
    await memory.flush();
    const score = async () => (await session.query(OLD, { recency: 1 }))[0]?.score;
    const before = await score();
    clock.set(clock.now() + 30 * DAY);
    expect(Number(before) - Number(await score())).toBeCloseTo(0.5, 6);
  });
});

describe("what is changed beside a message", () => {
  it("shows: another name of its session, its agent and its space", async () => {
    const path = newPath();
    const memory = await open({ path, ...embedding() });
    const other = await open({ path, ...embedding() });
    await memory.session({ user: "ada", agent: "tutor", session: "s" }).add([said(OLD)]);
    const ask = async (user: string) =>
      (await memory.session({ user }).query(OLD)).map(({ session, agent, space }) => ({ session, agent, space }));
    const shown = { session: "s", agent: "tutor", space: { user: "ada" } };
    for (let time = 0; time < 2; time++) expect(await ask("ada")).toEqual([shown]);
    await other.sessions.rename({ user: "ada" }, "s", "monday");
    expect(await ask("ada")).toEqual([{ ...shown, session: "monday" }]);
    await other.agents.rename("tutor", "teacher");
    expect(await ask("ada")).toEqual([{ ...shown, session: "monday", agent: "teacher" }]);
    await other.users.rename("ada", "lady ada");
    expect(await ask("ada")).toEqual([]);
    expect(await ask("lady ada")).toEqual([{ session: "monday", agent: "teacher", space: { user: "lady ada" } }]);
  });

  it("leaves nothing in memory under the name that its space had", async () => {
    const memory = await open({ path: ":memory:", ...embedding(), buffer: GATHERING });
    await memory.session({ user: "ada", session: "s" }).add([said(OLD)]);
    await memory.session({ user: "ada" }).query(OLD);
    expect(memory.service.buffers.hybrid?.itemCount).toBe(1);
    await memory.users.rename("ada", "lady ada");
    await memory.flush();
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
    expect(texts(await memory.session({ user: "lady ada" }).query(mirrored(OLD)))).toEqual([OLD]);
  });

  it("counts: the words of its neighbour", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said("about a kettle", "one"), said("yes", "two")]);
    const ask = async () => (await session.query("kettle")).map(({ id }) => id);
    expect([await ask(), await ask()]).toEqual([
      ["one", "two"],
      ["one", "two"],
    ]);
    await session.update("one", { content: "about a boat" });
    expect(await ask()).toEqual([]);
    await session.update("one", { content: "a kettle again" });
    expect(await ask()).toEqual(["one", "two"]);
    await session.delete(["one"]);
    expect(await ask()).toEqual([]);
  });

  it("counts: the rest of its space, by which words are rare", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada" });
    await session.add([said("kettle", "kettle"), said("lamp", "lamp"), said("lamp post", "post")]);
    expect(first(await session.query("kettle lamp"))).toBe("kettle");
    await session.add(Array.from({ length: 5 }, () => said("kettle kettle and other things")));
    expect(first(await session.query("kettle lamp"))).toBe("lamp");
  });

  it("is another space, even with the same name", async () => {
    const memory = await open({ path: ":memory:", ...embedding() });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD, "one")]);
    for (let time = 0; time < 2; time++) expect(texts(await session.query(OLD))).toEqual([OLD]);
    await memory.users.rename("ada", "lady ada");
    await session.add([said("green kettle", "one")]);
    for (const question of [OLD, mirrored(OLD)]) expect(texts(await session.query(question))).toEqual(["green kettle"]);
    await memory.forget({ user: "ada" });
    expect(await session.query(OLD)).toHaveLength(0);
    await session.add([said("white kettle", "one")]);
    for (const question of [OLD, mirrored(OLD)]) expect(texts(await session.query(question))).toEqual(["white kettle"]);
  });
});

describe("state kept elsewhere", () => {
  it("of a space whose vectors were evicted and loaded again is current", async () => {
    const path = newPath();
    const setting = { strategy: "message", eager: true, cacheSize: 0, queryBytes: 1_000_000 } as const;
    const embedder = new MirrorEmbedder();
    const memory = await openService({
      path,
      clock: new FakeClock(),
      embedder,
      mirrorBytes: ONE_MIRROR_BYTES,
      ...setting,
    });
    const [ada, ben] = ["ada", "ben"].map((user) => memory.session({ user, session: "s" })) as [Session, Session];
    for (const session of [ada, ben]) await session.add([said(OLD, "old"), said("green lamp", "lamp")]);
    await memory.flush();
    for (const session of [ada, ben]) expect(first(await session.query(mirrored(OLD)))).toBe(OLD);
    await ada.update("old", { content: NEW });
    await memory.flush();
    expect(texts(await ada.query(mirrored(OLD)))).not.toContain(OLD);
    expect(first(await ada.query(mirrored(NEW)))).toBe(NEW);
    await ben.delete(["old"]);
    expect(texts(await ben.query(mirrored(OLD)))).toEqual(["green lamp"]);
    await memory.close();
  });

  it("of an external index that is behind is corrected from the file", async () => {
    const index = new SlowIndex();
    const memory = await open({ path: ":memory:", ...embedding(), vectorIndex: index });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD, "old"), said("green lamp", "lamp"), said("white chair", "chair")]);
    await memory.flush();
    await until(() => index.size === 3);
    expect(first(await session.query(mirrored(OLD)))).toBe(OLD);
    expect(index.searches).toBeGreaterThan(0);
    const release = index.hold();
    await session.update("old", { content: NEW });
    await session.delete(["lamp"]);
    await session.add([said("red bottle")]);
    const expectNow = async () => {
      expect(texts(await session.query(mirrored(OLD))).filter((text) => text === OLD || text === "green lamp")).toEqual(
        [],
      );
      for (const text of [NEW, "red bottle", "white chair"])
        expect(first(await session.query(mirrored(text)))).toBe(text);
    };
    await expectNow();
    await memory.service.flush();
    await expectNow();
    expect((await memory.stats()).store.unsent).toBeGreaterThan(0);
    release();
    await until(async () => (await memory.stats()).store.unsent === 0);
    await expectNow();
  });

  it("of another open memory is not stale: it reads what is there", async () => {
    const path = newPath();
    const memory = await open({ path, ...embedding() });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([said(OLD, "old")]);
    for (let time = 0; time < 2; time++) await session.query(OLD);
    const other = await openMemory({ path, ...embedding() });
    await other.session({ user: "ada" }).update("old", { content: NEW });
    await other.close();
    expect(texts(await session.query(OLD))).toEqual([NEW]);
  });
});
