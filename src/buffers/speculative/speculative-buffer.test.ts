/** The SpeculativeBuffer behind a service in memory, on a clock that the test moves. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../config.js";
import type { MemoryEvent } from "../../events/event.js";
import type { QueryOptions } from "../../input/query.js";
import type { MemorySource } from "../../memory-pressure.js";
import type { Options, PredictorName } from "../../options.js";
import { BufferService } from "../../service.js";
import { LocalSession } from "../../session.js";
import { SqliteStore } from "../../stores/sqlite/store.js";
import { FakeClock } from "../../testing/fake-clock.js";
import { HashEmbedder } from "../../testing/hash-embedder.js";

const TURNS = [
  "I moved to Lisbon with Bruno",
  "my dog is called Bruno",
  "the ferry was late again",
  "tea is better than coffee",
];

class Desk {
  readonly clock = new FakeClock();
  readonly store: SqliteStore;
  readonly embedder = new HashEmbedder();
  readonly service: BufferService;
  searches = 0;
  heapBytes = 0;
  /** A major garbage collection. */
  collected = (): void => undefined;

  static async open(speculative: NonNullable<Options["buffer"]>["speculative"] = {}): Promise<Desk> {
    return new Desk(await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 }), speculative);
  }

  private constructor(store: SqliteStore, speculative: NonNullable<Options["buffer"]>["speculative"]) {
    this.store = store;
    const search = store.search.bind(store);
    store.search = (request) => {
      this.searches++;
      return search(request);
    };
    const options = loadConfig({ code: { path: ":memory:", clock: this.clock, buffer: { speculative } } });
    const memory: MemorySource = {
      usage: () => ({ residentBytes: 0, heapBytes: this.heapBytes, maxHeapBytes: 100 }),
      onCollected: (listener) => {
        this.collected = listener;
        return () => undefined;
      },
    };
    this.service = new BufferService(store, options, { embedder: this.embedder, memory });
    onTestFinished(async () => {
      const closed = this.service.close();
      await settle();
      this.clock.advance(10_000);
      await closed;
    });
  }

  session(session = "one", user = "ada"): LocalSession {
    return new LocalSession(this.service, { user, session });
  }

  /** Lets what was observed be predicted and searched. */
  async idle(ms = 1): Promise<void> {
    await settle();
    for (const step of [ms, 1, 1]) {
      this.clock.advance(step); // the later steps are for what was embedded and written meanwhile
      await settle();
    }
  }

  /** An agent's turn: the user's message is added, then asked. */
  async turn(session: LocalSession, text: string, options?: QueryOptions) {
    await session.add([{ role: "user", content: text }]);
    await this.idle();
    const hits = await session.query(text, options);
    await this.idle();
    return hits;
  }

  async of(predictor: PredictorName) {
    return (await this.service.stats()).speculative?.predictors[predictor];
  }

  async ahead(): Promise<number> {
    return (await this.service.stats()).query.ahead.hits;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const contents = (hits: readonly { readonly content: string }[]): readonly string[] =>
  hits.map(({ content }) => content);

describe("the next line", () => {
  it("is answered before it is asked, once it was right", async () => {
    const desk = await Desk.open();
    const session = desk.session();
    for (const text of TURNS) await desk.turn(session, text);
    const stats = await desk.of("next_line");
    expect(stats).toMatchObject({ served: TURNS.length - 1, late: 0, wasted: 0, isThrottled: false });
    expect(stats?.savedMs).toBeGreaterThan(0);
    expect(await desk.ahead()).toBe(TURNS.length - 1);
    await desk.turn(session, "and milk?");
    const before = desk.searches;
    await session.query("and milk?");
    expect(desk.searches).toBe(before); // it moved into the cache
  });

  it("is the same answer as without speculation", async () => {
    const [with_, without] = [await Desk.open(), await Desk.open({ maxSize: 0 })];
    for (const text of [...TURNS, ...TURNS]) {
      const [a, b] = [await with_.turn(with_.session(), text), await without.turn(without.session(), text)];
      expect(contents(a)).toEqual(contents(b));
      expect(a.map(({ score }) => score)).toEqual(b.map(({ score }) => score));
    }
    expect(await with_.ahead()).toBeGreaterThan(0);
    expect((await without.service.stats()).speculative).toBeUndefined();
    expect(await without.ahead()).toBe(0);
  });

  it("spares questions their search and raises the hit rate, which is zero without speculation", async () => {
    const searched = async (desk: Desk): Promise<{ readonly searches: number; readonly hitRate: number }> => {
      let searches = 0;
      for (const text of TURNS) {
        await desk.session().add([{ role: "user", content: text }]);
        await desk.idle();
        const before = desk.searches;
        await desk.session().query(text);
        searches += desk.searches - before;
        await desk.idle();
      }
      const { queries, misses, shared } = (await desk.service.stats()).query;
      return { searches, hitRate: (queries - misses - shared) / queries };
    };
    const count = TURNS.length;
    expect(await searched(await Desk.open({ maxSize: 0 }))).toEqual({ searches: count, hitRate: 0 });
    expect(await searched(await Desk.open())).toEqual({ searches: 1, hitRate: (count - 1) / count });
  });

  it("is answered again when the same is said again", async () => {
    const desk = await Desk.open({ predictors: "topic, next_line" });
    const session = desk.session();
    for (let time = 0; time < 4; time++) await desk.turn(session, "what is new?");
    expect(await desk.of("next_line")).toMatchObject({ served: 3, late: 0, wasted: 0 });
  });

  it("is asked with the options of the session's last question, and in all of its forms", async () => {
    const desk = await Desk.open();
    const session = desk.session();
    const forms = [{ topK: 3 }, { topK: 5, role: "user" as const }];
    for (const text of TURNS) {
      await session.add([{ role: "user", content: text }]);
      await desk.idle();
      for (const form of forms) await session.query(text, form);
      await desk.idle();
    }
    expect(await desk.of("next_line")).toMatchObject({ served: 2 * (TURNS.length - 1), wasted: 0 });
  });

  it("is predicted like next lines, regardless of other questions in between", async () => {
    const desk = await Desk.open({ predictors: "next_line" });
    const session = desk.session();
    for (const [at, text] of [...TURNS, ...TURNS].entries()) {
      await desk.turn(session, `${text}, part ${at}`, { topK: 4, role: "user" });
      for (const offset of [0, 10]) await session.query(`what about ${text}?`, { topK: 10, offset });
      await desk.idle();
    }
    expect(await desk.of("next_line")).toMatchObject({ served: 2 * TURNS.length - 1, wasted: 0, isThrottled: false });
  });

  it("asked with other options each time is soon not searched any more", async () => {
    const desk = await Desk.open({ predictors: "next_line" });
    const session = desk.session();
    for (let at = 0; at < 20; at++) await desk.turn(session, `${TURNS[at % 4]}, part ${at}`, { topK: 20 + at });
    const stats = await desk.of("next_line");
    expect(stats).toMatchObject({ served: 0, isThrottled: true });
    expect(stats?.issued).toBeLessThan(5);
  });

  it("of a new session is asked as other sessions asked", async () => {
    const desk = await Desk.open();
    await desk.turn(desk.session("one", "ada"), TURNS[0] as string, { topK: 4 });
    await desk.turn(desk.session("two", "bob"), TURNS[1] as string, { topK: 4 });
    expect(await desk.of("next_line")).toMatchObject({ served: 1 });
  });

  it("is not served after something was written", async () => {
    const desk = await Desk.open();
    const session = desk.session();
    for (const text of TURNS) await desk.turn(session, text);
    await session.add([{ role: "user", content: "where is the dog?" }]);
    await desk.idle();
    expect((await desk.service.stats()).speculative?.entries).toBe(1);
    await session.add([{ role: "assistant", content: "the dog is in the garden" }]);
    expect(contents(await session.query("where is the dog?"))).toContain("the dog is in the garden");
  });

  it("is dropped when its space is edited or forgotten, with the text that it came from", async () => {
    const desk = await Desk.open();
    for (const act of ["update", "delete", "forget"] as const) {
      const session = desk.session();
      for (const text of TURNS) await desk.turn(session, text);
      const { ids } = await session.add([{ role: "user", content: "a secret about Bruno" }]);
      await desk.idle();
      expect((await desk.service.stats()).speculative).toMatchObject({ entries: 1, sessions: 1 });
      const [id = ""] = ids;
      if (act === "update") await session.update(id, { content: "nothing" });
      else if (act === "delete") await session.delete([id]);
      else await session.forget();
      expect((await desk.service.stats()).speculative, act).toMatchObject({ entries: 0, sessions: 0 });
      expect(contents(await session.query("a secret about Bruno"))).not.toContain("a secret about Bruno");
    }
  });

  it("is forgotten with its space right after the question, and where nothing was stored", async () => {
    const desk = await Desk.open();
    const session = desk.session();
    await session.add([{ role: "user", content: "a secret about Bruno" }]);
    await session.query("a secret about Bruno");
    await session.forget();
    await desk.idle();
    expect((await desk.service.stats()).speculative).toMatchObject({ entries: 0, sessions: 0 });
    await session.query("a secret about Bruno");
    await session.anticipate("another secret");
    await desk.idle();
    await session.forget();
    await desk.idle(1_000);
    expect((await desk.service.stats()).speculative).toMatchObject({ entries: 0, sessions: 0 });
  });

  it("of a new session is not asked as another asked that named sessions, agents or metadata", async () => {
    for (const options of [{ session: "secret" }, { agent: "secret" }, { metadata: { mail: "ada@example.com" } }]) {
      const desk = await Desk.open({ predictors: "next_line" });
      await desk.turn(desk.session("one", "ada"), TURNS[0] as string, options);
      await desk.turn(desk.session("two", "bob"), TURNS[1] as string, options);
      expect(await desk.of("next_line")).toMatchObject({ issued: 0, served: 0 });
    }
  });

  it("that is never asked is soon not searched any more, and again when it is asked", async () => {
    const desk = await Desk.open({ predictors: "next_line" });
    const session = desk.session();
    await desk.turn(session, TURNS[0] as string);
    const add = async (from: number) => {
      for (let at = from; at < from + 20; at++) {
        await session.add([{ role: "user", content: `note number ${at} about the ferry` }]);
        await desk.idle();
      }
    };
    await add(0);
    const throttled = await desk.of("next_line");
    expect(throttled).toMatchObject({ isThrottled: true });
    expect(throttled?.issued).toBeLessThan(5);
    await add(20);
    expect((await desk.of("next_line"))?.issued).toBe(throttled?.issued);
    for (let at = 0; at < 6; at++) await desk.turn(session, `${TURNS[at % 4]}, part ${at}`);
    expect(await desk.of("next_line")).toMatchObject({ isThrottled: false });
    expect((await desk.of("next_line"))?.served).toBeGreaterThan(0);
  });
});

describe("other predictors", () => {
  it("turn the page", async () => {
    const desk = await Desk.open({ predictors: "stride" });
    const session = desk.session();
    for (let at = 0; at < 60; at++) await session.add([{ role: "user", content: `the ferry was late on day ${at}` }]);
    for (const text of ["ferry", "late"]) {
      for (let offset = 0; offset < 50; offset += 10) {
        await session.query(text, { offset });
        await desk.idle();
      }
    }
    expect((await desk.of("stride"))?.served).toBeGreaterThan(2);
  });

  it("turned the page whenever it was wrong, if each reader stopped at the third", async () => {
    const desk = await Desk.open({ predictors: "stride" });
    const session = desk.session();
    for (let at = 0; at < 60; at++) await session.add([{ role: "user", content: `the ferry was late on day ${at}` }]);
    for (const text of ["ferry", "late", "day", "the ferry", "late ferry"]) {
      for (let offset = 0; offset < 30; offset += 10) {
        await session.query(text, { offset });
        await desk.idle();
      }
    }
    expect(await desk.of("stride")).toMatchObject({ served: 4, wasted: 0 });
  });

  it("searched what followed a question, if something else followed each time", async () => {
    const desk = await Desk.open({ predictors: "correlation" });
    const session = desk.session();
    for (const other of ["tea?", "what of the ferry?", "who was late?", "is it far?", "and Porto?", "any news?"]) {
      await session.add([{ role: "user", content: `before ${other}` }]);
      await desk.idle();
      for (const text of ["where does the dog Bruno sleep?", "what is in the garden?", other]) {
        await session.query(text);
        await desk.idle();
      }
    }
    expect(await desk.of("correlation")).toMatchObject({ served: 4, wasted: 0 });
  });

  it("remember what followed a similar question, and forget it with the space", async () => {
    const desk = await Desk.open({ predictors: "correlation" });
    const session = desk.session();
    await session.add([{ role: "user", content: "Bruno sleeps in the garden" }]);
    const ask = async (text: string) => {
      await session.query(text);
      await desk.idle();
    };
    for (let round = 0; round < 3; round++) {
      await session.add([{ role: "user", content: `round ${round}` }]);
      for (const text of ["where does the dog Bruno sleep?", "what is in the garden?", "is it raining?"])
        await ask(text);
    }
    expect((await desk.of("correlation"))?.served).toBeGreaterThan(0);
    await desk.service.forget({ user: "ada" });
    const before = await desk.of("correlation");
    await session.add([{ role: "user", content: "Bruno again" }]);
    await ask("where does the dog Bruno sleep?");
    expect((await desk.of("correlation"))?.issued).toBe(before?.issued);
  });

  it("join the newest messages, as many as the window has, in the way that the session does", async () => {
    const desk = await Desk.open({ predictors: "topic", contextWindow: 2 });
    const session = desk.session();
    const said: string[] = [];
    for (let at = 0; at < 8; at++) {
      said.push(`${TURNS[at % 4]}, part ${at}`);
      await session.add([{ role: "user", content: said.at(-1) as string }]);
      await desk.idle();
      await session.query(
        said
          .slice(-2)
          .map((text) => `user: ${text}`)
          .join("\n"),
      );
      await desk.idle();
    }
    expect((await desk.of("topic"))?.served).toBeGreaterThan(3);
  });

  it("expect no question that is too long to be asked", async () => {
    const desk = await Desk.open({ predictors: "topic", contextWindow: 20 });
    const session = desk.session();
    const said: string[] = [];
    const say = async (text: string) => {
      said.push(text);
      await session.add([{ role: "user", content: text }]);
      await desk.idle();
    };
    const long = (at: number) => String.fromCodePoint(0x6f22 + at).repeat(3_900);
    for (let at = 0; at < 20; at++) {
      await say(at < 15 ? `${TURNS[at % 4]}, part ${at}` : long(at));
      if (at >= 5) await session.query(said.slice(-6).join("\n"));
      await desk.idle();
    }
    expect(await desk.of("topic")).toMatchObject({ isThrottled: false });
    await say(long(20)); // six long messages, together longer than a question may be
    await expect(session.query(said.slice(-6).join("\n"))).rejects.toMatchObject({ code: "too_large" });
  });

  it("read a space into memory when its first session comes into use, once", async () => {
    const desk = await Desk.open({ predictors: "opening" });
    for (let at = 0; at < 50; at++) await desk.service.add({ user: "ada" }, [{ role: "user", content: `note ${at}` }]);
    await desk.service.add({ user: "bob" }, [{ role: "user", content: "hello" }]);
    await desk.idle();
    expect(desk.searches).toBe(1); // Bob's space is small
    desk.session("two");
    desk.session("one", "bob");
    await desk.idle();
    expect(desk.searches).toBe(1);
    await desk.session().query("note");
    await desk.idle();
    expect(await desk.of("opening")).toMatchObject({ issued: 1, served: 1, wasted: 0 });
  });

  it("read a space into memory with a text that was forgotten a moment before", async () => {
    const desk = await Desk.open({ predictors: "opening" });
    const { ids } = await desk.service.add(
      { user: "ada" },
      Array.from({ length: 60 }, (_, at) => ({ role: "user" as const, content: `note ${at}` })),
    );
    const versions = vi.spyOn(desk.store, "versions");
    versions.mockImplementationOnce(async ([space]) => {
      versions.mockRestore();
      await desk.service.delete({ user: "ada" }, ids);
      return [{ id: "ada", version: 60, space }] as never;
    });
    await desk.idle();
    await desk.idle();
    expect(await desk.of("opening")).toMatchObject({ issued: 0 });
  });
});

describe("what is announced", () => {
  it("is answered when typing pauses, and served when it is asked", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    const session = desk.session();
    await session.add([{ role: "user", content: "Bruno sleeps in the garden" }]);
    await desk.idle();
    const before = desk.searches;
    for (const text of ["whe", "where does", "where does Bruno sleep?"]) {
      await session.anticipate(text, { topK: 5 });
      await desk.idle(100);
    }
    expect(desk.searches).toBe(before);
    await desk.idle(100);
    expect(desk.searches).toBe(before + 1);
    expect(contents(await session.query("where does Bruno  sleep?", { topK: 5 }))).toEqual([
      "Bruno sleeps in the garden",
    ]);
    await desk.idle();
    expect(await desk.of("anticipate")).toMatchObject({ issued: 1, served: 1, late: 0, wasted: 0 });
    expect(desk.searches).toBe(before + 1);
  });

  it("without options is expected in a plain query, until it is known how the session asks", async () => {
    for (const before of [undefined, "is it raining?"]) {
      const desk = await Desk.open({ predictors: "anticipate" });
      const session = desk.session();
      await session.add([{ role: "user", content: "Bruno sleeps in the garden" }]);
      if (before !== undefined) await session.query(before, { topK: 4 });
      await desk.idle();
      const ask = async (text: string, options?: QueryOptions) => {
        const { issued = 0, served = 0 } = (await desk.of("anticipate")) ?? {};
        await session.anticipate(text);
        await desk.idle(200);
        await session.query(text, options);
        await desk.idle();
        const after = await desk.of("anticipate");
        return [(after?.issued ?? 0) - issued, (after?.served ?? 0) - served];
      };
      expect(await ask("where does Bruno sleep?")).toEqual([before === undefined ? 1 : 2, 1]);
      expect(await ask("is Bruno asleep?", { topK: 4 }), "it is asked in another way now").toEqual([1, 0]);
      expect(await ask("is Bruno in bed?", { topK: 4 })).toEqual([1, 1]);
    }
  });

  it("is answered again when it is announced again after something was written", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    const session = desk.session();
    for (const content of ["Bruno sleeps in the garden", "Bruno sleeps on the sofa"]) {
      await session.add([{ role: "assistant", content }]);
      await desk.idle();
      await session.anticipate("where does Bruno sleep?", {});
      await desk.idle(200);
      expect(contents(await session.query("where does Bruno sleep?"))).toContain(content);
      await desk.idle();
    }
    expect(await desk.of("anticipate")).toMatchObject({ issued: 2, served: 2, wasted: 0 });
  });

  it("is refused if a query would be, and does nothing if speculation is off", async () => {
    const desk = await Desk.open({ maxSize: 0 });
    await expect(desk.session().anticipate("x", { topK: 0 })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(desk.session().anticipate(5 as unknown as string)).rejects.toMatchObject({ code: "invalid_input" });
    await desk.session().anticipate("x");
    await desk.idle(1_000);
    expect(desk.searches).toBe(0);
  });

  it("was searched although memory was short, if another search was in progress when it became short", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    await desk.session().query("where is Bruno?");
    const release = desk.embedder.stall();
    await desk.session("one").anticipate("where is he now?");
    await desk.idle(150);
    desk.heapBytes = 90;
    desk.collected();
    await desk.session("two").anticipate("and where was he?");
    await desk.idle(150);
    release();
    await desk.idle();
    expect((await desk.service.stats()).process.isShort).toBe(true);
    expect(await desk.of("anticipate")).toMatchObject({ issued: 1, wasted: 1 });
  });

  it("was kept with its explanation, which later questions got", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    await desk.session().anticipate("where is Bruno?", { explain: true });
    await desk.idle(150);
    expect((await desk.service.stats()).speculative).toMatchObject({ entries: 0 });
    const { explanation } = await desk.session().query("where is Bruno?", { explain: true });
    expect(explanation?.origin).toBe("misses");
  });

  it("held up the close of the memory if the embedder hung", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    await desk.session().query("where is Bruno?");
    await desk.idle();
    const release = desk.embedder.stall();
    await desk.session().anticipate("where is he now?");
    await desk.idle(150);
    expect(desk.embedder.waiting).toBe(1);
    let isClosed = false;
    const closed = desk.service.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(true);
    release();
    await closed;
  });

  it("is answered although nothing was to be searched for one a moment before", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    await desk.session("one").anticipate("");
    await desk.session("two").anticipate("where is Bruno?");
    await desk.idle(150);
    expect(desk.searches).toBe(1);
  });

  it("that is empty is nothing", async () => {
    const desk = await Desk.open({ predictors: "anticipate" });
    await desk.session().anticipate("  ");
    await desk.idle(1_000);
    expect(desk.searches).toBe(0);
  });
});

