import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Table } from "./entry.js";
import { jsonEntry, withJsonEntry, withoutJsonEntry } from "./json-config.js";

const SLOT = { file: "/f.json", key: "servers", name: "ours" };
const ENTRY = { command: "node", args: ["a", "b"] };

describe("an entry is laid out as the text around it", () => {
  it.each([
    [
      "{}",
      '{\n  "servers": {\n    "ours": {\n      "command": "node",\n      "args": [\n        "a",\n        "b"\n      ]\n    }\n  }\n}',
    ],
    ['{"servers":{}}', '{"servers":{"ours":{"command":"node","args":["a","b"]}}}'],
    ['{"a":1}', '{"a":1,"servers":{"ours":{"command":"node","args":["a","b"]}}}'],
    [
      '{\n\t"servers": {}\n}',
      '{\n\t"servers": {\n\t\t"ours": {\n\t\t\t"command": "node",\n\t\t\t"args": [\n\t\t\t\t"a",\n\t\t\t\t"b"\n\t\t\t]\n\t\t}\n\t}\n}',
    ],
    [
      '{\n  "servers": {\n    "x": {} // last\n  }\n}',
      '{\n  "servers": {\n    "x": {}, // last\n    "ours": {\n      "command": "node",\n      "args": [\n        "a",\n        "b"\n      ]\n    }\n  }\n}',
    ],
    [
      '// mine\n/* and\n  mine */ { // too\n\t"servers": {}\n}',
      '// mine\n/* and\n  mine */ { // too\n\t"servers": {\n\t\t"ours": {\n\t\t\t"command": "node",\n\t\t\t"args": [\n\t\t\t\t"a",\n\t\t\t\t"b"\n\t\t\t]\n\t\t}\n\t}\n}',
    ],
    [
      "{\n  // none yet\n}\n",
      '{\n  "servers": {\n    "ours": {\n      "command": "node",\n      "args": [\n        "a",\n        "b"\n      ]\n    }\n  }\n  // none yet\n}\n',
    ],
  ])("%j", (before, after) => expect(withJsonEntry(before, SLOT, ENTRY)).toBe(after));
});

describe("an entry is taken away with its line and its comma, and nothing else", () => {
  it.each([
    ['{\n  "servers": {\n    "ours": {},\n    "x": 1\n  }\n}', '{\n  "servers": {\n    "x": 1\n  }\n}'],
    [
      '{\n  "servers": {\n    "a": 1, // a\n    "ours": {}, "x": 1\n  }\n}',
      '{\n  "servers": {\n    "a": 1, // a\n     "x": 1\n  }\n}',
    ],
    [
      '{\n  "servers": {\n    "a": 1,\n    "ours": {} // of ours\n  }\n}',
      '{\n  "servers": {\n    "a": 1\n     // of ours\n  }\n}',
    ],
    ['{"servers":{"ours":{},"x":1}}', '{"servers":{"x":1}}'],
    ['{"servers": { // kept\n "ours": {}\n}}', '{"servers": { // kept\n}}'],
    ['{"z": 1, "servers": {"ours": {}}}', '{"z": 1 }'],
    ['{"servers": {"ours": {}}, "z": 1}', '{ "z": 1}'],
    ['{"servers": {"x": 1}}', '{"servers": {"x": 1}}'],
    ["", ""],
  ])("%j", (before, after) => expect(withoutJsonEntry(before, SLOT)).toBe(after));
});

it("only what differs in an entry is written, and comments in it stay", () => {
  const text =
    '{"servers": {\n  "ours": { // mine\n    "command": "old", // c\n    "args": ["a", "b"], "extra": {"x": 1},\n    "gone": true\n  }\n}}';
  expect(withJsonEntry(text, SLOT, { ...ENTRY, extra: { x: 1, y: [2] } })).toBe(
    '{"servers": {\n  "ours": { // mine\n    "command": "node", // c\n    "args": ["a", "b"], "extra": {"x": 1,"y":[2]}\n  }\n}}',
  );
});

