/**
 * Extraction through a session: what is read, what is written, and that a failure neither loses nor duplicates facts.
 */
import type { ExtractionRequest, Extractor, FactDraft, Session } from "holdfast";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { begin, contents, DAY, livesIn, NOON, reopen } from "./city.js";

type Answer = (request: ExtractionRequest, signal: AbortSignal) => unknown;

/** Answers as configured and records its requests. By default it drafts a fact from every message. */
class Reader implements Extractor {
  readonly name = "reader";
  readonly requests: ExtractionRequest[] = [];
  answer: Answer = ({ messages }) => messages.map(({ id, content }) => draft(content, { source: id }));

  async extract(request: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]> {
    this.requests.push(request);
    return (await this.answer(request, signal)) as readonly FactDraft[];
  }

  /** What it was shown, request by request. */
  get read(): readonly (readonly string[])[] {
    return this.requests.map(({ messages }) => contents(messages));
  }
}

const draft = (content: string, more: Partial<FactDraft> = {}): FactDraft => ({
  category: "said",
  content,
  confidence: 0.8,
  ...more,
});

const say = (session: Session, ...texts: string[]) =>
  session.add(texts.map((content) => ({ role: "user" as const, content })));

const known = async (session: Session) => contents((await session.facts.list()).items);

describe("extracting", () => {
  it("reads what is new, once, and continues there after a restart", async () => {
    const extractor = new Reader();
    let life = await begin({ path: newPath(), extractor });
    await say(life.session, "one", "two");
    const { facts, ...rest } = await life.session.facts.extract();
    expect(rest).toEqual({ messages: 2, refused: [] });
    expect(contents(facts)).toEqual(["one", "two"]);
    expect(contents(await life.session.query("two", { kind: "fact" }))).toEqual(["two"]);
    expect(await life.session.facts.extract()).toEqual({ messages: 0, facts: [], refused: [] });
    life = await reopen(life, { extractor });
    await say(life.session, "three");
    await life.session.facts.extract();
    expect(extractor.read).toEqual([["one", "two"], ["three"]]);
    expect(await known(life.session)).toEqual(["one", "two", "three"]);
  });

  it("shows messages of this session only, unchanged, and the facts that hold, newest first", async () => {
    const extractor = new Reader();
    const { session, memory, clock } = await begin({ extractor });
    await say(memory.session({ user: "ada", session: "tuesday" }), "elsewhere");
    await say(memory.session({ user: "bob", session: "monday" }), "his");
    await memory.session({ user: "bob" }).facts.upsert(livesIn("Rome"));
    await session.addItems([{ kind: "knowledge", content: "a manual" }]);
    await session.facts.upsert(livesIn("Faro"));
    await session.facts.end((await session.facts.upsert(livesIn("Braga"))).fact.id);
    await session.facts.upsert(livesIn("Porto"));
    clock.advance(DAY);
    await session.add([{ id: "m", role: "assistant", name: "Tutor", content: "hello", occurredAt: NOON }]);
    await session.facts.extract();
    expect(extractor.requests).toMatchObject([
      { messages: [{ id: "m", role: "assistant", name: "Tutor", content: "hello", occurredAt: NOON }] },
    ]);
    expect(contents(extractor.requests[0]?.known ?? [])).toEqual(["Ada lives in Porto", "Ada lives in Faro"]);
  });

  it("shows the newest facts, however many there are", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    for (let at = 0; at < 205; at++) await session.facts.upsert({ category: "n", content: `number ${at}` });
    await say(session, "hello");
    await session.facts.extract();
    const shown = contents(extractor.requests[0]?.known ?? []);
    expect(shown).toHaveLength(200);
    expect([shown[0], shown.at(-1)]).toEqual(["number 204", "number 5"]);
  });

  it("creates facts with their message as source, since it was said, and ends what they supersede then", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    const porto = (await session.facts.upsert(livesIn("Porto", { validFrom: NOON - 10 * DAY }))).fact.id;
    await session.add([{ id: "m", role: "user", content: "I moved", occurredAt: NOON - DAY }]);
    extractor.answer = () => [draft("in Lisbon", { source: "m", supersedes: [porto] }), draft("unsourced")];
    const [lisbon, unsourced] = (await session.facts.extract()).facts;
    expect(lisbon).toMatchObject({ confidence: 0.8, spans: [{ from: NOON - DAY }] });
    expect(lisbon?.sources).toEqual([{ session: "monday", message: "m" }]);
    expect(unsourced).toMatchObject({ spans: [{ from: NOON }], sources: [{ session: "monday" }] });
    expect(await session.facts.get([porto])).toMatchObject([
      { state: "ended", spans: [{ from: NOON - 10 * DAY, to: NOON - DAY, supersededBy: lisbon?.id }] },
    ]);
    expect(await session.delete(["m"])).toMatchObject({ facts: 1 });
  });

  it("reads long sessions page by page, each once, up to the limit", async () => {
    const extractor = new Reader();
    extractor.answer = () => [];
    const { session } = await begin({ extractor });
    const texts = Array.from({ length: 9 }, (_, at) => `${at} ${"long ".repeat(1_000)}`);
    for (const text of texts) await say(session, text);
    expect(await session.facts.extract({ limit: 2 })).toMatchObject({ messages: 2 });
    expect(extractor.read).toEqual([texts.slice(0, 2)]);
    expect(await session.facts.extract()).toMatchObject({ messages: 7 });
    expect(extractor.read.length).toBeGreaterThan(2);
    expect(extractor.read.flat()).toEqual(texts);
  });
});

