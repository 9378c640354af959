/** On a terminal: tables, colour, editors, prompts; and a real pseudo-terminal. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { newFolder, newPath } from "../support/opened.js";
import { holdfast, jsonOf, MAIN, Process } from "./cli.js";

const ESCAPE = "\u001b";

describe("on a terminal", () => {
  it("tables are aligned and cut to its width, times are short, and NO_COLOR is respected", async () => {
    const path = newPath();
    await holdfast(["blocks", "create", "persona", "A baker. ".repeat(30), "--path", path]);
    await holdfast(["blocks", "create", "日本語", "x", "--path", path]);
    const plain = await holdfast(["blocks", "list", "--path", path], { columns: 80, env: { NO_COLOR: "1" } });
    const lines = plain.out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^NAME {5}VERSION {2}CHANGED {11}BUDGET {9}ABOUT$/);
    expect(lines[1]).toMatch(/^persona {2}1 {8}\d{4}-\d\d-\d\d \d\d:\d\d {2}4096 \(manual\) {2}A baker.*…$/);
    expect(lines[2]).toMatch(/^日本語 {3}1 /);
    expect(lines[1]?.length).toBe(80);
    expect(plain.out + plain.err).not.toContain(ESCAPE);
    const colored = await holdfast(["blocks", "list", "--path", path], { columns: 80 });
    expect(colored.out).toContain(`${ESCAPE}[1mNAME`);
    expect(colored.err).toContain(`${ESCAPE}[2muser default in`);
    const piped = await holdfast(["blocks", "list", "--path", path]);
    expect(piped.out).not.toContain(ESCAPE);
    expect(piped.out).toMatch(/^NAME\tVERSION\tCHANGED\tBUDGET\tABOUT\npersona\t1\t\d{4}-\d\d-\d\dT[\d:.]+Z\t/);
  });

  it("the titles of help are bold", async () => {
    const help = await holdfast(["add", "--help"], { columns: 60 });
    expect(help.out).toContain(`${ESCAPE}[1mOptions:`);
    expect((await holdfast(["add", "--help"])).out).not.toContain(ESCAPE);
    expect((await holdfast(["add", "--help"], { columns: 60, env: { NO_COLOR: "1" } })).out).not.toContain(ESCAPE);
  });

  it("hits and facts are cut to one line each, and JSON is indented", async () => {
    const path = newPath();
    await holdfast(["add", "tea ".repeat(100), "--path", path]);
    await holdfast(["facts", "add", "drink", "tea ".repeat(100), "--confidence", "0.5", "--path", path]);
    const terminal = { columns: 60, env: { NO_COLOR: "1" } };
    const found = await holdfast(["query", "tea", "--kind", "message", "--path", path], terminal);
    expect(found.out).toMatch(/^1\. [\d.]+ {2}user {2}[\d-]+ [\d:]+\n {3}[0-9a-f-]{36}\n {3}tea tea .*…\n$/);
    const facts = await holdfast(["facts", "list", "--path", path], terminal);
    expect(facts.out).toMatch(/^drink {2}holds {2}since [\d-]+ [\d:]+ {2}sure 0\.50\n {3}fact-\S+\n {3}tea tea .*…\n$/);
    expect((await holdfast(["query", "tea", "--json", "--path", path], terminal)).out).toMatch(/^\{\n {2}"scope": \{/);
  });

  it("blocks and diffs keep their own lines, so that they can be copied", async () => {
    const path = newPath();
    const line = "a long line of a block ".repeat(6).trim();
    await holdfast(["blocks", "create", "b", `${line}\n`, "--path", path]);
    await holdfast(["blocks", "edit", "b", "--append", "x", "--path", path]);
    const terminal = { columns: 60, env: { NO_COLOR: "1" } };
    expect((await holdfast(["blocks", "show", "b", "--path", path], terminal)).out).toContain(`${line}\nx`);
    expect((await holdfast(["blocks", "diff", "b", "--path", path], terminal)).out).toContain(` ${line}\n+x`);
  });

  it("an edit without a change opens the editor, and merges with concurrent edits", async () => {
    const path = newPath();
    const folder = newFolder();
    await holdfast(["blocks", "create", "b", "one\ntwo\nthree\nfour\nfive\n", "--path", path]);
    const edit = (editor: string) =>
      holdfast(["blocks", "edit", "b", "--path", path], { env: { EDITOR: editor, VISUAL: "" } });
    expect(await edit("true")).toMatchObject({ code: 0, err: expect.stringContaining("no change") });
    // The editor has an argument, and a colleague writes while it is open.
    const meanwhile = `'${process.execPath}' '${MAIN}' blocks edit b --replace five --with 5 --path '${path}'`;
    const seen = join(folder, "seen.txt");
    const edited = await edit(`f() { cp "$1" '${seen}'; sed -i s/one/1/ "$1"; ${meanwhile}; } > /dev/null 2>&1; f`);
    expect(edited).toMatchObject({ code: 0, out: "b is now at version 3\n" });
    expect((await holdfast(["blocks", "show", "b", "--path", path])).out).toBe("1\ntwo\nthree\nfour\n5\n");
    expect(existsSync(seen)).toBe(true);
    expect(await edit("false")).toMatchObject({
      code: 2,
      err: expect.stringContaining("the editor failed"),
    });
    expect(await edit("")).toMatchObject({ code: 2, err: expect.stringContaining("no editor is configured") });
    expect((await holdfast(["blocks", "edit", "b", "--path", path], { stdin: "" })).err).toContain("no edit was given");
  });

  it("in a real one colour is used, and long work shows a progress bar", async () => {
    const path = newPath();
    await holdfast(["add", "tea", "--path", path]);
    // One terminal, three commands: a real process each.
    const lines = ["stats", "backup b.db --overwrite", "stats --json"].map((line) => `"$N" "$M" ${line}`).join("; ");
    const env = { N: process.execPath, M: MAIN, HOLDFAST_STORE_PATH: path, TERM: "xterm", NO_COLOR: "" };
    const folder = newFolder();
    const terminal = new Process("script", ["-qec", `cd '${folder}' && ${lines}`, "/dev/null"], env);
    expect(await terminal.ended).toBe(0);
    expect(terminal.out).toContain(`${ESCAPE}[1mWHAT`);
    expect(terminal.out).toContain(`\r${ESCAPE}[Kcopying  [`);
    expect(terminal.out).toContain('\r\n{\r\n  "write": {');
  });
});

describe("before something is forgotten", () => {
  it("the user is asked, and only yes means yes", async () => {
    const path = newPath();
    await holdfast(["add", "tea", "--session", "s", "--path", path]);
    const answer = (text: string | null) => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      if (text === null) stdin.end();
      else stdin.write(text);
      return holdfast(["forget", "--session", "s", "--path", path], { stdin, columns: 80, env: { NO_COLOR: "1" } });
    };
    expect(await answer(null)).toMatchObject({ code: 0, out: "" }); // end of input is not a yes
    const refused = await answer("n\n");
    expect(refused).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/\[y\/N\] nothing was done\n$/) });
    expect(refused.err.replaceAll("\n", " ")).toContain(
      "Really forget everything in user default · session s? This cannot be undone. [y/N]",
    );
    expect(jsonOf(await holdfast(["query", "tea", "--path", path, "--json"]))).toMatchObject({
      hits: [{ content: "tea" }],
    });
    expect(await answer("yes\n")).toMatchObject({ code: 0, out: "forgotten: 1 item, 1 session\n" });
  });
});
