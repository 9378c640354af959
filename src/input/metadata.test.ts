import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { repairJson } from "../text.js";
import type { Json } from "../types.js";
import { parseMetadata } from "./metadata.js";

const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });
const parse = (value: unknown) => parseMetadata(value, "metadata");

/** An object of so many levels, the innermost of them `leaf`. */
function nest(levels: number, leaf: object): unknown {
  return Array.from({ length: levels - 1 }).reduce((value) => ({ a: value }), leaf);
}

test("any JSON object comes back as JSON would give it", () => {
  const values = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 5 }));
  fc.assert(
    fc.property(values, (value) => {
      expect(parse(value)).toStrictEqual(repairJson(JSON.parse(JSON.stringify(value)) as Json));
    }),
  );
});

test("strings and keys are repaired, at any depth", () => {
  expect(parse({ "a\ud800": ["b\0", { c: "\udc00d" }] })).toEqual({ "a\ufffd": ["b\ufffd", { c: "\ufffdd" }] });
});

test("keys that would become one are refused, in either order", () => {
  for (const value of [
    { "a\ud800": 1, "a\ufffd": 2 },
    { "a\ufffd": 2, "a\ud800": 1 },
    { "a\ud800": 1, "a\0": 2 },
  ]) {
    expect(() => parse(value)).toThrow(refused("invalid_input", "is the same key as another"));
  }
});

test("it is a copy", () => {
  const inner = { city: "Lisbon" };
  const list = [inner];
  const parsed = parse({ list });
  inner.city = "Porto";
  list.push(inner);
  expect(parsed).toEqual({ list: [{ city: "Lisbon" }] });
});

test("__proto__ is a key like any other", () => {
  const parsed = parse(JSON.parse('{"__proto__":{"admin":true}}'));
  expect(Object.keys(parsed)).toEqual(["__proto__"]);
  expect((parsed as { admin?: unknown }).admin).toBeUndefined();
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test("plain objects of other realms and without a prototype are plain", () => {
  expect(parse(runInNewContext("({ a: [1] })"))).toEqual({ a: [1] });
  expect(parse(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
});

test("-0 is 0, as in JSON", () => expect(Object.is(parse({ a: -0 })["a"], 0)).toBe(true));

class Point {
  x = 1;
}
test.each([
  [{ a: undefined }, "metadata.a must be a JSON value, got undefined"],
  [{ a: [1, undefined] }, "metadata.a[1] must be a JSON value, got undefined"],
  [{ a: { b: Number.NaN } }, "metadata.a.b must be a JSON value, got NaN"],
  [{ a: Number.NEGATIVE_INFINITY }, "metadata.a must be a JSON value, got -Infinity"],
  [{ "a b": 1n }, 'metadata["a b"] must be a JSON value, got a BigInt'],
  [{ a: () => 1 }, "metadata.a must be a JSON value, got a function"],
  [{ a: Symbol("s") }, "metadata.a must be a JSON value, got a symbol"],
  [{ a: new Date() }, "metadata.a must be a JSON value, got an instance of Date"],
  [{ a: new Map() }, "metadata.a must be a JSON value, got an instance of Map"],
  [{ a: new Point() }, "metadata.a must be a JSON value, got an instance of Point"],
  [new Point(), "metadata must be a JSON value, got an instance of Point"],
  [{ toJSON: () => ({}) }, "metadata.toJSON must be a JSON value, got a function"],
  [[], "metadata must be a plain JSON object, got a list"],
  [null, "metadata must be a plain JSON object, got null"],
  ["{}", "metadata must be a plain JSON object, got a string"],
])("%o is refused", (value, message) => expect(() => parse(value)).toThrow(refused("invalid_input", message)));

test("32 levels are allowed, 33 are not", () => {
  for (const leaf of [{}, []]) {
    expect(() => parse(nest(32, leaf))).not.toThrow();
    expect(() => parse(nest(33, leaf))).toThrow(refused("invalid_input", "nested deeper than 32 levels"));
  }
});

test("a list with a hole is refused", () => {
  const holed: number[] = [];
  holed[1] = 1;
  expect(() => parse({ holed })).toThrow(refused("invalid_input", "metadata.holed[0] must be a JSON value"));
});

test("an object that contains itself is refused", () => {
  const loop: { self?: unknown } = {};
  loop.self = [loop];
  expect(() => parse(loop)).toThrow(refused("invalid_input", "or contains itself"));
});

test("a small graph that unfolds to billions of nodes is refused at once", () => {
  let value: unknown = { leaf: 1 };
  for (let level = 0; level < 30; level++) value = { a: value, b: value };
  expect(() => parse(value)).toThrow(refused("too_large", "metadata is over the limit of 64 KiB of JSON"));
});

test("64 KiB of JSON are allowed, one byte more is not", () => {
  const filler = (bytes: number) => "x".repeat(bytes - '{"a":""}'.length);
  expect(() => parse({ a: filler(65_536) })).not.toThrow();
  expect(() => parse({ a: filler(65_537) })).toThrow(refused("too_large", "metadata is over"));
  // 3 bytes each in UTF-8, 6 each when escaped, 24 for one number: shorter than the limit until it is serialised.
  expect(() => parse({ a: "漢".repeat(22_000) })).toThrow(refused("too_large", "metadata is over"));
  expect(() => parse({ a: "\u0001".repeat(11_000) })).toThrow(refused("too_large", "metadata is over"));
  expect(() => parse({ a: Array(3_000).fill(-Number.EPSILON / 3e99) })).toThrow(refused("too_large", "metadata is"));
});

test("what is accepted is never over the limit", () => {
  const texts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.double({ noNaN: true, noDefaultInfinity: true })));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 3000 }), (values, times) => {
      let parsed: unknown;
      try {
        parsed = parse({ a: Array(times).fill(values) });
      } catch {
        return;
      }
      expect(Buffer.byteLength(JSON.stringify(parsed))).toBeLessThanOrEqual(65_536);
    }),
    { numRuns: 50 },
  );
});
