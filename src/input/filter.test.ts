import { expect, test } from "vitest";
import { KINDS, ROLES, TIERS } from "../types.js";
import { parseFilter } from "./filter.js";

const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

test.each([
  [{}, {}],
  [{ session: undefined, metadata: undefined }, {}],
  [{ session: "s" }, { sessions: ["s"] }],
  [
    { session: ["s", "t", "s"], agent: ["a"] },
    { sessions: ["s", "t"], agents: ["a"] },
  ],
  [{ role: "user" }, { roles: ["user"] }],
  [
    { role: ROLES, kind: KINDS, tier: TIERS },
    { roles: ROLES, kinds: KINDS, tiers: TIERS },
  ],
  [
    { from: "1970-01-01", to: new Date(9) },
    { from: 0, to: 9 },
  ],
  [{ metadata: {} }, { metadata: [] }],
  [{ metadata: { topic: "cats" } }, { metadata: [{ path: ["topic"], anyOf: ["cats"] }] }],
  [
    { metadata: { "a.b.c": [1, true, null, "x", 1] } },
    { metadata: [{ path: ["a", "b", "c"], anyOf: [1, true, null, "x"] }] },
  ],
  [{ metadata: { "k\ud800": "v\0" } }, { metadata: [{ path: ["k\ufffd"], anyOf: ["v\ufffd"] }] }],
  [{ metadata: JSON.parse('{"__proto__":1}') }, { metadata: [{ path: ["__proto__"], anyOf: [1] }] }],
])("%j becomes %j", (filter, rows) => expect(parseFilter(filter)).toStrictEqual(rows));

test.each([
  [null, "filter must be an object, got null"],
  [{ sessions: "s" }, 'filter has an unknown key "sessions"; did you mean "session"?'],
  [{ session: [] }, "filter.session is an empty list"],
  [{ session: null }, "filter.session must be a string, got null"],
  [{ session: ["s", ""] }, "filter.session[1] must not be empty"],
  [{ agent: "\ud800" }, "filter.agent must not contain"],
  [{ agent: Array(1) }, "filter.agent[0] must be a string, got undefined"],
  [{ role: "usr" }, 'got "usr"; did you mean "user"?'],
  [
    { kind: ["fact", "facts"] },
    'filter.kind[1] must be one of "message", "knowledge", "fact", "overflow", got "facts"',
  ],
  [{ tier: {} }, "filter.tier must be one of"],
  [{ from: "yesterday" }, "filter.from must be epoch"],
  [{ to: Number.NaN }, "filter.to must be whole epoch milliseconds"],
  [{ metadata: [] }, "filter.metadata must be a plain object, got a list"],
  [{ metadata: new Map([["a", 1]]) }, "filter.metadata must be a plain object, got an instance of Map"],
  [{ metadata: Object.create({ a: 1 }) }, "filter.metadata must be a plain object, got an object"],
  [{ metadata: { a: undefined } }, 'filter.metadata["a"] must be a string, a number, a boolean or null, got undefined'],
  [{ metadata: { a: { b: 1 } } }, 'filter.metadata["a"] must be a string, a number, a boolean or null, got an object'],
  [{ metadata: { a: [[1]] } }, 'filter.metadata["a"][0] must be'],
  [{ metadata: { a: Number.NaN } }, 'filter.metadata["a"] must be'],
  [{ metadata: { a: [] } }, 'filter.metadata["a"] is an empty list'],
  [{ metadata: { "": 1 } }, 'filter.metadata[""] has an empty step'],
  [{ metadata: { "a..b": 1 } }, 'filter.metadata["a..b"] has an empty step'],
  [{ metadata: { [Array(33).fill("a").join(".")]: 1 } }, "is deeper than 32 levels"],
])("%j is refused", (filter, message) => expect(() => parseFilter(filter)).toThrow(refused("invalid_input", message)));

test("what is too large is refused as such", () => {
  const many = Array.from({ length: 1001 }, (_, index) => String(index));
  expect(parseFilter({ session: many.slice(1) }).sessions).toHaveLength(1000);
  expect(() => parseFilter({ session: many })).toThrow(
    refused("too_large", "filter.session is over the limit of 1000"),
  );
  const keys = Object.fromEntries(many.slice(0, 101).map((key) => [key, 1]));
  expect(() => parseFilter({ metadata: keys })).toThrow(refused("too_large", "filter.metadata is over"));
  expect(() => parseFilter({ metadata: { a: "x".repeat(65_537) } })).toThrow(
    refused("too_large", 'filter.metadata["a"]'),
  );
  expect(() => parseFilter({ metadata: { ["x".repeat(65_537)]: 1 } })).toThrow(refused("too_large", "filter.metadata"));
});
