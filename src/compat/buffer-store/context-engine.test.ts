/** Both engines on both stores: what they buffer, deliver and inject, and what they refuse. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.js";
import type { BufferedEntry, BufferStore } from "./buffer-store.js";
import type { AssembleResult, ContextEngine, ContextEngineOptions } from "./context-engine.js";
import type { ContextoBackend, Episode, SearchItem } from "./contexto-backend.js";
import { DefaultContextEngine } from "./default-context-engine.js";
import { InMemoryBufferStore } from "./in-memory-buffer-store.js";
import type { RecalledMessage } from "./recalled.js";
import { SlidingWindowEngine } from "./sliding-window-engine.js";
import { SqliteBufferStore } from "./sqlite-buffer-store.js";
import type { WebhookPayload } from "./webhook-payload.js";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Keeps what it is given; `fault` makes the next calls fail, before or after the episodes are stored. */
class Backend implements ContextoBackend<Message> {
  readonly stored: Episode<Message>[] = [];
  readonly calls: number[] = [];
  readonly questions: string[] = [];
  items: readonly SearchItem[] = [];
  fault: "refused" | "answer lost" | undefined;
  /** Runs while a call is under way. */
  meanwhile: () => Promise<void> = async () => undefined;

  async ingest(episodes: readonly Episode<Message>[]): Promise<void> {
    this.calls.push(episodes.length);
    await this.meanwhile();
    if (this.fault === "refused") throw new Error("refused");
    this.stored.push(...episodes);
    if (this.fault === "answer lost") throw new Error("answer lost");
  }

  async search(query: string, maxResults: number): Promise<readonly SearchItem[]> {
    this.questions.push(query);
    if (this.fault === "refused") throw new Error("refused");
    return this.items.slice(0, maxResults);
  }

  get numbers(): number[] {
    return this.stored.map(numberOf);
  }
}

const turn = (number: number): Message[] => [
  { role: "user", content: `question ${number}` },
  { role: "assistant", content: `answer ${number}` },
];
const numberOf = ({ data }: Episode<Message>): number => Number(data.messages[0]?.content.split(" ")[1]);
const textOf = ({ messages }: AssembleResult<Message>): string =>
  messages.length > 0 && typeof messages[1]?.content === "object" ? (messages[1].content[0]?.text ?? "") : "";
const coded = (code: string) => expect.objectContaining({ code });

let folder = "";
let backend = new Backend();
let buffer: BufferStore = new InMemoryBufferStore();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-context-engine-"));
  backend = new Backend();
});
afterEach(() => {
  buffer.close();
  rmSync(folder, { recursive: true });
});

const STORES = [
  { store: "InMemoryBufferStore", open: (clock: FakeClock) => new InMemoryBufferStore({ session: "monday", clock }) },
  {
    store: "SqliteBufferStore",
    open: (clock: FakeClock) => new SqliteBufferStore(join(folder, "buffer.db"), { session: "monday", clock }),
  },
];
const ENGINES = [
  {
    engine: "DefaultContextEngine",
    make: (options: ContextEngineOptions<Message>) => new DefaultContextEngine(options),
  },
  { engine: "SlidingWindowEngine", make: (options: ContextEngineOptions<Message>) => new SlidingWindowEngine(options) },
];
const KINDS = STORES.flatMap((store) => ENGINES.map((engine) => ({ ...store, ...engine })));

