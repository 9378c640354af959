import { expect, test } from "vitest";
import { loadConfig } from "../config.js";
import { parseQuery } from "./query.js";

const { query: DEFAULTS } = loadConfig({ code: { path: ":memory:" } }).buffer;
const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });
const parse = (options?: unknown, text: unknown = "x") => parseQuery(text, options, DEFAULTS);

test("the defaults come from the options", () => {
  const plain = { text: "x", topK: 10, sortBy: "score", order: "desc", within: "space", filter: {} };
  expect(parse()).toStrictEqual(plain);
  expect(parse({})).toStrictEqual(plain);
  expect(parseQuery("x", {}, { maxSize: 3, defaultSortBy: "timestamp", defaultOrder: "asc" })).toStrictEqual({
    ...plain,
    ...{ topK: 3, sortBy: "timestamp", order: "asc" },
  });
});

test("what the caller asks for wins, also over maxSize", () => {
  const options = { topK: 1000, sortBy: "timestamp", order: "asc", within: "session", spaces: [{ team: "red" }] };
  expect(parse({ ...options, role: "user", metadata: { a: 1 } })).toStrictEqual({
    ...{ text: "x", ...options },
    filter: { roles: ["user"], metadata: [{ path: ["a"], anyOf: [1] }] },
  });
});

test.each([
  ["user", "space"],
  ["space", "space"],
  ["session", "session"],
  ["agent", "agent"],
])("within %s is within the %s", (within, parsed) => expect(parse({ within }).within).toBe(parsed));

test("the text is repaired, and may be empty", () => {
  expect(parse({}, "a\ud800\0").text).toBe("a\ufffd\ufffd");
  expect(parse({}, "").text).toBe("");
});

test("64 KiB of text are allowed, one byte more is not", () => {
  expect(parse({}, "x".repeat(65_536)).text).toHaveLength(65_536);
  expect(() => parse({}, "x".repeat(65_537))).toThrow(refused("too_large", "query is over the limit of 64 KiB"));
  expect(() => parse({}, "漢".repeat(22_000))).toThrow(refused("too_large", "query is over the limit of 64 KiB"));
});

test.each([
  [{ topK: 0 }, "options.topK must be a whole number from 1 to 1000, got 0"],
  [{ topK: 1001 }, "options.topK must be a whole number from 1 to 1000, got 1001"],
  [{ topK: "5" }, "options.topK must be a whole number from 1 to 1000, got a string"],
  [{ top_k: 5 }, 'options has an unknown key "top_k"; did you mean "topK"?'],
  [{ sortBy: "time" }, 'options.sortBy must be one of "score", "timestamp", got "time"'],
  [{ order: "descending" }, "options.order must be one of"],
  [{ within: "everyone" }, 'options.within must be one of "user", "space", "session", "agent", got "everyone"'],
  [{ spaces: [] }, "options.spaces must name at least one space"],
  [{ spaces: [{ user: "" }] }, "options.spaces[0].user must not be empty"],
  [{ role: "x" }, "options.role must be one of"],
  [5, "options must be an object, got a number"],
])("%j is refused", (options, message) => expect(() => parse(options)).toThrow(refused("invalid_input", message)));

test.each([undefined, null, 5, ["x"]])("the text %j is refused", (text) => {
  expect(() => parseQuery(text, {}, DEFAULTS)).toThrow(refused("invalid_input", "query must be a string, got "));
});