describe("the bounds", () => {
  // Fewer than the rounds at which vectors are written, which outdates the answers.
  const texts = Array.from({ length: 4 }, (_, at) => `where is thing ${at}?`);

  async function announced(speculative: NonNullable<Options["buffer"]>["speculative"]) {
    const desk = await Desk.open({ predictors: "anticipate", ...speculative });
    for (const [at, text] of texts.entries()) {
      const session = desk.session("one", `user${at}`); // an add outdates the answers of its user
      await session.add([{ role: "user", content: `thing ${at} is here` }]);
      await desk.idle();
      await session.anticipate(text, {});
      await desk.idle(200);
    }
    return (await desk.service.stats()).speculative;
  }

  it("limit the answers held by their number", async () => {
    expect((await announced({}))?.entries).toBe(texts.length);
    expect(await announced({ maxSize: 2 })).toMatchObject({ entries: 2, maxSize: 2 });
  });

  it("limit the answers held by their bytes", async () => {
    const all = await announced({});
    const half = await announced({ maxBytes: Math.ceil((all?.bytes ?? 0) / 2) });
    expect(half?.entries).toBeLessThan(texts.length);
    expect(half?.entries).toBeGreaterThan(0);
  });
});

describe("hostile input", () => {
  it("options that their caller changes after the call do not end the process", async () => {
    const desk = await Desk.open();
    const metadata: { topic: unknown } = { topic: "home" };
    const options = { metadata } as QueryOptions;
    const hits = desk.session().query("where is Bruno?", options);
    metadata.topic = options; // a circle
    await hits;
    await desk.idle();
    await desk.session().query("where is Bruno?");
    await desk.idle();
    expect((await desk.service.stats()).speculative).toMatchObject({ sessions: 1 });
  });

  it("long questions and long options are not kept, and options count as text", async () => {
    const desk = await Desk.open();
    const named = (characters: number): QueryOptions => ({ metadata: { topic: "x".repeat(characters) } });
    await desk.session("long").query("ferry ".repeat(1_000));
    await desk.session("options").query("ferry", named(5_000));
    await desk.session("typing").anticipate("ferry", named(5_000));
    await desk.idle(1_000);
    expect(desk.searches).toBe(2);
    expect((await desk.service.stats()).speculative).toMatchObject({ entries: 0, sessions: 0 });
    for (let at = 0; at < 600; at++) {
      await desk.session(`s${at}`).query(`ferry ${at % 5}`, named(3_900));
      await desk.idle();
    }
    expect((await desk.service.stats()).speculative?.sessions).toBeLessThan(600);
  });

  it("long announcements are not searched", async () => {
    const desk = await Desk.open();
    await desk.session().anticipate("1 ".repeat(30_000));
    await desk.session("two").anticipate("ferry");
    await desk.idle(1_000);
    expect(desk.searches).toBe(1);
  });

  it("a large batch costs no more than its newest messages", async () => {
    const desk = await Desk.open();
    const batch = Array.from({ length: 500 }, (_, at) => ({ role: "user" as const, content: `message ${at}` }));
    await desk.session().add(batch);
    const normalised = vi.spyOn(String.prototype, "normalize");
    onTestFinished(() => normalised.mockRestore());
    desk.clock.advance(1);
    expect(normalised.mock.calls.length).toBeLessThan(50);
  });
});

