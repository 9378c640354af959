import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { applyPatch } from "./patch.js";

const patch = (...lines: readonly string[]): string => `${lines.join("\n")}\n`;
const CHANGE_B = patch("@@ -1,3 +1,3 @@", " a", "-b", "+B", " c");

describe("a patch", () => {
  it.each([
    ["without file headers", CHANGE_B],
    ["with file headers", `--- persona (version 1)\n+++ persona (version 2)\n${CHANGE_B}`],
    ["as Git writes it", `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n${CHANGE_B}`],
    ["in a fence, with words around it", `Here it is:\n\`\`\`diff\n${CHANGE_B}\`\`\`\nDone.`],
    ["without a newline at its end", CHANGE_B.trimEnd()],
  ])("is applied %s", (_, text) => {
    expect(applyPatch("a\nb\nc\n", text)).toBe("a\nB\nc\n");
  });

  it("may have lost the space before an empty line", () => {
    expect(applyPatch("a\n\nb\n", patch("@@ -1,3 +1,3 @@", " a", "", "-b", "+B"))).toBe("a\n\nB\n");
  });

  it("may have several hunks", () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
    const text = patch(
      "@@ -2,1 +2,1 @@",
      "-line 2",
      "+LINE 2",
      "@@ -10,0 +11,1 @@",
      "+new",
      "@@ -19,1 +20,0 @@",
      "-line 19",
    );
    const expected = lines.with(1, "LINE 2").toSpliced(18, 1).toSpliced(10, 0, "new");
    expect(applyPatch(lines.join("\n"), text)).toBe(expected.join("\n"));
  });

  it("applies to a text whose last line has no newline, even if it does not say so", () => {
    expect(applyPatch("a\nb", patch("@@ -1,2 +1,2 @@", " a", "-b", "+c"))).toBe("a\nc");
    expect(applyPatch("a", patch("@@ -1,1 +1,2 @@", " a", "+b"))).toBe("a\nb");
  });

  it("can add and remove the newline at the end", () => {
    const mark = "\\ No newline at end of file";
    expect(applyPatch("a", patch("@@ -1 +1 @@", "-a", mark, "+a"))).toBe("a\n");
    expect(applyPatch("a\n", patch("@@ -1 +1 @@", "-a", "+a", mark))).toBe("a");
    expect(applyPatch("a", patch("@@ -1 +1 @@", "-a", mark, "+b", mark))).toBe("b");
  });

  it("finds lines that have moved, nearest to its number, after the hunk before", () => {
    expect(applyPatch("new\nnew\na\nb\nc\n", CHANGE_B)).toBe("new\nnew\na\nB\nc\n");
    expect(applyPatch("x\ny\nx\ny\nx\ny\n", patch("@@ -4,1 +4,1 @@", "-x", "+X"))).toBe("x\ny\nX\ny\nx\ny\n");
    expect(applyPatch("x\nx\nx\n", patch("@@ -9 +9 @@", "-x", "+X"))).toBe("x\nx\nX\n");
    expect(applyPatch("x\nx\nx\n", patch("@@ -9,2 +9,2 @@", " x", "-x", "+X"))).toBe("x\nx\nX\n");
    expect(applyPatch("x\nx\nx\n", patch("@@ -2 +2 @@", "-x", "+1", "@@ -2 +2 @@", "-x", "+2"))).toBe("x\n1\n2\n");
  });

  it("moves a hunk that only adds along with the hunk before it", () => {
    const text = patch("@@ -1,1 +1,1 @@", "-a", "+A", "@@ -2,0 +3,1 @@", "+after b");
    expect(applyPatch("new\na\nb\nc\n", text)).toBe("new\nA\nb\nafter b\nc\n");
  });

  it("adopts the text's line endings", () => {
    expect(applyPatch("a\r\nb\r\nc\r\n", CHANGE_B)).toBe("a\r\nB\r\nc\r\n");
    expect(applyPatch("a\r\nb\r\nc", CHANGE_B)).toBe("a\r\nB\r\nc");
    expect(applyPatch("a\nb\nc\n", CHANGE_B.replaceAll("\n", "\r\n"))).toBe("a\nB\nc\n");
    expect(applyPatch("a\r\nb\r\nc\r\n", CHANGE_B.replaceAll("\n", "\r\n"))).toBe("a\r\nB\r\nc\r\n");
  });

  it("that is empty changes nothing", () => {
    expect(applyPatch("a\n", "")).toBe("a\n");
  });

  it.each([
    ["a line that is kept is another one", "a\nb\nC\n", CHANGE_B, 1],
    ["a line that is removed is not there", "a\nc\n", CHANGE_B, 1],
    ["a line differs in white space", "a\nb \nc\n", CHANGE_B, 1],
    ["the text is empty", "", CHANGE_B, 1],
    ["line ends are mixed, and its own are not the text's", "a\r\nb\nc\n", CHANGE_B, 1],
    ["it adds behind the end", "a\n", patch("@@ -2,0 +3,1 @@", "+x"), 1],
    ["it adds far behind the end", "a\n", patch("@@ -99999999999,0 +1,1 @@", "+x"), 1],
    [
      "a hunk belongs before the one above it",
      "a\nb\n",
      patch("@@ -2 +2 @@", "-b", "+B", "@@ -1 +1 @@", "-a", "+A"),
      2,
    ],
    ["it adds before the hunk above it", "a\nb\n", patch("@@ -2 +2 @@", "-b", "+B", "@@ -0,0 +1,1 @@", "+x"), 2],
    ["it removes the same line twice", "a\nb\n", patch("@@ -1 +0,0 @@", "-a", "@@ -1 +0,0 @@", "-a"), 2],
    [
      "it says the last line has no newline",
      "a\n",
      patch("@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+b"),
      1,
    ],
    [
      "it says a line is the last that is not",
      "a\nb",
      patch("@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+b"),
      1,
    ],
  ])("is a conflict if %s", (_, content, text, hunk) => {
    expect(() => applyPatch(content, text)).toThrow(
      expect.objectContaining({ name: "HoldfastError", code: "conflict", details: { field: "patch", hunk } }),
    );
  });

  it.each([
    ["is not one", "replace secret by word"],
    ["has no hunk", "--- a\n+++ b\n"],
    ["has one file header", "--- a\n@@ -1 +1 @@\n-secret\n+b\n"],
    ["counts its lines wrong", "@@ -1,3 +1,3 @@\n-secret\n+b\n"],
    ["has a line of no kind", "@@ -1,2 +1,2 @@\n-secret\nsecret\n"],
    ["has no numbers", "@@ ... @@\n-secret\n+b\n"],
    ["has numbers that are none", `@@ -${"9".repeat(400)} +1 @@\n-secret\n+b\n`],
    ["changes several texts", `--- a\n+++ a\n${CHANGE_B}--- b\n+++ b\n${CHANGE_B}`],
  ])("that %s is refused, without its text in the message", (_, text) => {
    const error = errorOf(() => applyPatch("secret\n", text));
    expect(error).toMatchObject({ code: "invalid_input", details: { field: "patch" }, hint: expect.any(String) });
    expect(error.message + error.hint + JSON.stringify(error.details)).not.toContain("secret");
    expect(error.cause).toBeUndefined();
  });

  it("of any text is either applied or refused", () => {
    const line = fc.oneof(
      fc.constantFrom(" a", "-a", "+a", "", "\\ No newline at end of file", "--- a", "+++ a", "diff --git a b"),
      fc
        .tuple(fc.nat(5), fc.nat(3), fc.nat(5), fc.nat(3))
        .map(([from, old, to, count]) => `@@ -${from},${old} +${to},${count} @@`),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(fc.constantFrom("", "a", "a\n", "a\na\na\n", "\n\n", "a\r\na"), text, (content, each) => {
        try {
          expect(typeof applyPatch(content, each)).toBe("string");
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^(conflict|invalid_input)$/) });
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("is applied to a text of equal lines without quadratic time", () => {
    const [lines, context] = [200_000, 100_000];
    const old = Array.from({ length: context }, () => " ");
    const text = patch(`@@ -1,${context + 1} +1,${context} @@`, ...old, "-x");
    expect(() => applyPatch("\n".repeat(lines), text)).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(applyPatch(`${"\n".repeat(lines)}x\n`, text)).toBe("\n".repeat(lines));
  });
});

describe("a patch of many hunks that blocks the server", () => {
  const hunks = 20_000;

  it("is refused if each of them is far from its place", () => {
    const lines = Array.from({ length: hunks }, (_, at) => `line ${at}`);
    const far = lines.flatMap((line, at) => [`@@ -${at === 0 ? hunks : 2 * at},1 +1,1 @@`, `-${line}`, "+x"]);
    const error = errorOf(() => applyPatch(lines.join("\n"), patch(...far)));
    expect(error).toMatchObject({ code: "too_large", hint: expect.stringContaining("current text") });
  });

  it("is applied if each of them is just after the one before", () => {
    const lines = Array.from({ length: hunks }, () => ["@@ -1,1 +1,1 @@", "-a", "+b"]).flat();
    expect(applyPatch("a\n".repeat(10 * hunks), patch(...lines))).toBe("b\n".repeat(hunks) + "a\n".repeat(9 * hunks));
  });
});

function errorOf(act: () => unknown): HoldfastError {
  try {
    act();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
