import { describe, expect, it } from "vitest";
import { parseContext } from "./context.js";
import type { ParsedScope } from "./scope.js";

const PLACE: ParsedScope = { space: { user: "ada" }, session: "s1" };
const parse = (options?: unknown) => parseContext(options, PLACE);

describe("what a call for context says", () => {
  it("may be nothing", () => {
    expect(parse()).toEqual({
      budgetTokens: 2000,
      shares: { blocks: 0.3, facts: 0.1, turns: 0.2, recall: 0.4 },
      turns: 5,
      topK: 50,
      spaces: [{ user: "ada" }],
      fresh: false,
      dryRun: false,
      deadlineMs: 2000,
    });
  });

  it("is taken as it is", () => {
    const options = {
      query: " where is she? ",
      budgetTokens: 1,
      counter: "gpt-4o-mini",
      shares: { recall: 2, blocks: 0 },
      turns: 0,
      topK: 1000,
      spaces: [{ team: "core" }, { user: "ada" }, { team: "core" }],
      asOf: "2026-01-01",
      askedAt: new Date(5),
      fresh: true,
      dryRun: true,
      deadlineMs: 0,
    };
    expect(parse(options)).toEqual({
      ...options,
      shares: { blocks: 0, facts: 0.1, turns: 0.2, recall: 2 },
      spaces: [{ team: "core" }, { user: "ada" }],
      asOf: Date.UTC(2026, 0, 1),
      askedAt: 5,
    });
    expect(parse({ counter: "chars4" }).counter).toBe("chars4");
  });

  it.each([
    [1, 10],
    [400, 10],
    [401, 11],
    [2_000, 50],
    [40_000, 1_000],
    [10_000_000, 1_000],
  ])("looks for as many items as %i tokens may hold: %i", (budgetTokens, topK) => {
    expect(parse({ budgetTokens }).topK).toBe(topK);
    expect(parse({ budgetTokens, topK: 7 }).topK).toBe(7);
  });

  it("asks for nothing with white space alone", () => {
    expect(parse({ query: " \n\u3000" })).not.toHaveProperty("query");
  });

  it.each([
    [{ budget: 5 }, 'options has an unknown key "budget"; did you mean "budgetTokens"?'],
    [{ query: 5 }, "options.query must be a string"],
    [{ budgetTokens: 0 }, "options.budgetTokens must be a whole number from 1"],
    [{ budgetTokens: 1.5 }, "options.budgetTokens must be"],
    [{ counter: "claude" }, 'options.counter must be a counter that is known, got "claude"'],
    [{ counter: 4 }, "options.counter must be"],
    [{ shares: { hits: 1 } }, 'options.shares has an unknown key "hits"'],
    [{ shares: { recall: -1 } }, "options.shares.recall must be a number from 0"],
    [{ shares: { recall: Number.NaN } }, "options.shares.recall must be"],
    [{ shares: { recall: "1" } }, "options.shares.recall must be"],
    [{ shares: { blocks: 0, facts: 0, turns: 0, recall: 0 } }, "options.shares leave nothing"],
    [{ turns: -1 }, "options.turns must be"],
    [{ topK: 0 }, "options.topK must be"],
    [{ spaces: [] }, "options.spaces must name at least one space"],
    [{ asOf: "yesterday" }, "options.asOf must be"],
    [{ askedAt: "2026-01-01T10:00" }, "options.askedAt has a time of day without an offset"],
    [{ fresh: 1 }, "options.fresh must be true or false"],
    [{ dryRun: "yes" }, "options.dryRun must be true or false"],
    [{ deadlineMs: -1 }, "options.deadlineMs must be"],
    [[], "options must be an object"],
  ])("is refused if it is %j", (options, message) => {
    expect(() => parse(options)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
    );
  });

  it("is refused if the question is a book", () => {
    expect(() => parse({ query: "x".repeat(64 * 1024 + 1) })).toThrow(expect.objectContaining({ code: "too_large" }));
  });
});
