/**
 * Bytes that are not UTF-8 on the command line, in the environment, in files and in piped input are refused with their
 * position. With U+FFFD instead, two users, two files or two messages would become one.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { newFolder, newPath } from "../support/opened.js";
import { errorOf, holdfast, jsonOf, MAIN, type Ran } from "./cli.js";

const withByte = (text: string, byte = 0xff): Buffer =>
  Buffer.from(text.replaceAll("?", String.fromCharCode(byte)), "latin1");

/** The real command, started by a shell, because Node cannot pass such arguments. `\377` stands for a byte. */
async function inShell(args: string, variables = ""): Promise<Ran> {
  const script = `${variables} "$NODE" "$MAIN" ${args}`.replaceAll(/\\37[67]/g, (byte) => `$(printf '${byte}')`);
  try {
    const { stdout, stderr } = await promisify(execFile)("/bin/sh", ["-c", script], {
      env: { ...process.env, NODE: process.execPath, MAIN },
    });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

describe.runIf(process.platform === "linux")("invalid UTF-8 on the command line", () => {
  it("does not merge two users, nor two files", async () => {
    const path = newPath();
    for (const user of ["\\377", "\\376", "a\\377b"]) {
      const ran = await inShell(`add hello --user "${user}" --json --path "${path}"`);
      expect(ran.code).toBe(2);
      expect(errorOf(ran)).toMatchObject({ code: "invalid_input", message: "argument 4 is not text in UTF-8" });
      expect(errorOf(ran).hint).toContain("UTF-8");
    }
    expect(existsSync(path)).toBe(false);
    const folder = newFolder();
    expect((await inShell(`add hello --path "${folder}/\\377.db"`)).code).toBe(2);
    expect((await inShell(`add "\\377" --path "${folder}/a.db"`)).code).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("U+FFFD itself is an ordinary character", async () => {
    const path = newPath();
    const ran = await inShell(`add hello --user "\ufffd" --json --path "${path}"`);
    expect(jsonOf(ran)).toMatchObject({ scope: { user: "\ufffd" } });
  });

  it("is refused if the process has another title, which hides the bytes", async () => {
    const path = newPath();
    const ran = await inShell(`add hello --user "\\377" --json --path "${path}"`, 'NODE_OPTIONS="--title=renamed"');
    expect(errorOf(ran)).toMatchObject({ code: "invalid_input", message: "argument 4 is not text in UTF-8" });
    expect(existsSync(path)).toBe(false);
  });

  it("is refused in the name of the working folder, which would become another folder", async () => {
    const folder = newFolder();
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]));
    const before = readdirSync(folder, { encoding: "buffer" }).map((name) => name.toString("hex"));
    for (const command of ["add hello", "blocks create b text"]) {
      const ran = await inShell(`${command} --json --path memory.db`, `cd "${folder}"/a* &&`);
      expect(errorOf(ran).message, command).toBe("the name of the working folder is not text in UTF-8");
    }
    expect(readdirSync(folder, { encoding: "buffer" }).map((name) => name.toString("hex"))).toEqual(before);
  });

  it("is refused in the name of the data folder, unless the file is named", async () => {
    const folder = newFolder();
    const ran = await inShell("add hello --json", `XDG_DATA_HOME="${folder}/\\377"`);
    expect(errorOf(ran).message).toBe("the name of the data folder is not text in UTF-8");
    expect(readdirSync(folder)).toEqual([]);
    const named = await inShell(`add hello --json --path "${folder}/m.db"`, `XDG_DATA_HOME="${folder}/\\377"`);
    expect(named.code).toBe(0);
  });

  it("is refused in the environment too", async () => {
    const folder = newFolder();
    const ran = await inShell("add hello --json", `HOLDFAST_STORE_PATH="${folder}/\\377.db"`);
    expect(ran.code).toBe(2);
    expect(errorOf(ran).message).toBe("the environment variable HOLDFAST_STORE_PATH is not text in UTF-8");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("invalid UTF-8 in a file", () => {
  const LINE = '{"id":"?","role":"user","content":"hello"}\n';

  it("of an import is refused by line number; the lines before it are imported", async () => {
    const path = newPath();
    const file = join(newFolder(), "lines.jsonl");
    writeFileSync(file, Buffer.concat([withByte(LINE, 0x61), withByte(LINE), withByte(LINE, 0x62)]));
    const ran = await holdfast(["import", file, "--session", "s", "--path", path, "--json"]);
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      code: "invalid_input",
      message: "line 2 is not text in UTF-8",
      details: { line: 2, report: { items: 1 } },
    });
    const piped = [withByte(LINE), withByte(LINE, 0xfe)];
    const read = await holdfast(["add", "--jsonl", "--path", path, "--json"], { stdin: piped });
    expect(errorOf(read)).toMatchObject({ code: "invalid_input", message: "line 1 is not text in UTF-8" });
  });

  it("of a knowledge graph is skipped line by line, and creates no entity", async () => {
    const path = newPath();
    const entity = (byte: number) =>
      withByte('{"type":"entity","name":"?","entityType":"t","observations":[]}\n', byte);
    const ran = await holdfast(["graph", "import", "-", "--path", path, "--json"], {
      stdin: [entity(0xff), entity(0xfe), entity(0x61)],
    });
    expect(jsonOf(ran)).toMatchObject({
      entities: 1,
      skipped: 2,
      unread: [
        { line: 1, why: "it is not text in UTF-8" },
        { line: 2, why: "it is not text in UTF-8" },
      ],
    });
  });

  it("of options is refused", async () => {
    const config = join(newFolder(), "holdfast.yaml");
    writeFileSync(config, withByte("store:\n  path: /tmp/?.db\n"));
    const ran = await holdfast(["stats", "--config", config, "--json"]);
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({ code: "config", message: expect.stringContaining("not text in UTF-8") });
  });

  it("saved by an editor changes no block", async () => {
    const path = newPath();
    await holdfast(["blocks", "create", "b", "before", "--path", path]);
    const ran = await holdfast(["blocks", "edit", "b", "--path", path, "--json"], {
      env: { EDITOR: "printf '\\377' >", VISUAL: "" },
    });
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({ code: "invalid_input", message: expect.stringContaining("UTF-8") });
    expect((await holdfast(["blocks", "show", "b", "--path", path])).out).toContain("before");
  });
});

describe("a JSON bomb", () => {
  it("in a line is refused by its number before it is parsed", async () => {
    const path = newPath();
    const good = '{"role":"user","content":"hello"}';
    for (const command of [
      ["import", "-", "--session", "s"],
      ["add", "--jsonl"],
    ]) {
      const ran = await holdfast([...command, "--path", path, "--json"], {
        stdin: `${good}\n${"[".repeat(1_000_000)}`,
      });
      expect(ran.code).toBe(2);
      expect(errorOf(ran)).toMatchObject({
        code: "invalid_input",
        message: expect.stringMatching(/^line 2:? (it )?is nested deeper than 64 levels$/),
      });
    }
  });
});
