import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNewBlock } from "./block-input.js";
import { applyChange, type BlockChange, parseChange } from "./edit.js";

describe("a change of a block's text", () => {
  it.each<[string, string, BlockChange, string]>([
    ["the whole text", "old", { content: "new" }, "new"],
    ["the whole text, to nothing", "old", { content: "" }, ""],
    ["an addition to nothing", "", { append: "x" }, "x"],
    ["an addition on a new line", "a", { append: "x" }, "a\nx"],
    ["an addition after a line's end", "a\n", { append: "x\n" }, "a\nx\n"],
    ["an addition after a Windows line's end", "a\r\n", { append: "x" }, "a\r\nx"],
    ["an addition of nothing", "a", { append: "" }, "a"],
    ["a replacement", "I like tea.", { replace: "tea", with: "coffee" }, "I like coffee."],
    ["a removal", "I do not like tea.", { replace: " do not", with: "" }, "I like tea."],
    ["a replacement of all", "a-a-a", { replace: "a", with: "aa", all: true }, "aa-aa-aa"],
    ["a replacement of the only one by all", "x", { replace: "x", with: "y", all: true }, "y"],
    ["a replacement that means nothing to a program", "a.b", { replace: "a.b", with: "$& $1 $` \\1" }, "$& $1 $` \\1"],
    ["several of them", "axa", { replace: "a", with: "$&", all: true }, "$&x$&"],
    ["a replacement of what looks like a pattern", "a.b axb", { replace: "a.b", with: "-" }, "- axb"],
    ["a replacement across lines", "a\nb\nc", { replace: "a\nb", with: "x" }, "x\nc"],
    ["an insertion at the top", "a\nb", { insert: "x", line: 0 }, "x\na\nb"],
    ["an insertion after a line", "a\nb", { insert: "x", line: 1 }, "a\nx\nb"],
    ["an insertion of lines", "a\nb", { insert: "x\ny\n", line: 1 }, "a\nx\ny\nb"],
    ["an insertion at the end", "a\nb", { insert: "x", line: 2 }, "a\nb\nx"],
    ["an insertion after the last line's end", "a\nb\n", { insert: "x", line: 2 }, "a\nb\nx"],
    ["an insertion into nothing", "", { insert: "x", line: 0 }, "x"],
    ["an insertion of nothing", "a\nb", { insert: "", line: 1 }, "a\nb"],
    ["an insertion between empty lines", "\n\n", { insert: "x", line: 1 }, "\nx\n\n"],
    ["a patch", "a\nb\n", { patch: "@@ -2 +2 @@\n-b\n+B\n" }, "a\nB\n"],
  ])("is %s", (_, before, change, after) => {
    expect(applyChange(before, change)).toBe(after);
  });

  it("is refused if the text to replace does not occur", () => {
    for (const all of [false, true]) {
      expect(() => applyChange("secret", { replace: "Secret", with: "x", all })).toThrow(
        expect.objectContaining({
          code: "not_found",
          message: "the text to replace does not occur in the block",
          hint: expect.stringContaining("read the block again"),
        }),
      );
    }
  });

  it.each([
    ["a b a", "a", 2],
    ["a a a a", "a", 4],
    ["aaa", "aa", 2],
  ])("is refused if in %j the text %j can be replaced in more than one place", (content, replace, count) => {
    expect(() => applyChange(content, { replace, with: "x" })).toThrow(
      expect.objectContaining({
        code: "conflict",
        details: { field: "replace", count },
        hint: expect.stringContaining("all: true"),
      }),
    );
  });

  it("is refused if the text to replace is empty", () => {
    for (const all of [false, true]) {
      expect(() => applyChange("a", { replace: "", with: "x", all })).toThrow(
        expect.objectContaining({ code: "invalid_input", details: { field: "replace" } }),
      );
    }
  });

  it.each([
    ["", 1, 0],
    ["a", 2, 1],
    ["a\nb\n", 3, 2],
    ["a", -1, 1],
    ["a", 0.5, 1],
    ["a", Number.NaN, 1],
  ])("is refused if %j has no line %d to insert after", (content, line, lines) => {
    expect(() => applyChange(content, { insert: "x", line })).toThrow(
      expect.objectContaining({ code: "invalid_input", details: { field: "line", lines } }),
    );
  });

  it("is refused if the text becomes too large, even for a string", () => {
    const large = "a".repeat(8 * 1024 * 1024);
    const tooLarge = expect.objectContaining({ code: "too_large" });
    expect(() => applyChange(large, { append: "x" })).toThrow(tooLarge);
    expect(() => applyChange("", { content: `${large}x` })).toThrow(tooLarge);
    expect(() => applyChange(large, { replace: "a", with: large, all: true })).toThrow(tooLarge);
    expect(applyChange(large, { replace: "a", with: "b", all: true })).toHaveLength(large.length);
  });

  it("keeps everything that it does not name, for any text", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, text, fc.nat(5), (head, middle, tail, line) => {
        const content = head + middle + tail;
        expect(applyChange(content, { append: middle }).startsWith(content)).toBe(true);
        expect(applyChange(content, { append: middle }).endsWith(middle)).toBe(true);
        if (middle !== "" && content.indexOf(middle) === head.length && content.lastIndexOf(middle) === head.length) {
          expect(applyChange(content, { replace: middle, with: "$&" })).toBe(`${head}$&${tail}`);
        }
        const lines = content.split(/(?<=\n)/);
        if (content === "" || line > lines.length) return;
        const [above, below] = [lines.slice(0, line).join(""), lines.slice(line).join("")];
        const after = applyChange(content, { insert: middle, line });
        expect(after.startsWith(above)).toBe(true);
        expect(after.endsWith(below)).toBe(true);
        expect(after.slice(above.length, after.length - below.length).replaceAll("\n", "")).toBe(
          middle.replaceAll("\n", ""),
        );
        if (middle !== "" && below !== "") expect(after.at(-below.length - 1)).toBe("\n");
      }),
      { numRuns: 500 },
    );
  });
});

