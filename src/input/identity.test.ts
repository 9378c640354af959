import fc from "fast-check";
import { expect, test } from "vitest";
import { parseIdentity } from "./identity.js";

test("sound names come back exactly", () => {
  const names = fc.string({ unit: "binary", minLength: 1, maxLength: 512 }).filter((name) => !name.includes("\0"));
  fc.assert(
    fc.property(
      names.filter((name) => name.length <= 512),
      (name) => parseIdentity(name, "x") === name,
    ),
  );
});

test.each([" ", " ada ", "Ada", "e\u0301", "\u00e9", "\u200b", "\u202e", "../../etc", "a:b/c", "\n", "👩‍👩‍👧"])(
  "%j is not trimmed or normalised",
  (name) => expect(parseIdentity(name, "x")).toBe(name),
);

test.each([
  ["", "invalid_input", "must not be empty"],
  ["a\0b", "invalid_input", "must not contain NUL"],
  ["\ud800", "invalid_input", "half of a surrogate pair"],
  ["a\udc00b", "invalid_input", "half of a surrogate pair"],
  ["x".repeat(513), "too_large", "over the limit of 512 characters"],
  [null, "invalid_input", "must be a string, got null"],
  [5, "invalid_input", "must be a string, got a number"],
  [new String("ada"), "invalid_input", "must be a string, got an instance of String"],
])("%j is refused", (value, code, message) => {
  expect(() => parseIdentity(value, "scope.user")).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(`^scope\\.user .*${message}`) }),
  );
});

test("512 units are allowed", () => expect(parseIdentity("x".repeat(512), "x")).toHaveLength(512));