describe("an extractor that fails", () => {
  const FAILURES: readonly [string, Answer][] = [
    [
      "throws",
      () => {
        throw new Error("the model is out");
      },
    ],
    ["answers with nothing", () => undefined],
    ["answers with text", () => "no JSON today"],
    ["answers with an object", () => ({ facts: [draft("x")] })],
  ];

  it.each(FAILURES)("and %s writes nothing, and is offered the same messages again", async (_, answer) => {
    const extractor = new Reader();
    const right = extractor.answer;
    let life = await begin({ path: newPath(), extractor });
    await say(life.session, "one");
    extractor.answer = answer;
    await expect(life.session.facts.extract()).rejects.toMatchObject({ code: "extractor_failed" });
    expect(await known(life.session)).toEqual([]);
    expect(contents(await life.session.query("one"))).toEqual(["one"]);
    life = await reopen(life, { extractor });
    extractor.answer = right;
    expect(await life.session.facts.extract()).toMatchObject({ messages: 1, facts: [{ content: "one" }] });
    expect(extractor.read).toEqual([["one"], ["one"]]);
  });

  it("on a later page keeps the facts of the pages before it, and continues there", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    const texts = Array.from({ length: 9 }, (_, at) => `${at} ${"long ".repeat(1_000)}`);
    for (const text of texts) await say(session, text);
    const first: Answer = ({ messages }) => [draft(`of ${messages.length}`)];
    extractor.answer = (request, signal) => {
      if (extractor.requests.length > 1) throw new Error("out of credit");
      return first(request, signal);
    };
    await expect(session.facts.extract()).rejects.toMatchObject({ code: "extractor_failed" });
    const [page = []] = extractor.read;
    expect(await known(session)).toEqual([`of ${page.length}`]);
    extractor.answer = () => [];
    expect(await session.facts.extract()).toMatchObject({ messages: 9 - page.length });
  });

  it("drafts invalid facts: each is refused with a reason that does not quote it, the others are accepted", async () => {
    const extractor = new Reader();
    const { session, memory } = await begin({ extractor });
    const his = (await memory.session({ user: "bob" }).facts.upsert(livesIn("Rome"))).fact.id;
    await memory.session({ user: "bob", session: "b" }).add([{ id: "his", role: "user", content: "x" }]);
    await say(session, "one");
    const HOSTILE: readonly unknown[] = [
      null,
      "secret",
      { category: "c" },
      draft(" ... "),
      draft("secret", { category: "" }),
      draft("secret", { confidence: 2 }),
      draft("secret", { confidence: "1" as unknown as number }),
      draft("secret", { source: "his" }),
      draft("secret", { supersedes: [his] }),
      draft(`secret ${"x".repeat(1_001)}`),
    ];
    extractor.answer = () => [...HOSTILE, draft("two\nlines\u2028here"), draft("TWO lines here.")];
    const { facts, refused } = await session.facts.extract();
    expect(contents(facts)).toEqual(["two lines here"]);
    expect(refused).toHaveLength(HOSTILE.length + 1);
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect(await known(session)).toEqual(["two lines here"]);
    expect(await known(memory.session({ user: "bob" }))).toEqual(["Ada lives in Rome"]);
    expect(await session.facts.extract()).toMatchObject({ messages: 0 });
  });
});

