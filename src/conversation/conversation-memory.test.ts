import { describe, expect, it } from "vitest";
import type { HoldfastError } from "../errors.js";
import { FakeClock } from "../testing/fake-clock.js";
import { ConversationMemory } from "./conversation-memory.js";
import type { MemoryConfig } from "./memory-config.js";

describe("the tests of the reference implementation", () => {
  it("record_and_format_context", () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "Hello");
    memory.recordTurn("assistant", "Hi there!");
    expect(memory.formatContext()).toBe("[Conversation Context]\nUser: Hello\nAssistant: Hi there!\n");
    expect(memory.length).toBe(2);
  });

  it("evicts_oldest_when_max_turns_exceeded", () => {
    const memory = new ConversationMemory({ maxTurns: 2, budgetChars: 10_000 });
    memory.recordTurn("user", "first");
    memory.recordTurn("assistant", "second");
    memory.recordTurn("user", "third");
    expect(memory.length).toBe(2);
    const context = memory.formatContext();
    expect(context).not.toContain("first");
    expect(context).toContain("second");
    expect(context).toContain("third");
  });

  it("budget_truncation", () => {
    const memory = new ConversationMemory({ maxTurns: 100, budgetChars: 60 });
    memory.recordTurn("user", "AAAA BBBB CCCC DDDD");
    memory.recordTurn("assistant", "EEEE FFFF GGGG HHHH");
    memory.recordTurn("user", "IIII JJJJ KKKK LLLL");
    // The reference implementation allows 30 bytes more.
    expect(memory.formatContext()).toBe("[Conversation Context]\nUser: IIII JJJJ KKKK LLLL\n");
  });

  it("empty_memory_formats_to_empty_string", () => {
    const memory = ConversationMemory.withDefaults();
    expect(memory.formatContext()).toBe("");
    expect(memory.isEmpty).toBe(true);
    expect(memory.length).toBe(0);
  });

  it("clear_removes_all_turns", () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "hello");
    memory.recordTurn("assistant", "world");
    expect(memory.length).toBe(2);
    memory.clear();
    expect(memory.isEmpty).toBe(true);
    expect(memory.formatContext()).toBe("");
  });

  it("serde_round_trip", () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "question");
    memory.recordTurn("assistant", "answer");
    const parsed = ConversationMemory.fromJSON(JSON.parse(JSON.stringify(memory, undefined, 2)));
    expect(parsed.length).toBe(2);
    expect(parsed.config.maxTurns).toBe(5);
    expect(parsed.formatContext()).toBe(memory.formatContext());
    expect(parsed.turns).toEqual(memory.turns);
  });
});

describe("a conversation memory", () => {
  it("has the documented defaults, and an immutable config", () => {
    const { config } = ConversationMemory.withDefaults();
    expect(config).toMatchObject({ maxTurns: 5, budgetChars: 4000 });
    expect(config).not.toHaveProperty("budgetTokens");
    expect(config.countTokens("four chars")).toBe(3);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("returns its turns with their times, as a frozen copy", () => {
    const clock = new FakeClock(Date.UTC(2026, 10, 16));
    const memory = new ConversationMemory({}, clock);
    memory.recordTurn("user", "now");
    memory.recordTurn("assistant", "then", "2026-01-01T01:00:00+01:00");
    const { turns } = memory;
    memory.recordTurn("user", "later");
    expect(turns).toEqual([
      { role: "user", content: "now", timestamp: Date.UTC(2026, 10, 16) },
      { role: "assistant", content: "then", timestamp: Date.UTC(2026, 0, 1) },
    ]);
    expect([turns, ...turns].every(Object.isFrozen)).toBe(true);
  });

  it("keeps the newest turns in order through any number of evictions", () => {
    const memory = new ConversationMemory({ maxTurns: 3 });
    for (let turn = 1; turn <= 1000; turn++) {
      memory.recordTurn("user", String(turn));
      const kept = Array.from({ length: Math.min(turn, 3) }, (_, back) => String(turn - back)).reverse();
      expect(memory.turns.map(({ content }) => content)).toEqual(kept);
    }
  });

  it("keeps nothing if maxTurns is 0", () => {
    const memory = new ConversationMemory({ maxTurns: 0 });
    memory.recordTurn("user", "hello");
    expect(memory.isEmpty).toBe(true);
  });

  it("accepts an empty turn", () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "");
    memory.recordTurn("assistant", " ");
    expect(memory.formatContext()).toBe("[Conversation Context]\nUser: \nAssistant:  \n");
  });

  it("repairs text that cannot be stored", () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "a\uD800b\0");
    expect(memory.turns[0]?.content).toBe("a\uFFFDb\uFFFD");
  });

  it.each<[string, Partial<MemoryConfig>]>([
    ["config.maxTurns", { maxTurns: -1 }],
    ["config.budgetChars", { budgetChars: 1.5 }],
    ["config.budgetTokens", { budgetTokens: Number.NaN }],
    ["config.countTokens", { countTokens: "chars4" as never }],
    ["config", { maxTurn: 3 } as never],
  ])("refuses a config with a wrong %s", (field, config) => {
    expect(() => new ConversationMemory(config)).toThrow(
      expect.objectContaining({ code: "invalid_input", details: { field } }),
    );
  });

  it("refuses other speakers, and content that is not text, without quoting it", () => {
    const memory = ConversationMemory.withDefaults();
    expect(() => memory.recordTurn("system" as never, "secret")).toThrow(/^role must be one of "user", "assistant"/);
    expect(() => memory.recordTurn("user", ["secret"] as never)).toThrow("content must be a string, got a list");
    expect(() => memory.recordTurn("user", "secret", "yesterday")).toThrow(/^timestamp must be/);
    expect(memory.isEmpty).toBe(true);
  });
});