it("reports the outcome of its searches, without any text", async () => {
  const desk = await Desk.open();
  const told: MemoryEvent[] = [];
  desk.service.events.subscribe((event) => told.push(event));
  for (const text of TURNS) await desk.turn(desk.session(), text);
  const prefetched = told.filter(({ type }) => type === "prefetched");
  expect(prefetched[0]).toEqual({
    type: "prefetched",
    at: expect.any(Number),
    space: { user: "ada" },
    session: "one",
    predictor: "next_line",
    outcome: "ready",
  });
  const seen = prefetched.map((event) => event.type === "prefetched" && `${event.predictor} ${event.outcome}`);
  expect(seen).toContain("next_line ready");
  expect(seen).toContain("next_line served");
  expect(JSON.stringify(prefetched)).not.toContain("Bruno");
});

it("the texts of questions stayed in memory when their user was forgotten or renamed", async () => {
  const desk = await Desk.open();
  const kept = () => {
    const { query, speculative } = desk.service.buffers;
    return [query.answers.entries, query.embeddings?.entries, speculative?.sessions];
  };
  await desk.turn(desk.session("one", "bob"), "hello");
  const others = kept();
  for (const text of TURNS) await desk.turn(desk.session(), text);
  expect(kept()).not.toEqual(others);
  await desk.service.forget({ user: "ada" });
  expect(kept()).toEqual(others);
  for (const text of TURNS) await desk.turn(desk.session(), text);
  await desk.service.write({ op: "amend", entry: { kind: "user", name: "ada" }, name: "eve" });
  expect(kept()).toEqual(others);
});
