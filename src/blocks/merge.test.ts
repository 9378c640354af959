import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { merge3 } from "./merge.js";

const anyLine = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 5 }),
  fc.constantFrom("", "\r", "a", "b", "<<<<<<< mine", "=======", ">>>>>>> theirs", "__proto__", "constructor"),
);
const anyText = fc.array(anyLine, { maxLength: 12 }).map((lines) => lines.join("\n"));

describe("a merge of two edits", () => {
  it.each([
    ["in different lines", "a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"],
    ["one at the top, one at the end", "a", "a\nend", "top\na", "top\na\nend"],
    [
      "one of which adds lines, the other removes some",
      "a\nb\nc\nd\n",
      "a\na2\nb\nc\nd\n",
      "a\nb\nc\n",
      "a\na2\nb\nc\n",
    ],
    ["the same on both sides, and one more", "a\nb\nc", "A\nb\nc", "A\nb\nC", "A\nb\nC"],
    ["the same insertion on both sides", "a\nb\nc\nd", "a\nx\nb\nc\nD", "a\nx\nb\nc\nd", "a\nx\nb\nc\nD"],
    ["one of which adds a line like its neighbours", "a\na\nb\nc", "a\na\na\nb\nc", "a\na\nb\nC", "a\na\na\nb\nC"],
    ["with Windows line ends", "a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nC\r\n"],
    ["one of which removes the newline at the end", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nc", "A\nb\nc"],
    [
      "where lines have names of an object's own",
      "__proto__\nb\nconstructor",
      "x\nb\nconstructor",
      "__proto__\nb\ny",
      "x\nb\ny",
    ],
  ])("has both: %s", (_, base, mine, theirs, expected) => {
    expect(merge3(base, mine, theirs)).toBe(expected);
  });

  it.each([
    ["change the same line", "a\nb\nc", "a\nB\nc", "a\nX\nc"],
    ["change lines side by side", "a\nb\nc", "A\nb\nc", "a\nB\nc"],
    ["add different text at the end", "a\n", "a\nx\n", "a\ny\n"],
    ["add different text to nothing", "", "x", "y"],
    ["change and remove the same line", "a\nb\nc", "a\nB\nc", "a\nc"],
    ["insert beside a line that the other changes", "a\nb\nc", "a\nx\nb\nc", "a\nB\nc"],
    ["overlap in part", "a\nb\nc\nd", "A\nB\nc\nd", "a\nB\nC\nd"],
  ])("does not exist if they %s", (_, base, mine, theirs) => {
    expect(merge3(base, mine, theirs)).toBeUndefined();
    expect(merge3(base, theirs, mine)).toBeUndefined();
  });

  it("is the one edit if the other side has none, and the edit itself if both are equal", () => {
    fc.assert(
      fc.property(anyText, anyText, (base, side) => {
        expect(merge3(base, side, base)).toBe(side);
        expect(merge3(base, base, side)).toBe(side);
        expect(merge3(base, side, side)).toBe(side);
      }),
    );
  });

  it("is symmetric, and has no line that neither side has", () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (base, mine, theirs) => {
        const merged = merge3(base, mine, theirs);
        expect(merge3(base, theirs, mine)).toBe(merged);
        const known = new Set([...mine.split("\n"), ...theirs.split("\n")]);
        for (const line of merged?.split("\n") ?? []) expect(known).toContain(line);
      }),
      { numRuns: 500 },
    );
  });

  it("has both edits wherever they are, if a line lies between them", () => {
    const edit = fc.record({ insert: fc.array(fc.nat(9), { maxLength: 3 }), remove: fc.nat(2) });
    fc.assert(
      fc.property(
        fc.nat(5),
        edit,
        fc.integer({ min: 1, max: 5 }),
        edit,
        fc.nat(5),
        (head, first, gap, second, tail) => {
          const numbered = (name: string, count: number): string[] =>
            Array.from({ length: count }, (_, i) => `${name}${i}`);
          const [top, one, between, two, end] = [
            numbered("top", head),
            numbered("one", first.remove),
            numbered("between", gap),
            numbered("two", second.remove),
            numbered("end", tail),
          ] as const;
          const mine = first.insert.map((each) => `mine ${each}`);
          const theirs = second.insert.map((each) => `theirs ${each}`);
          const text = (...parts: readonly (readonly string[])[]): string => parts.flat().join("\n");
          expect(
            merge3(
              text(top, one, between, two, end),
              text(top, mine, between, two, end),
              text(top, one, between, theirs, end),
            ),
          ).toBe(text(top, mine, between, theirs, end));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("does not exist for texts that differ in thousands of lines, instead of taking minutes", () => {
    const text = (name: string): string => Array.from({ length: 20_000 }, (_, i) => `${name} ${i}`).join("\n");
    expect(merge3(text("base"), text("mine"), text("theirs"))).toBeUndefined();
  });

  it("is found among thousands of equal lines", () => {
    const lines = Array.from({ length: 20_000 }, () => "");
    const [mine, theirs, both] = [lines.with(10, "x"), lines.with(19_000, "y"), lines.with(10, "x").with(19_000, "y")];
    expect(merge3(lines.join("\n"), mine.join("\n"), theirs.join("\n"))).toBe(both.join("\n"));
  });
});