describe("extraction", () => {
  it("does not revive what was retracted, nor end what that would supersede", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    const porto = (await session.facts.upsert(livesIn("Porto"))).fact.id;
    const wrong = (await session.facts.upsert({ category: "said", content: "on Mars" })).fact.id;
    await session.facts.retract(wrong);
    await say(session, "I live on Mars");
    extractor.answer = () => [draft("On Mars!", { supersedes: [porto] })];
    expect(await session.facts.extract()).toEqual({ messages: 1, facts: [], refused: [] });
    expect(await known(session)).toEqual(["Ada lives in Porto"]);
    expect(await session.facts.get([wrong])).toMatchObject([{ state: "retracted" }]);
  });

  it("twice at the same time reads and writes everything once", async () => {
    const extractor = new Reader();
    const { session, memory } = await begin({ extractor });
    await say(session, "one", "two");
    const handle = memory.session(session.scope);
    const [first, second] = await Promise.all([session.facts.extract(), handle.facts.extract()]);
    expect([first.messages, second.messages]).toEqual([2, 0]);
    expect(extractor.read).toEqual([["one", "two"]]);
    expect((await session.facts.list()).items.map(({ version }) => version)).toEqual([1, 1]);
  });

  it("that another process overtook writes nothing late: superseded facts do not come back", async () => {
    const slow = new Reader();
    const life = await begin({ path: newPath(), extractor: slow });
    const other = await open({ path: life.path, clock: life.clock, extractor: new Reader() });
    await say(life.session, "in Porto");
    const elsewhere = other.session(life.session.scope);
    slow.answer = async ({ messages }) => {
      const porto = (await elsewhere.facts.extract()).facts[0]?.id ?? "";
      life.clock.advance(DAY);
      await elsewhere.facts.upsert({ category: "said", content: "in Lisbon", supersedes: porto });
      await say(elsewhere, "and a cat");
      slow.answer = () => [draft("a cat")];
      return messages.map(({ id, content }) => draft(content, { source: id }));
    };
    expect(await life.session.facts.extract()).toMatchObject({ messages: 1, facts: [{ content: "a cat" }] });
    expect(slow.read).toEqual([["in Porto"], ["and a cat"]]);
    expect(await known(life.session)).toEqual(["in Lisbon", "a cat"]);
  });

  it("creates no fact from a message that is forgotten while the extractor reads it", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    const [secret = ""] = (await say(session, "my secret", "my cat")).ids;
    const right = extractor.answer;
    extractor.answer = async (request, signal) => {
      await session.delete([secret]);
      return right(request, signal);
    };
    await expect(session.facts.extract()).rejects.toMatchObject({ code: "not_found", details: { id: secret } });
    expect(await known(session)).toEqual([]);
    extractor.answer = right;
    await session.facts.extract();
    expect(await known(session)).toEqual(["my cat"]);
  });

  it("sees what was added while it ran the next time", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    await say(session, "one");
    extractor.answer = async () => {
      await say(session, "two");
      return [];
    };
    await session.facts.extract();
    extractor.answer = () => [];
    await session.facts.extract();
    expect(extractor.read).toEqual([["one"], ["two"]]);
  });

  it("ends with the signal's reason, before and between pages, and keeps what was read by then", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    for (let at = 0; at < 9; at++) await say(session, `${at} ${"long ".repeat(1_000)}`);
    const reason = new Error("enough");
    await expect(session.facts.extract({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(extractor.requests).toHaveLength(0);
    const controller = new AbortController();
    extractor.answer = (_, signal) => {
      expect(signal).toBe(controller.signal);
      controller.abort(reason);
      return [draft("of the first page")];
    };
    await expect(session.facts.extract({ signal: controller.signal })).rejects.toBe(reason);
    const [page = []] = extractor.read;
    expect(await known(session)).toEqual(["of the first page"]);
    extractor.answer = () => [];
    expect(await session.facts.extract()).toMatchObject({ messages: 9 - page.length });
  });

  it("that the extractor aborts for the signal writes nothing", async () => {
    const extractor = new Reader();
    const { session } = await begin({ extractor });
    await say(session, "one");
    const controller = new AbortController();
    const reason = new Error("enough");
    extractor.answer = (_, signal) => {
      controller.abort(reason);
      signal.throwIfAborted();
    };
    await expect(session.facts.extract({ signal: controller.signal })).rejects.toBe(reason);
    extractor.answer = () => [];
    expect(await session.facts.extract()).toMatchObject({ messages: 1 });
  });

  it("needs an extractor, a session, and valid options", async () => {
    const extractor = new Reader();
    const { session: bare } = await begin();
    const refusal = { code: "unsupported", hint: expect.stringContaining("extractor") };
    await expect(bare.facts.extract()).rejects.toMatchObject(refusal);
    const { memory, session } = await begin({ extractor });
    await expect(memory.session({ user: "ada" }).facts.extract()).rejects.toMatchObject({ code: "invalid_input" });
    for (const options of [{ limit: 0 }, { limit: 1.5 }, { signal: {} }, { most: 1 }]) {
      const call = session.facts.extract(options as Parameters<typeof session.facts.extract>[0]);
      await expect(call).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await session.facts.extract()).toMatchObject({ messages: 0 });
    await memory.close();
    await expect(session.facts.extract()).rejects.toMatchObject({ code: "closed" });
    expect(extractor.requests).toHaveLength(0);
  });
});
