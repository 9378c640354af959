import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, it } from "vitest";
import { tomlEntry, withoutTomlEntry, withTomlEntry } from "./toml-config.js";

const SLOT = { file: "/config.toml", key: "servers", name: "ours" };
const ENTRY = { command: "node", args: ["C:\\a", 'b "c"'], env: { KEY: "k" } };
const WRITTEN = `[servers.ours]
command = "node"
args = [ "C:\\\\a", "b \\"c\\"" ]

[servers.ours.env]
KEY = "k"
`;

it("a new entry goes to the end, after an empty line", () => {
  expect(withTomlEntry("", SLOT, ENTRY)).toBe(WRITTEN);
  expect(withTomlEntry("a = 1\n", SLOT, ENTRY)).toBe(`a = 1\n\n${WRITTEN}`);
  expect(withTomlEntry("a = 1", SLOT, ENTRY)).toBe(`a = 1\n\n${WRITTEN.trimEnd()}`);
});

describe("the sections of an entry are found", () => {
  it.each([
    ["in any place", `[servers.ours]\ncommand = "x"\n\n# of next\n[next]\na = 1\n`, `\n# of next\n[next]\na = 1\n`],
    [
      "in several places, in any spelling",
      `[ "servers" . 'ours' ] # here\ncommand = "x"\n[other]\na = 1\n\n[servers.ours.env]\nA = "1"\n\n[servers.x]\nb = 2\n`,
      `[other]\na = 1\n\n[servers.x]\nb = 2\n`,
    ],
    [
      "with headers in strings and arrays around them",
      `a = """\n[servers.ours]\n\\"""\n"""\nb = [\n  [1],\n  ["[servers.ours]"], # ]\n]\n\n[servers.ours]\ncommand = '''\n[next]\n'''\n\n[[next]]\nc = 1\n`,
      `a = """\n[servers.ours]\n\\"""\n"""\nb = [\n  [1],\n  ["[servers.ours]"], # ]\n]\n\n[[next]]\nc = 1\n`,
    ],
    ["at the end, with a comment after them", `[servers.ours]\na = 1\n# end`, `# end`],
  ])("%s", (_, text, without) => {
    expect(withoutTomlEntry(text, SLOT)).toBe(without);
    const after = withTomlEntry(text, SLOT, ENTRY);
    expect(tomlEntry(after, SLOT)).toEqual(ENTRY);
    expect(withTomlEntry(after, SLOT, ENTRY)).toBe(after);
    expect(withoutTomlEntry(after, SLOT)).toBe(without);
  });
});

describe("other spellings are refused with the text to paste", () => {
  it.each([
    ["an inline table of servers", 'servers = { x = { command = "y" } }\n'],
    ["an inline entry", '[servers]\nours = { command = "holdfast", args = ["mcp"] }\n'],
    ["an entry with dotted keys", '[servers]\nours.command = "holdfast"\n'],
    ["dotted keys at the top", 'servers.ours.command = "holdfast"\n'],
  ])("%s", (_, text) => {
    expect(() => withTomlEntry(text, SLOT, ENTRY)).toThrow(
      expect.objectContaining({ code: "unsupported", hint: expect.stringContaining("--print") }),
    );
    if (text.includes("ours"))
      expect(() => withoutTomlEntry(text, SLOT)).toThrow(expect.objectContaining({ code: "unsupported" }));
  });
});

it("numbers and times of other sections are compared as they are", () => {
  const text = "big = 9223372036854775807\nday = 2026-11-16\nnan = nan\n";
  expect(withoutTomlEntry(withTomlEntry(text, SLOT, ENTRY), SLOT)).toBe(text);
});

const word = fc.stringMatching(/^[a-zA-Z][\w -]{0,8}$/);
const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
const section = fc.dictionary(word, value, { noNullPrototype: true, maxKeys: 3 });

it("all other content of a file survives, and the original returns when the entry is removed", () => {
  const files = fc.record({ a: section, servers: fc.dictionary(word, section, { noNullPrototype: true, maxKeys: 3 }) });
  fc.assert(
    fc.property(files, fc.boolean(), fc.constantFrom("\n", "\r\n"), (file, isEnded, lineEnd) => {
      const { ours: _, ...servers } = file.servers;
      const text = (stringify({ ...file, servers }).trimEnd() + (isEnded ? "\n" : "")).replaceAll("\n", lineEnd);
      fc.pre(text.trim() !== "");
      const after = withTomlEntry(text, SLOT, ENTRY);
      expect(parse(after)).toEqual({ ...parse(text), servers: { ...servers, ours: ENTRY } });
      expect(withTomlEntry(after, SLOT, ENTRY)).toBe(after);
      expect(withoutTomlEntry(after, SLOT)).toBe(text);
    }),
  );
});
