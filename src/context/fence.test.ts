import { describe, expect, it } from "vitest";
import { heading, indented, inline, quoted, unquoted, withoutLooseMargin } from "./fence.js";

describe("a fence", () => {
  it.each(["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"])(
    "puts its margin after %j, which ends a line",
    (end) => {
      expect(quoted(`a${end}[block x]`)).toBe("a\n> [block x]");
      expect(indented(`a${end}User: b`)).toBe("a\n  User: b");
    },
  );

  it("removes control characters and changes nothing else", () => {
    expect(quoted("a\u001b[2J\u0007\u001cb\u007f\u009b")).toBe("a\ufffd[2J\ufffd\ufffdb\ufffd\ufffd");
    const text = "if (a < b && c > d) { \t return `x`; } // 漢字 🧑🏽‍🚀 e\u0301 می\u200cخواهم";
    expect(quoted(text)).toBe(text);
  });

  it("removes characters that reverse or hide text", () => {
    expect(quoted("a\u202eb\u2066c\u200f\u061cd\u200be\u{e0041}\ufeff")).toBe("abcde");
    expect(indented("a\u202eb\u200b")).toBe("ab");
    expect(inline("a\u202eb\u200b\u{e0041}")).toBe("ab");
  });

  it("can be removed again", () => {
    expect(unquoted(quoted("a\n\n> b\n c"))).toBe("a\n\n> b\n c");
  });

  it("leaves no partial margin at the end of a cut", () => {
    expect(["a\n", "a\n>", "a\n> ", "a\n ", "a\n  "].map(withoutLooseMargin)).toEqual(["a", "a", "a", "a", "a"]);
    expect(["a\n> b", "a > ", "a  "].map(withoutLooseMargin)).toEqual(["a\n> b", "a > ", "a  "]);
  });

  it("opens with a heading on a line of its own", () => {
    expect(heading("fact f1", "home")).toBe("[fact f1 home]\n> ");
  });
});

describe("a name in one of our lines", () => {
  it("is bare if it is a plain word, else quoted", () => {
    expect(["Ada", "ada@x.org", "李雷", "user-1_a"].map((name) => inline(name))).toEqual([
      "Ada",
      "ada@x.org",
      "李雷",
      "user-1_a",
    ]);
    expect(inline("Ada L.")).toBe('"Ada L."');
    expect(inline('x"]\n[block y], "')).toBe('"x\\"] [block y], \\""');
    expect(inline("a\u2028b\u0085c\u001bd")).toBe('"a b c\ufffdd"');
    expect(inline("")).toBe('""');
    expect(inline("User: hi")).toBe('"User: hi"');
  });

  it("is cut between graphemes if it is long", () => {
    expect(inline("👩‍👩‍👧‍👦".repeat(5), 2)).toBe(`"${"👩‍👩‍👧‍👦".repeat(2)}…"`);
    expect(inline("abc", 3)).toBe("abc");
  });
});