describe("what cannot be understood is refused", () => {
  it.each([
    ['{"servers": {}, "servers": {}}', "contains “servers” twice"],
    ['{"servers": {"ours": {}, "ours": {}}}', "contains “ours” twice"],
    ['{"servers": 1}', "“servers” is not a JSON object"],
    ["[]", "the file is not a JSON object"],
    ["// nothing\n", "not valid JSON"],
    ['{"a": 1} {', "not valid JSON"],
    ["{'a': 1}", "line 1, InvalidSymbol"],
  ])("%j", (text, message) => {
    for (const act of [() => withJsonEntry(text, SLOT, ENTRY), () => withoutJsonEntry(text, SLOT)])
      expect(act).toThrow(expect.objectContaining({ code: "config", message: expect.stringContaining(message) }));
  });
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const table = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true, maxKeys: 4 });

it("all other content of a file survives in its layout, and the original returns when the entry is removed", () => {
  const file = fc.record({ whole: table, servers: fc.option(table), indent: fc.constantFrom(0, 1, 2, 4, "\t") });
  fc.assert(
    fc.property(file, fc.constantFrom("\n", "\r\n"), ({ whole, servers, indent }, lineEnd) => {
      const { servers: _, ...others } = whole;
      const { ours: _ours, ...neighbours } = servers ?? {};
      const object = servers ? { ...others, servers: neighbours } : others;
      const text = JSON.stringify(object, undefined, indent).replaceAll("\n", lineEnd);
      const after = withJsonEntry(text, SLOT, ENTRY);
      expect(JSON.parse(after)).toEqual({
        ...(plain(object) as Table),
        servers: { ...(plain(neighbours) as Table), ours: ENTRY },
      });
      expect(plain(jsonEntry(after, SLOT))).toEqual(ENTRY);
      expect(withJsonEntry(after, SLOT, ENTRY)).toBe(after);
      const back = withoutJsonEntry(after, SLOT);
      // An empty table of servers looks like one that was created for the entry.
      if (servers && Object.keys(neighbours).length === 0) expect(JSON.parse(back)).toEqual(plain(others));
      else expect(back).toBe(text);
    }),
  );
});

it("comments survive in any position, and the result is always valid", () => {
  const gap = fc.constantFrom("", " ", "\n", " // c\n", "/* d */", "\n  // own\n  ", "\r\n", " /* e\n f */ ");
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "ours"), { maxLength: 3 });
  const tops = fc.uniqueArray(fc.constantFrom("x", "servers", "z"), { maxLength: 3 });
  fc.assert(
    fc.property(names, tops, fc.infiniteStream(gap), fc.boolean(), (inner, outer, gaps, isTrailing) => {
      const some = (): string => gaps.next().value;
      const written = (members: readonly (readonly [string, string])[]): string => {
        const each = members.map(([name, value]) => `${JSON.stringify(name)}${some()}:${some()}${value}${some()}`);
        const end = isTrailing && members.length > 0 ? `,${some()}` : "";
        return `{${some()}${each.join(`,${some()}`)}${end}}`;
      };
      const servers = inner.map((name) => [name, name === "ours" ? '{"command":"old"}' : "1"] as const);
      const text = some() + written(outer.map((name) => [name, name === "servers" ? written(servers) : "2"])) + some();
      const after = withJsonEntry(text, SLOT, ENTRY);
      expect(after.match(COMMENT)).toEqual(text.match(COMMENT));
      expect(plain(jsonEntry(after, SLOT))).toEqual(ENTRY);
      expect(withJsonEntry(after, SLOT, ENTRY)).toBe(after);
      const back = withoutJsonEntry(after, SLOT);
      // What is between the name and the value of an entry is part of it.
      if (!inner.includes("ours")) expect(back.match(COMMENT)).toEqual(text.match(COMMENT));
      expect(jsonEntry(back, SLOT)).toBeUndefined();
    }),
  );
});

const COMMENT = /\/\/ \w+|\/\* [\s\S]*?\*\//g;
