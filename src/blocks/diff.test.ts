import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIFF_EDITS_MAX, DIFF_LINES_MAX, unifiedDiff } from "./diff.js";
import { applyChange } from "./edit.js";
import { applyPatch } from "./patch.js";

const LABELS = { name: "persona", from: 3, to: 4 };

const anyLine = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.constantFrom(
    "",
    "a",
    "b",
    "\r",
    "a\r",
    "- a",
    "-- a",
    "--- a",
    "+++ b",
    "++ b",
    "@@ -1,1 +1,1 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "Index: x",
    "=".repeat(67),
    " ",
    "$&",
  ),
);
const anyText = fc
  .tuple(fc.array(anyLine, { maxLength: 15 }), fc.constantFrom("\n", "\r\n"))
  .map(([lines, lineEnd]) => lines.join(lineEnd));
/** Two texts that have most lines in common. */
const twoTexts = fc.oneof(
  fc.tuple(anyText, anyText),
  fc
    .tuple(
      fc.array(fc.tuple(anyLine, fc.constantFrom("both", "both", "both", "before", "after")), { maxLength: 40 }),
      fc.constantFrom("\n", "\r\n"),
    )
    .map(([lines, lineEnd]): [string, string] => {
      const without = (other: string): string =>
        lines.flatMap(([line, where]) => (where === other ? [] : [line])).join(lineEnd);
      return [without("after"), without("before")];
    }),
);

describe("the diff of two versions", () => {
  it("names them, and shows what changed with three lines around it", () => {
    const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    expect(unifiedDiff(before, before.replace("five", "FIVE"), LABELS)).toBe(
      [
        "--- persona (version 3)",
        "+++ persona (version 4)",
        "@@ -2,7 +2,7 @@",
        " two",
        " three",
        " four",
        "-five",
        "+FIVE",
        " six",
        " seven",
        " eight",
        "",
      ].join("\n"),
    );
  });

  it("says where a newline is missing at the end", () => {
    expect(unifiedDiff("a", "a\n", LABELS)).toContain("-a\n\\ No newline at end of file\n+a\n");
  });

  it("is empty for equal texts", () => {
    expect(unifiedDiff("same\n", "same\n", LABELS)).toBe("");
  });

  it("shows a name as it is, unless it contains control characters", () => {
    expect(unifiedDiff("a", "b", { name: "Persönlichkeit „ich“", from: 1, to: 2 })).toMatch(
      /^--- Persönlichkeit „ich“ \(version 1\)\n\+\+\+ Persönlichkeit „ich“ \(version 2\)\n@@/,
    );
    expect(unifiedDiff("a", "b", { name: "x\n+++ y", from: 1, to: 2 })).toMatch(/^--- "x\\n\+\+\+ y" \(version 1\)\n/);
  });

  it("turns the first text into the second, for any two texts", () => {
    fc.assert(
      fc.property(twoTexts, fc.string({ minLength: 1 }), ([before, after], name) => {
        const patch = unifiedDiff(before, after, { name, from: 1, to: 2 });
        expect(applyChange(before, { patch })).toBe(after);
      }),
      { numRuns: 2000 },
    );
  });

  it("replaces all lines if more differ than are compared", () => {
    const text = (name: string): string => Array.from({ length: DIFF_EDITS_MAX }, (_, i) => `${name} ${i}`).join("\n");
    const patch = unifiedDiff(text("before"), text("after"), LABELS);
    expect(patch).toContain(`@@ -1,${DIFF_EDITS_MAX} +1,${DIFF_EDITS_MAX} @@`);
    expect(applyChange(text("before"), { patch })).toBe(text("after"));
    const fromNothing = unifiedDiff("", `${text("after")}\n${text("more")}\n`, LABELS);
    expect(applyChange("", { patch: fromNothing })).toBe(`${text("after")}\n${text("more")}\n`);
  });

  it("of texts of very many lines blocks no server: it replaces all lines, without a comparison", () => {
    for (const end of ["", "\n"]) {
      const before = `${"a\n".repeat(DIFF_LINES_MAX / 2)}b${end}`;
      const after = `${"a\n".repeat(DIFF_LINES_MAX / 2)}c`;
      const patch = unifiedDiff(before, after, LABELS);
      expect(patch.match(/^[-+]a$/gm)).toHaveLength(DIFF_LINES_MAX);
      expect(applyPatch(before, patch)).toBe(after);
    }
  });
});
