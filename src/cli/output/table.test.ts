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

  it("cut names that later commands need", () => {
    const name = "a session with a name of more than forty columns";
    const named = [{ name: "NAME" }, { name: "OF" }, { name: "CHANGED" }];
    const item = [name, "user ada", "2026-11-19 01:47"];
    expect(tableLines(named, [item], { width: 100, isColored: false })[1]).toBe(item.join("  "));
    expect(tableLines(named, [item], { width: 40, isColored: false })).toEqual([
      "NAME     a session with a name of more",
      "         than forty columns",
      "OF       user ada",
      "CHANGED  2026-11-19 01:47",
    ]);
  });

  it("was a list of cells because of one long value", () => {
    const options = [{ name: "OPTION" }, { name: "VALUE" }, { name: "FROM" }];
    const values = [
      ["server.port", "8000", "default"],
      ["buffer.speculative.predictors", "next_line,stride,correlation,topic,opening", "a variable"],
    ];
    expect(tableLines(options, values, { width: 64, isColored: false })).toEqual([
      "OPTION                         VALUE                 FROM",
      "server.port                    8000                  default",
      "buffer.speculative.predictors  next_line,stride,co…  a variable",
    ]);
  });

  it("breaks a last column that has to stay whole into lines", () => {
    const checks = [{ name: "STATE" }, { name: "FOUND", isWhole: true }];
    const found = [["error", "the index lacks 3 items; holdfast doctor --repair adds them"]];
    expect(tableLines(checks, found, { width: 40, isColored: false })).toEqual([
      "STATE  FOUND",
      "error  the index lacks 3 items; holdfast",
      "       doctor --repair adds them",
    ]);
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

  it("is plain text with tabs elsewhere, uncut, one row per line for any cells", () => {
    const lines = plainLines(columns, [["a\tb\nc", "1", `${"x".repeat(500)}\u001b[31m`]]);
    expect(lines).toEqual(["NAME\tCOUNT\tABOUT", `a\\tb\\nc\t1\t${"x".repeat(500)}\\e[31m`]);
  });
});