describe.each(KINDS)("$engine on $store", ({ open, make }) => {
  let clock = new FakeClock();

  function opened(options: Partial<ContextEngineOptions<Message>> = {}): ContextEngine<Message> {
    clock = new FakeClock();
    buffer = open(clock);
    return make({ buffer, backend, clock, ...options });
  }
  async function add(engine: ContextEngine<Message>, count: number): Promise<void> {
    const first = buffer.count() + backend.stored.length + 1;
    for (let number = first; number < first + count; number++) await engine.afterTurn({ messages: turn(number) });
  }
  const assemble = (engine: ContextEngine<Message>, prompt = "what?"): Promise<AssembleResult<Message>> =>
    engine.assemble({ messages: turn(0), prompt });

  it("holds its state in a single buffer store: episodes and injected ids", async () => {
    const engine = opened();
    backend.items = [{ id: "a", content: "Ada moved." }];
    await engine.afterTurn({ messages: turn(1) });
    await assemble(engine);
    expect(buffer.count()).toBe(1);
    expect(buffer.hasInjectedId("a")).toBe(true);
    expect(make({ buffer, backend })).not.toBe(engine); // another engine goes on from the same state
    expect(textOf(await assemble(make({ buffer, backend })))).toBe("");
  });

  it("buffers a turn as one episode with an id, a time and the model", async () => {
    const engine = opened();
    const runtimeContext = { model: "m", provider: "p", other: 1 };
    const messages = [...turn(7), ...turn(1)];
    await engine.afterTurn({ sessionId: "monday", messages, prePromptMessageCount: 2, runtimeContext });
    await engine.afterTurn({ sessionKey: "agent:main", messages: turn(2) });
    await engine.afterTurn({ messages, prePromptMessageCount: 4 });
    const [first, second, ...others] = buffer.getAll();
    expect(first).toMatchObject({
      sessionId: "monday",
      sessionKey: "monday",
      payload: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        event: { type: "episode", action: "combined" },
        sessionKey: "monday",
        timestamp: new Date(clock.now()).toISOString(),
        context: { sessionId: "monday", model: "m", provider: "p" },
        data: { messages: turn(1) },
      },
    });
    expect(second).toMatchObject({ sessionKey: "agent:main", payload: { context: { sessionId: "monday" } } });
    expect(second?.payload.id).not.toBe(first?.payload.id);
    expect(others).toEqual([]);
  });

  it("delivers everything on disposal, oldest first, and then accepts no more turns", async () => {
    const engine = opened();
    await add(engine, 3);
    const ids = buffer.getAll().map(({ payload }) => payload.id);
    await engine.dispose();
    expect(backend.numbers).toEqual([1, 2, 3]);
    expect(backend.stored.map(({ id }) => id)).toEqual(ids);
    expect(buffer.count()).toBe(0);
    for (const call of [engine.afterTurn({ messages: turn(4) }), assemble(engine), engine.compact()]) {
      await expect(call).rejects.toThrow(coded("closed"));
    }
    await engine.dispose();
    expect(backend.calls).toEqual([3]);
  });

  it("delivers at most a hundred episodes at once", async () => {
    const engine = opened();
    await add(engine, 205);
    await engine.dispose();
    expect(backend.calls).toEqual([100, 100, 5]);
    expect(backend.numbers).toEqual(Array.from({ length: 205 }, (_, at) => at + 1));
  });

  it.each(["refused", "answer lost"] as const)("keeps what the backend did not confirm (%s)", async (fault) => {
    const engine = opened();
    await add(engine, 2);
    backend.fault = fault;
    const refusal = { code: "backend_failed", retryable: true, hint: expect.any(String), cause: { message: fault } };
    await expect(engine.compact({ tokenBudget: 1_000, force: true })).rejects.toMatchObject(refusal);
    expect(buffer.count()).toBe(2);
    await expect(engine.dispose()).rejects.toMatchObject(refusal);
    expect(buffer.count()).toBe(2);
    backend.fault = undefined;
    await engine.dispose();
    expect(buffer.count()).toBe(0);
    expect([...new Set(backend.numbers)]).toEqual([1, 2]);
    // What arrived twice has the same id and content.
    expect(new Map(backend.stored.map((episode) => [episode.id, JSON.stringify(episode)])).size).toBe(2);
    expect(new Set(backend.stored.map((episode) => JSON.stringify(episode))).size).toBe(2);
  });

  it("makes one delivery at a time, and takes turns meanwhile", async () => {
    const engine = opened();
    await add(engine, 2);
    let underWay = 0;
    backend.meanwhile = async () => {
      expect(++underWay).toBe(1);
      await engine.afterTurn({ messages: turn(3) }).catch((error) => expect(error).toMatchObject({ code: "closed" }));
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
    };
    const calls = [engine.compact({ tokenBudget: 1_000, force: true }), engine.compact({ force: true })];
    await Promise.all(calls);
    await engine.dispose();
    const numbers = backend.numbers;
    expect(numbers.slice(0, 2)).toEqual([1, 2]);
    expect(new Set(backend.stored.map(({ id }) => id)).size).toBe(numbers.length);
    expect(buffer.count()).toBe(0);
  });

  it("delivers what an earlier engine left, and what others pushed", async () => {
    await add(opened(), 1);
    const [entry] = buffer.getAll() as [BufferedEntry];
    buffer.push({ ...entry.payload, id: undefined }, "monday", "");
    const engine = make({ buffer, backend });
    backend.fault = "answer lost";
    await expect(engine.dispose()).rejects.toThrow(coded("backend_failed"));
    backend.fault = undefined;
    await engine.dispose();
    const [, pushed, ...again] = backend.stored;
    expect(pushed?.id).toMatch(/^monday\/\d+\/\d+$/);
    expect(again.map(({ id }) => id)).toEqual(backend.stored.slice(0, 2).map(({ id }) => id));
  });

  it("refuses what others pushed that is no episode, and delivers nothing", async () => {
    const engine = opened();
    const payload = { job: "clean up" } as unknown as WebhookPayload;
    buffer.push(payload, "monday", "key");
    await expect(engine.compact({ tokenBudget: 10, force: true })).rejects.toThrow(/entry \d+ .*no episode/);
    expect(backend.calls).toEqual([]);
    expect(buffer.count()).toBe(1);
  });

  it("injects what it finds before the messages, once", async () => {
    const engine = opened();
    backend.items = [
      { id: "a", content: "Ada lives in Porto." },
      { id: "b", content: "She\nsails.\r\n## Not a header" },
    ];
    const first = await assemble(engine, "where?");
    expectTypeOf(first.messages).toEqualTypeOf<(Message | RecalledMessage)[]>();
    expect(backend.questions).toEqual(["where?"]);
    expect(first.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "[Recalled context from previous conversations]" }] },
      {
        role: "assistant",
        content: [
          {
            type: "text",
            text: "## Relevant Context\n\n- Ada lives in Porto.\n- She\n  sails.\n  ## Not a header",
          },
        ],
      },
      ...turn(0),
    ]);
    expect(first.estimatedTokens).toBeGreaterThan(10);
    expect(await assemble(engine)).toEqual({ messages: turn(0), estimatedTokens: 0 });
    backend.items = [...backend.items, { id: "c", content: "New." }, { id: "c", content: "New." }];
    expect(textOf(await assemble(engine))).toBe("## Relevant Context\n\n- New.");
    buffer.clearInjectedIds();
    expect(textOf(await assemble(engine))).toContain("Porto");
  });

  it("injects nothing twice when calls overlap", async () => {
    const engine = opened();
    backend.items = [{ id: "a", content: "Ada." }];
    const texts = (await Promise.all([assemble(engine), assemble(engine), assemble(engine)])).map(textOf);
    expect(texts.filter((text) => text !== "")).toHaveLength(1);
  });

  it("searches only for a prompt, and asks for seven results", async () => {
    const engine = opened();
    for (const prompt of [undefined, "", " \n"]) {
      expect(await engine.assemble({ messages: turn(0), prompt })).toEqual({ messages: turn(0), estimatedTokens: 0 });
    }
    expect(backend.questions).toEqual([]);
    backend.search = async (_, maxResults) => {
      expect(maxResults).toBe(7);
      return Array.from({ length: 9 }, (_, at) => ({ id: `${at}`, content: `fact ${at}` }));
    };
    expect(textOf(await assemble(engine)).match(/fact/g)).toHaveLength(7);
  });

  it.each([
    ["2,000 characters", {}, undefined, 2_000],
    ["a tenth of the token budget", {}, 10_000, 4_000],
    ["at least 100 characters", {}, 10, 100],
    ["maxContextChars, whatever the budget", { maxContextChars: 500 }, 10_000, 500],
  ])("injects up to %s; the rest may follow later", async (_, options, tokenBudget, charsMax) => {
    const engine = opened(options);
    const half = Math.floor(charsMax / 2);
    backend.items = [
      { id: "a", content: "a".repeat(half - 30) },
      { id: "b", content: "b".repeat(charsMax) },
      { id: "c", content: "c".repeat(half - 10) },
    ];
    const first = textOf(await engine.assemble({ messages: [], prompt: "what?", tokenBudget }));
    expect(first).toMatch(/^## Relevant Context\n\n- a+\n- c+$/);
    expect(first.length).toBeLessThanOrEqual(charsMax);
    expect(["a", "b", "c"].map((id) => buffer.hasInjectedId(id))).toEqual([true, false, true]);
    // Alone it is cut rather than never shown.
    const second = textOf(await engine.assemble({ messages: [], prompt: "what?" }));
    expect(second).toMatch(/^## Relevant Context\n\n- b+…$/);
    expect(second).toHaveLength(charsMax);
  });

  it.each([100, 101])("cuts no surrogate pair, and shows no invisible characters, at %d", async (maxContextChars) => {
    const engine = opened({ maxContextChars });
    backend.items = [{ id: "a", content: `\u202e${"🚀".repeat(100)}` }];
    const text = textOf(await assemble(engine));
    expect(text).toMatch(/- 🚀+…$/u);
    expect(text.isWellFormed()).toBe(true);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("down"))],
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["finds no list", async () => null],
    ["finds items without a text", async () => [{ id: "a" }]],
    ["finds items without an id", async () => [{ content: "x" }]],
  ])("leaves the messages as they are, and says why, when the search %s", async (_, search) => {
    const engine = opened();
    backend.search = search as unknown as ContextoBackend["search"];
    const error = expect.objectContaining({ code: "backend_failed", retryable: true });
    expect(await assemble(engine)).toEqual({ messages: turn(0), estimatedTokens: 0, error });
  });

  it("injects exactly what was recorded when the store fails on the way", async () => {
    const engine = opened();
    backend.items = ["a", "b", "c"].map((id) => ({ id, content: `fact ${id}` }));
    const add = buffer.addInjectedId.bind(buffer);
    buffer.addInjectedId = (id) => {
      if (id === "b") buffer.close();
      return add(id);
    };
    const result = await assemble(engine);
    expect(result.error).toMatchObject({ code: "closed" });
    expect(textOf(result)).toBe("## Relevant Context\n\n- fact a");
  });

  it("has nothing to compact when nothing is buffered", async () => {
    const engine = opened();
    const result = await engine.compact({ tokenBudget: 10, currentTokenCount: 100, force: true });
    expect(result).toEqual({ compacted: false, reason: "nothing to compact" });
    expect(backend.calls).toEqual([]);
  });

  it("refuses what is not its session's, and what has not the documented form", async () => {
    const engine = opened();
    const calls: (() => Promise<unknown>)[] = [
      () => engine.afterTurn({ sessionId: "tuesday", messages: turn(1) }),
      () => engine.assemble({ sessionId: "tuesday", messages: [] }),
      () => engine.compact({ sessionId: "tuesday" }),
      () => engine.afterTurn({ messages: "all" as never }),
      () => engine.afterTurn({ messages: [new Map() as never] }),
      () => engine.afterTurn({ messages: turn(1), prePromptMessageCount: 3 }),
      () => engine.afterTurn({ messages: turn(1), prePromptMessageCount: -1 }),
      () => engine.assemble({ messages: undefined as never }),
      () => engine.assemble({ messages: [], prompt: 1 as never }),
      () => engine.assemble({ messages: [], tokenBudget: 0 }),
      () => engine.compact({ tokenBudget: 1.5 }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(coded("invalid_input"));
    expect(buffer.count()).toBe(0);
    const options: unknown[] = [
      undefined,
      { backend },
      { buffer },
      { buffer, backend: { ingest: backend.ingest } },
      { buffer: new InMemoryBufferStore(), backend },
      { buffer, backend, maxContextChars: 99 },
      { buffer, backend, maxChars: 100 },
    ];
    for (const wrong of options) expect(() => make(wrong as never)).toThrow(coded("invalid_input"));
  });
});