describe("the form of a change", () => {
  it.each<[unknown, BlockChange]>([
    [{ content: "" }, { content: "" }],
    [{ append: "x", content: undefined }, { append: "x" }],
    [
      { replace: "a", with: "" },
      { replace: "a", with: "" },
    ],
    [
      { replace: "a", with: "b", all: false },
      { replace: "a", with: "b", all: false },
    ],
    [
      { insert: "x", line: 0 },
      { insert: "x", line: 0 },
    ],
    [{ patch: "@@ -1 +1 @@" }, { patch: "@@ -1 +1 @@" }],
    [{ content: "a\u0000\ud800" }, { content: "a\uFFFD\uFFFD" }],
    [
      { replace: "a\ud83d", with: "\udc00" },
      { replace: "a\uFFFD", with: "\uFFFD" },
    ],
  ])("%j is one", (value, change) => {
    expect(parseChange(value)).toStrictEqual(change);
  });

  it.each([
    [null, "change must be an object, got null"],
    ["text", "change must be an object, got a string"],
    [["a"], "change must be an object, got a list"],
    [{}, "change changes nothing"],
    [{ content: undefined }, "change changes nothing"],
    [{ with: "x" }, "change changes nothing"],
    [{ content: "a", append: "b" }, "change asks for several changes: content, append"],
    [{ text: "a" }, 'change has an unknown key "text"; did you mean "content"?'],
    [{ apend: "a" }, 'change has an unknown key "apend"; did you mean "append"?'],
    [{ content: 1 }, "change.content must be a string, got a number"],
    [{ append: null }, "change.append must be a string, got null"],
    [{ patch: {} }, "change.patch must be a string, got an object"],
    [{ content: "a", with: "b" }, "change.with is only valid with replace"],
    [{ append: "a", line: 1 }, "change.line is only valid with insert"],
    [{ insert: "a", all: true, line: 1 }, "change.all is only valid with replace"],
    [{ replace: "a" }, "change.with must be a string, got undefined"],
    [{ replace: "", with: "x" }, "change.replace must not be empty"],
    [{ replace: "a", with: "b", all: "yes" }, "change.all must be true or false, got a string"],
    [{ insert: "a" }, "change.line must be a whole number from 0 to 9007199254740991, got undefined"],
    [{ insert: "a", line: -1 }, "change.line must be a whole number from 0 to 9007199254740991, got -1"],
    [{ insert: "a", line: 1.5 }, "change.line must be a whole number from 0 to 9007199254740991, got 1.5"],
  ])("%j is refused: %s", (value, message) => {
    expect(() => parseChange(value)).toThrow(
      expect.objectContaining({ code: "invalid_input", message, hint: expect.any(String) }),
    );
  });

  it("is refused with the name that the caller used", () => {
    expect(() => parseChange({ insert: "x" }, "edits[2]")).toThrow(/^edits\[2\]\.line must be/);
  });

  it("is refused over the limit of a text", () => {
    expect(() => parseChange({ append: "a".repeat(8 * 1024 * 1024 + 1) })).toThrow(
      expect.objectContaining({ code: "too_large", details: { field: "change.append" } }),
    );
  });

  it("is refused over the limit of lines, which would block a server", () => {
    const tooMany = "\n".repeat(100_000);
    for (const change of [
      { content: tooMany },
      { append: tooMany },
      { patch: tooMany },
      { replace: "a", with: tooMany },
    ]) {
      expect(() => parseChange(change)).toThrow(expect.objectContaining({ code: "too_large" }));
    }
    expect(() => parseNewBlock({ name: "b", content: tooMany })).toThrow(/over the limit of 100000 lines/);
    const most = tooMany.slice(1);
    expect(applyChange("", parseChange({ content: most }))).toBe(most);
    for (const change of [{ append: "x\n" }, { insert: "x\n", line: 0 }, { replace: "\n", with: "\n\n", all: true }]) {
      expect(() => applyChange(most, change)).toThrow(expect.objectContaining({ code: "too_large" }));
    }
  });
});