describe("the serialised form", () => {
  const seed = {
    turns: [
      { role: "user", content: "question", timestamp: "2026-11-16T06:26:37.123456789Z" },
      { role: "assistant", content: "answer", timestamp: "2026-11-16T06:26:38+00:00" },
    ],
    config: { max_turns: 5, budget_chars: 4000 },
  };

  it("is that of the reference implementation, byte for byte", () => {
    const memory = new ConversationMemory({}, new FakeClock(Date.UTC(2026, 10, 16, 6)));
    memory.recordTurn("user", "question");
    expect(JSON.stringify(memory)).toBe(
      '{"turns":[{"role":"user","content":"question","timestamp":"2026-11-16T06:00:00.000Z"}],' +
        '"config":{"max_turns":5,"budget_chars":4000}}',
    );
    expect(new ConversationMemory({ budgetTokens: 7 }).toJSON().config).toEqual({
      max_turns: 5,
      budget_chars: 4000,
      budget_tokens: 7,
    });
  });

  it("is read with nanoseconds, offsets, 64-bit limits and unknown keys", () => {
    const memory = ConversationMemory.fromJSON({
      ...seed,
      config: { max_turns: 2 ** 64 - 1, budget_chars: 4000, budget_tokens: 9, budget_words: 1 },
      version: 2,
    });
    expect(memory.turns.map(({ timestamp }) => timestamp)).toEqual([
      Date.UTC(2026, 10, 16, 6, 26, 37, 123),
      Date.UTC(2026, 10, 16, 6, 26, 38),
    ]);
    expect(memory.config).toMatchObject({ maxTurns: Number.MAX_SAFE_INTEGER, budgetTokens: 9 });
  });

  it("keeps the newest turns if it has more than its limit, and is overridden by limits from code", () => {
    const config = { max_turns: 1, budget_chars: 3000 };
    expect(ConversationMemory.fromJSON({ ...seed, config }).turns.map(({ content }) => content)).toEqual(["answer"]);
    const wider = ConversationMemory.fromJSON({ ...seed, config }, { maxTurns: 2, budgetChars: undefined } as never);
    expect(wider.length).toBe(2);
    expect(wider.config.budgetChars).toBe(3000);
  });

  const [first, second] = seed.turns;
  it.each<[string, unknown]>([
    ["memory", undefined],
    ["memory", [seed]],
    ["turns", { config: seed.config }],
    ["turns", { ...seed, turns: { 0: first } }],
    ["turns[1]", { ...seed, turns: [first, null] }],
    ["turns[1].role", { ...seed, turns: [first, { ...second, role: "User" }] }],
    ["turns[0].content", { ...seed, turns: [{ ...first, content: null }] }],
    ["turns[0].timestamp", { ...seed, turns: [{ ...first, timestamp: 1767225600000 }] }],
    ["turns[0].timestamp", { ...seed, turns: [{ ...first, timestamp: "2026-02-30T00:00:00Z" }] }],
    ["config", { turns: seed.turns }],
    ["config.max_turns", { ...seed, config: { budget_chars: 1 } }],
    ["config.budget_chars", { ...seed, config: { max_turns: 1, budget_chars: "4000" } }],
    ["config.budget_tokens", { ...seed, config: { ...seed.config, budget_tokens: -1 } }],
  ])("is refused with a wrong %s, which is named, and no content is", (field, value) => {
    let refusal: unknown;
    try {
      ConversationMemory.fromJSON(value);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "invalid_input", details: { field } });
    expect((refusal as HoldfastError).message).not.toMatch(/question|answer/);
  });
});
