import { expect, test } from "vitest";
import { ROLES } from "../types.js";
import { parseInteger } from "./integer.js";
import { parseChoice } from "./refusal.js";

test.each(ROLES)("%s is a role", (role) => expect(parseChoice(role, ROLES, "role")).toBe(role));

test.each([
  ["asistant", 'got "asistant"; did you mean "assistant"?'],
  ["User", 'got "User"; did you mean "user"?'],
  ["xyz", 'got "xyz"'],
  ["", 'got ""'],
  [undefined, "got undefined"],
  [["user"], "got a list"],
])("%j is not one", (value, message) => {
  expect(() => parseChoice(value, ROLES, "role")).toThrow(
    `role must be one of "user", "assistant", "system", "tool", ${message}`,
  );
});

test("whole numbers in a range", () => {
  expect([1, 500, 1000].map((value) => parseInteger(value, "topK", 1, 1000))).toEqual([1, 500, 1000]);
});

test.each([0, 1001, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, "5", null, 5n, true])("%o is out of it", (value) => {
  expect(() => parseInteger(value, "topK", 1, 1000)).toThrow("topK must be a whole number from 1 to 1000, got ");
});
