import { expect, test } from "vitest";
import { objectWith, quote, tooLarge, typeOf, wrongType } from "./refusal.js";

const KEYS = new Set(["role", "content"]);

test.each([
  [null, "null"],
  [undefined, "undefined"],
  [[1], "a list"],
  [5, "a number"],
  [Number.NaN, "NaN"],
  [1.5, "1.5"],
  [5n, "a BigInt"],
  ["secret", "a string"],
  [() => 1, "a function"],
  [Symbol("s"), "a symbol"],
  [new Date(), "an instance of Date"],
  [{ secret: 1 }, "an object"],
  [Object.create(null), "an object"],
  [{ constructor: undefined }, "an object"],
])("%o is called %j", (value, words) => expect(typeOf(value)).toBe(words));

test("an error names the field for people and for programs", () => {
  const error = wrongType("messages[3].role", "a string", null, "try one");
  expect(error).toMatchObject({
    code: "invalid_input",
    message: "messages[3].role must be a string, got null",
    hint: "try one",
    details: { field: "messages[3].role" },
  });
  expect(tooLarge("query", "64 KiB", "ask less")).toMatchObject({
    code: "too_large",
    message: "query is over the limit of 64 KiB",
    hint: "ask less",
  });
});

test("unknown keys are refused with the nearest one", () => {
  expect(() => objectWith({ rol: 1 }, KEYS, "messages[0]")).toThrow(
    'messages[0] has an unknown key "rol"; did you mean "role"?',
  );
  expect(() => objectWith({ xyz: 1 }, KEYS, "messages[0]")).toThrow(/unknown key "xyz"$/);
  expect(() => objectWith(JSON.parse('{"__proto__":1}'), KEYS, "m")).toThrow('unknown key "__proto__"');
  expect(() => objectWith({ toString: 1 }, KEYS, "m")).toThrow('unknown key "toString"');
});

test.each([null, undefined, 5, "x", [], () => 1])("%o is not an object", (value) => {
  expect(() => objectWith(value, KEYS, "m")).toThrow("m must be an object, got ");
});

test("inherited keys are not the caller's", () => {
  const value = Object.create({ strange: 1 }, { role: { value: "user", enumerable: true } });
  expect(objectWith(value, KEYS, "m")).toBe(value);
});

test("a quoted text is short and well-formed", () => {
  expect(quote("x".repeat(1000)).length).toBeLessThan(80);
  expect(quote(`${"x".repeat(59)}😀`).isWellFormed()).toBe(true);
  expect(quote('a"\n')).toBe('"a\\"\\n"');
});
