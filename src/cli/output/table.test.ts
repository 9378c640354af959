import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { plainLines } from "./rows.js";
import { styled } from "./style.js";
import { tableLines } from "./table.js";

const columns = [{ name: "NAME" }, { name: "COUNT", align: "right" as const }, { name: "ABOUT" }];
const rows = [
  ["ada", "7", "likes tea"],
  ["日本語", "1200", "a very long text that does not fit onto the line of this narrow terminal"],
];

describe("a table", () => {
  it("is aligned by columns, and its last column is cut to the width", () => {
    const lines = tableLines(columns, rows, { width: 40, isColored: false });
    expect(lines).toEqual([
      "NAME    COUNT  ABOUT",
      "ada         7  likes tea",
      "日本語   1200  a very long text that…",
    ]);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(40);
  });

  it("is a list of its cells where the terminal is too narrow, so that ids stay whole", () => {
    const ids = [{ name: "ID" }, { name: "WHEN" }, { name: "ABOUT" }];
    const items = [
      ["01a1f182-7200-7000-824c-45e230a6e5e6", "2026-11-19 01:47", "a long text about the quick brown fox and others"],
      ["01a1f182-7200-7000-824c-45e230a6e5e7", "", "short"],
    ];
    const lines = tableLines(ids, items, { width: 60, isColored: false });
    expect(lines).toEqual([
      "ID     01a1f182-7200-7000-824c-45e230a6e5e6",
      "WHEN   2026-11-19 01:47",
      "ABOUT  a long text about the quick brown fox and others",
      "",
      "ID     01a1f182-7200-7000-824c-45e230a6e5e7",
      "ABOUT  short",
    ]);
    expect(tableLines(ids, items, { width: 80, isColored: false })[0]).toMatch(/^ID {36}WHEN/);
    const [colored = ""] = tableLines(ids, items, { width: 60, isColored: true });
    expect(colored).toBe("\u001b[1mID     \u001b[22m01a1f182-7200-7000-824c-45e230a6e5e6");
  });

  it("leaves out columns that are empty in every row", () => {
    const lines = tableLines(columns, [["ada", "", "tea"]], { width: 40, isColored: false });
    expect(lines).toEqual(["NAME  ABOUT", "ada   tea"]);
    expect(tableLines(columns, [], { width: 40, isColored: false })).toEqual(["NAME  COUNT  ABOUT"]);
  });

  it("has colour only where it is wanted, and colour does not move the columns", () => {
    const [, plain = ""] = tableLines(columns, [[styled("green", "ok"), "1", "x"]], { width: 40, isColored: false });
    const [, colored = ""] = tableLines(columns, [[styled("green", "ok"), "1", "x"]], { width: 40, isColored: true });
    expect(plain).not.toContain("\u001b");
    expect(colored).toContain("\u001b[32mok");
    expect(stringWidth(colored)).toBe(stringWidth(plain));
  });

  it("is plain, whole and with tabs elsewhere, one row a line, whatever the cells hold", () => {
    const lines = plainLines(columns, [["a\tb\nc", "1", `${"x".repeat(500)}\u001b[31m`]]);
    expect(lines).toEqual(["NAME\tCOUNT\tABOUT", `a\\tb\\nc\t1\t${"x".repeat(500)}\\e[31m`]);
  });
});
