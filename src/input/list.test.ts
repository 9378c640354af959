import { expect, test } from "vitest";
import { parseList } from "./list.js";

test("the defaults are a page of the twenty newest", () => {
  const plain = { limit: 20, sortBy: "arrival", order: "desc", filter: {} };
  expect(parseList(undefined)).toStrictEqual(plain);
  expect(parseList({ cursor: undefined })).toStrictEqual(plain);
});

test("what the caller asks for wins", () => {
  const options = { limit: 1000, sortBy: "timestamp", order: "asc", cursor: "c".repeat(8192) };
  expect(parseList({ ...options, tier: "working" })).toStrictEqual({ ...options, filter: { tiers: ["working"] } });
});

test.each([
  [{ limit: 0 }, "options.limit must be a whole number from 1 to 1000, got 0"],
  [{ limit: 1001 }, "options.limit must be a whole number from 1 to 1000, got 1001"],
  [{ sortBy: "score" }, 'options.sortBy must be one of "arrival", "timestamp", got "score"'],
  [{ order: "up" }, "options.order must be one of"],
  [{ cursor: "" }, "options.cursor is not a cursor"],
  [{ cursor: 5 }, "options.cursor is not a cursor"],
  [{ cursor: "x".repeat(8193) }, "options.cursor is not a cursor"],
  [{ limt: 5 }, 'options has an unknown key "limt"; did you mean "limit"?'],
  [{ session: [] }, "options.session is an empty list"],
])("%j is refused", (options, message) => {
  expect(() => parseList(options)).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
  );
});
