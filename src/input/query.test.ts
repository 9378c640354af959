import { expect, test } from "vitest";
import { loadConfig } from "../config.js";
import { parseQuery } from "./query.js";

const { query: DEFAULTS } = loadConfig({ code: { path: ":memory:" } }).buffer;
const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });
const PLACE = { space: { user: "ada" }, session: "one", agent: "tutor" } as const;
const parse = (options?: unknown, text: unknown = "x") => parseQuery(text, options, PLACE, DEFAULTS);
const question = (options?: unknown, text?: unknown) => parse(options, text).question;
const presentation = (options?: unknown) => parse(options).presentation;

test("the defaults come from the options", () => {
  const plain = {
    question: { text: "x", spaces: [{ user: "ada" }], filter: {}, depth: 10, bufferOnly: false, recency: 0 },
    presentation: { topK: 10, offset: 0, sortBy: "score", order: "desc" },
  };
  expect(parse()).toStrictEqual(plain);
  expect(parse({})).toStrictEqual(plain);
  const defaults = { ...DEFAULTS, maxSize: 3, defaultSortBy: "timestamp", defaultOrder: "asc" } as const;
  expect(parseQuery("x", {}, PLACE, defaults).presentation).toStrictEqual({
    ...plain.presentation,
    ...{ topK: 3, sortBy: "timestamp", order: "asc" },
  });
});

test("maxSize limits every answer, regardless of what the caller asks for", () => {
  const defaults = { ...DEFAULTS, maxSize: 15 };
  const topK = (options: object) => parseQuery("x", options, PLACE, defaults).presentation.topK;
  expect([{}, { topK: 14 }, { topK: 15 }, { topK: 16 }, { topK: 1000, offset: 0 }].map(topK)).toEqual([
    10, 14, 15, 15, 15,
  ]);
  expect(() => topK({ topK: 1001 })).toThrow(refused("invalid_input", "options.topK must be"));
});

test("what the caller asks for wins", () => {
  const shown = { topK: 900, offset: 100, sortBy: "timestamp", order: "asc" };
  const asked = { spaces: [{ team: "red" }], recency: 0.5, deadlineMs: 20, bufferOnly: true };
  const options = { ...shown, ...asked, askedAt: 1000, role: "user", metadata: { a: 1 } };
  expect(parse(options)).toStrictEqual({
    question: {
      ...{ text: "x", ...asked, askedAt: 1000, depth: 1000 },
      filter: { roles: ["user"], metadata: [{ path: ["a"], anyOf: [1] }], to: 86_401_000 },
    },
    presentation: shown,
  });
});

test("a question asked at some time does not see what occurred more than a day later, or after its own end", () => {
  expect(question({ askedAt: "2026-01-01" }).filter.to).toBe(Date.UTC(2026, 0, 2));
  expect(question({ askedAt: "2026-01-01", to: "2025-12-31" }).filter.to).toBe(Date.UTC(2025, 11, 31));
});

test("the ranking is deep enough for the page, in steps", () => {
  expect(question({ topK: 100 }).depth).toBe(100);
  expect(question({ topK: 100, offset: 1 }).depth).toBe(110);
});

test("explain may name items", () => {
  expect(presentation({ explain: true }).explain).toEqual({ ids: [] });
  expect(presentation({ explain: ["a", "b", "a"] }).explain).toEqual({ ids: ["a", "b"] });
  expect(presentation({ explain: false }).explain).toBeUndefined();
});

test.each([
  ["user", {}],
  ["space", {}],
  ["session", { sessions: ["one"] }],
  ["agent", { agents: ["tutor"] }],
])("within %s filters by %j", (within, filter) => expect(question({ within }).filter).toEqual(filter));

test.each(["session", "agent"])("within %s needs one in the scope", (within) => {
  const place = { space: { user: "ada" } } as const;
  expect(() => parseQuery("x", { within }, place, DEFAULTS)).toThrow(refused("invalid_input", `needs a ${within}`));
});

test("the text is repaired and normalised, and may be empty", () => {
  expect(question({}, "a\ud800\0").text).toBe("a\ufffd\ufffd");
  expect(question({}, "  where \n is\u00a0she? ").text).toBe("where is she?");
  expect(question({}, "").text).toBe("");
});

test("64 KiB of text are allowed, one byte more is not", () => {
  expect(question({}, "x".repeat(65_536)).text).toHaveLength(65_536);
  expect(() => parse({}, "x".repeat(65_537))).toThrow(refused("too_large", "query is over the limit of 64 KiB"));
  expect(() => parse({}, "漢".repeat(22_000))).toThrow(refused("too_large", "query is over the limit of 64 KiB"));
});

test.each([
  [{ topK: 0 }, "options.topK must be a whole number from 1 to 1000, got 0"],
  [{ topK: 1001 }, "options.topK must be a whole number from 1 to 1000, got 1001"],
  [{ topK: "5" }, "options.topK must be a whole number from 1 to 1000, got a string"],
  [{ top_k: 5 }, 'options has an unknown key "top_k"; did you mean "topK"?'],
  [{ offset: 991 }, "options.offset must be a whole number from 0 to 990, got 991"],
  [{ recency: 1.5 }, "options.recency must be a number from 0 to 1, got 1.5"],
  [{ recency: "new" }, "options.recency must be a number from 0 to 1, got a string"],
  [{ deadlineMs: -1 }, "options.deadlineMs must be a whole number from 0 to 3600000, got -1"],
  [{ bufferOnly: "yes" }, "options.bufferOnly must be true or false, got a string"],
  [{ explain: "a" }, "options.explain must be true, false or a list of ids, got a string"],
  [{ askedAt: "soon" }, "options.askedAt"],
  [{ sortBy: "time" }, 'options.sortBy must be one of "score", "timestamp", got "time"'],
  [{ order: "descending" }, "options.order must be one of"],
  [{ within: "everyone" }, 'options.within must be one of "user", "space", "session", "agent", got "everyone"'],
  [{ spaces: [] }, "options.spaces must name at least one space"],
  [{ spaces: [{ user: "" }] }, "options.spaces[0].user must not be empty"],
  [{ role: "x" }, "options.role must be one of"],
  [5, "options must be an object, got a number"],
])("%j is refused", (options, message) => expect(() => parse(options)).toThrow(refused("invalid_input", message)));

test.each([undefined, null, 5, ["x"]])("the text %j is refused", (text) => {
  expect(() => parseQuery(text, {}, PLACE, DEFAULTS)).toThrow(refused("invalid_input", "query must be a string, got "));
});