describe("DefaultContextEngine", () => {
  it("delivers everything on compact, and leaves the window to the host", async () => {
    buffer = new InMemoryBufferStore({ session: "monday" });
    const engine = new DefaultContextEngine({ buffer, backend });
    expect(engine.ownsCompaction).toBe(false);
    for (const number of [1, 2, 3]) await engine.afterTurn({ messages: turn(number) });
    expect(await engine.compact()).toEqual({ compacted: false, reason: "delegated to runtime" });
    expect(backend.numbers).toEqual([1, 2, 3]);
    expect(await engine.compact()).toEqual({ compacted: false, reason: "nothing to compact" });
    expect(backend.calls).toEqual([3]);
  });
});

describe("SlidingWindowEngine", () => {
  const TURNS = 6;
  let engine = new SlidingWindowEngine({ buffer: new InMemoryBufferStore({ session: "x" }), backend });

  async function filled(compactThreshold?: number): Promise<void> {
    buffer = new InMemoryBufferStore({ session: "monday" });
    engine = new SlidingWindowEngine({ buffer, backend, ...(compactThreshold !== undefined && { compactThreshold }) });
    for (let number = 1; number <= TURNS; number++) await engine.afterTurn({ messages: turn(number) });
  }
  const windowOf = (...numbers: number[]): Message[] => numbers.flatMap(turn);

  it("delivers the oldest turns and returns the rest as the new window", async () => {
    await filled();
    expect(engine.ownsCompaction).toBe(true);
    const { compacted, reason, result } = await engine.compact({ tokenBudget: 1_000, currentTokenCount: 550 });
    expect({ compacted, reason }).toEqual({ compacted: true, reason: "ingested and evicted messages" });
    const evicted = backend.numbers;
    expect(evicted).toEqual([1, 2, 3, 4, 5, 6].slice(0, evicted.length));
    expect(evicted.length).toBeGreaterThan(0);
    expect(evicted.length).toBeLessThan(TURNS);
    expect(result?.messages).toEqual(windowOf(...[1, 2, 3, 4, 5, 6].slice(evicted.length)));
    expect(result?.tokensBefore).toBe(550);
    expect(result?.tokensAfter).toBeLessThanOrEqual(500);
    expect(buffer.count()).toBe(TURNS - evicted.length);
  });

  it.each([
    [0.5, 500, false],
    [0.5, 501, true],
    [1, 1_000, false],
    [1, 1_001, true],
    [0.001, 1, false],
    [0.001, 2, true],
  ])("at a threshold of %d and %d of 1,000 tokens, evicts: %s", async (threshold, currentTokenCount, evicts) => {
    await filled(threshold);
    const { compacted, reason } = await engine.compact({ tokenBudget: 1_000, currentTokenCount });
    expect(compacted).toBe(evicts);
    if (!evicts) expect(reason).toBe("below compact threshold");
    expect(backend.calls.length).toBe(evicts ? 1 : 0);
  });

  it("counts the buffered turns by the budget of an earlier call if the window size is not given", async () => {
    await filled();
    await expect(engine.compact()).rejects.toThrow(coded("invalid_input"));
    await engine.assemble({ messages: [], tokenBudget: 100_000 });
    expect(await engine.compact()).toEqual({ compacted: false, reason: "below compact threshold" });
    const { result } = await engine.compact({ tokenBudget: 10 });
    expect(result?.tokensBefore).toBeGreaterThan(TURNS * 10);
  });

  it("keeps the newest turn, unless it is forced", async () => {
    await filled();
    const params = { tokenBudget: 10, currentTokenCount: 1_000_000 };
    expect((await engine.compact(params)).result?.messages).toEqual(windowOf(6));
    expect(await engine.compact(params)).toEqual({ compacted: false, reason: "no messages to evict" });
    const { result } = await engine.compact({ ...params, force: true });
    expect(result?.messages).toEqual([]);
    expect(backend.numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("evicts the oldest turn below the threshold, if it is forced", async () => {
    await filled();
    const { result } = await engine.compact({ tokenBudget: 1_000, currentTokenCount: 0, force: true });
    expect(result).toEqual({ messages: windowOf(2, 3, 4, 5, 6), tokensBefore: 0, tokensAfter: 0 });
  });

  it("includes turns in the new window that are added during the delivery", async () => {
    await filled();
    backend.meanwhile = () => engine.afterTurn({ messages: turn(7) });
    const { result } = await engine.compact({ tokenBudget: 10, currentTokenCount: 1_000_000 });
    expect(result?.messages).toEqual(windowOf(6, 7));
  });

  it("changes nothing when the backend fails", async () => {
    await filled();
    backend.fault = "refused";
    const params = { tokenBudget: 10, currentTokenCount: 1_000_000 };
    await expect(engine.compact(params)).rejects.toThrow(coded("backend_failed"));
    expect(buffer.count()).toBe(TURNS);
    backend.fault = undefined;
    expect((await engine.compact(params)).result?.messages).toEqual(windowOf(6));
  });

  it.each([0, -0.5, 1.01, Number.NaN, "0.5"])("refuses a threshold of %s", async (compactThreshold) => {
    buffer = new InMemoryBufferStore({ session: "monday" });
    const options = { buffer, backend, compactThreshold: compactThreshold as number };
    expect(() => new SlidingWindowEngine(options)).toThrow(coded("invalid_input"));
    await expect(filled(0.5).then(() => engine.compact({ tokenBudget: 10, currentTokenCount: -1 }))).rejects.toThrow(
      coded("invalid_input"),
    );
  });
});
