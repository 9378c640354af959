/** holdfast add, query and input from stdin. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder, newPath } from "../support/opened.js";
import { errorOf, holdfast, jsonOf } from "./cli.js";

interface Answer {
  readonly scope: object;
  readonly hits: readonly { readonly id: string; readonly content: string }[];
}

const contents = (answer: Answer): readonly string[] => answer.hits.map(({ content }) => content);

describe("holdfast add", () => {
  it("prints the id on stdout, and a summary on stderr", async () => {
    const path = newPath();
    const ran = await holdfast(["add", "I", "moved", "to Lisbon", "--path", path]);
    expect(ran).toMatchObject({ code: 0, err: `user default in ${path}\nadded 1 message\n` });
    expect(ran.out).toMatch(/^[0-9a-f-]{36}\n$/);
    const found = jsonOf<Answer>(await holdfast(["query", "lisbon", "--path", path, "--json"]));
    expect(found).toMatchObject({
      scope: { user: "default" },
      hits: [{ id: ran.out.trim(), content: "I moved to Lisbon" }],
    });
  });

  it("keeps emoji, right-to-left text, several lines and text that looks like a flag unchanged", async () => {
    const path = newPath();
    const texts = ["👩‍👩‍👧‍👦 lives in 🇵🇹", "אני גר בליסבון", "first line\nsecond line", "--json is a flag"];
    for (const text of texts) expect((await holdfast(["add", "--path", path, "--", text])).code).toBe(0);
    await holdfast(["add", "-", "--path", path], { stdin: `${texts[0]}\n${texts[1]}\n` });
    const listed = await holdfast(["tail", "--no-follow", "--json", "--path", path]);
    const lines = listed.out.trim().split("\n");
    const items = lines.map((line) => (JSON.parse(line) as { readonly content: string }).content);
    expect(items).toEqual([...texts, `${texts[0]}\n${texts[1]}`]);
  });

  it("accepts piped input, up to eight MiB", async () => {
    const path = newPath();
    const large = "word ".repeat(1_000_000);
    expect((await holdfast(["add", "--path", path], { stdin: [large.slice(0, 7), large.slice(7)] })).code).toBe(0);
    const refused = await holdfast(["add", "--path", path, "--json"], { stdin: [large, large] });
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(errorOf(refused)).toMatchObject({ code: "too_large" });
  });

  it.each([
    ["nothing at a terminal", [], undefined],
    ["an empty argument", [""], undefined],
    ["blanks", ["  "], undefined],
    ["an empty pipe", [], ""],
    ["an empty pipe of lines", ["--jsonl"], "\n\n"],
    ["lines at a terminal", ["--jsonl"], undefined],
  ])("refuses %s, and says what to do", async (_, args, stdin) => {
    const path = newPath();
    const ran = await holdfast(["add", ...args, "--path", path], stdin === undefined ? {} : { stdin });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain("holdfast: nothing to add\n  pass a text: holdfast add");
  });

  it("reads messages line by line, and adds all of them", async () => {
    const path = newPath();
    const lines = Array.from({ length: 600 }, (_, at) => JSON.stringify({ role: "user", content: `line ${at}` }));
    const added = jsonOf<{ ids: string[]; sequences: number[] }>(
      await holdfast(["add", "--jsonl", "--session", "s", "--path", path, "--json"], { stdin: lines.join("\n") }),
    );
    expect(added.ids).toHaveLength(600);
    expect(added.sequences.at(-1)).toBe(600);
  });

  it("names the invalid line, and what was added before it", async () => {
    const good = JSON.stringify({ role: "user", content: "good" });
    const many = Array.from({ length: 256 }, () => good);
    for (const [lines, code, message, hint] of [
      [[good, "{oops"], "invalid_input", "line 2 is not JSON", "each line is one message"],
      [[good, "", '{"role":"boss","content":"x"}'], "invalid_input", "line 3: role must be one of", ""],
      [[...many, "[]"], "invalid_input", "line 257: ", "256 messages before it were added"],
    ] as const) {
      const ran = await holdfast(["add", "--jsonl", "--path", newPath(), "--json"], { stdin: lines.join("\n") });
      expect(ran.code).toBe(2);
      expect(errorOf(ran)).toMatchObject({ code, message: expect.stringContaining(message) });
      if (hint) expect(errorOf(ran).hint).toContain(hint);
    }
    const both = await holdfast(["add", "text", "--jsonl", "--path", newPath()], { stdin: good });
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining("a text was given too") });
  });

  it("refuses bytes that are not text", async () => {
    const ran = await holdfast(["add", "--path", newPath()], {
      stdin: [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff])],
    });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("is not text in UTF-8") });
  });
});

describe("holdfast query", () => {
  it("finds nothing without failing, and says so on stderr", async () => {
    const path = newPath();
    await holdfast(["add", "tea", "--path", path]);
    expect(await holdfast(["query", "zebra", "--path", path])).toMatchObject({
      code: 0,
      out: "",
      err: `user default in ${path}\nnothing found\n`,
    });
  });

  it("reports that there is no memory, instead of creating one", async () => {
    const path = join(newFolder(), "typo.db");
    for (const argv of [
      ["query", "x"],
      ["stats"],
      ["tail", "--no-follow"],
      ["blocks", "list"],
      ["doctor"],
      ["backup", "b"],
    ]) {
      const ran = await holdfast([...argv, "--path", path]);
      expect(ran).toMatchObject({ code: 3, out: "" });
      expect(ran.err).toContain(`holdfast: there is no memory at ${path}\n  holdfast add`);
    }
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });

  it("reads the question from a pipe, and refuses an empty one", async () => {
    const path = newPath();
    await holdfast(["add", "Lisbon is sunny", "--path", path]);
    const found = jsonOf<Answer>(await holdfast(["query", "--path", path, "--json"], { stdin: "lisbon\n" }));
    expect(contents(found)).toEqual(["Lisbon is sunny"]);
    expect(await holdfast(["query", "--path", path])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no question"),
    });
  });

  it("prints no terminal escape sequences, neither to a terminal nor into a pipe", async () => {
    const path = newPath();
    const evil = "tea \u001b]52;c;b3duZWQ=\u0007\u001b[2J\u009b31m \u202egpj.exe";
    await holdfast(["add", "--path", path, "--name", "\u001b[5mada", "--session", "s\u001b[31m", "--", evil]);
    await holdfast(["blocks", "create", "tea\u001b[1m", evil, "--path", path]);
    await holdfast(["facts", "add", "ca\u001b[1m", evil, "--path", path]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
    const obeyed = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/;
    const terminal = { columns: 80, env: { NO_COLOR: "1" } };
    for (const [argv, setting] of [
      [["query", "tea"], {}],
      [["query", "tea", "--full", "--explain"], terminal],
      [["query", "tea", "--json"], terminal],
      [["tail", "--no-follow"], terminal],
      [["tail", "--no-follow", "--full"], terminal],
      [["sessions", "list"], terminal],
      [["facts", "list"], terminal],
      [["blocks", "list"], terminal],
      [["export"], {}],
    ] as const) {
      const ran = await holdfast([...argv, "--path", path], setting);
      expect(ran.code).toBe(0);
      expect(ran.out).not.toMatch(obeyed);
      expect(ran.err).not.toMatch(obeyed);
    }
    const shown = await holdfast(["blocks", "show", "tea\u001b[1m", "--path", path], { columns: 80 });
    expect(shown.out).toBe("tea \\e]52;c;b3duZWQ=\\u0007\\e[2J\\u009b31m \\u202egpj.exe\n");
    const handedOn = await holdfast(["blocks", "show", "tea\u001b[1m", "--path", path]);
    expect(handedOn.out).toBe(evil); // written to a file byte for byte
  });
});

describe("the location of the memory", () => {
  it("is the file of the flag, the environment, the configuration, or the user's default, in this order", async () => {
    const folder = newFolder();
    const config = join(folder, "holdfast.yaml");
    writeFileSync(config, `store:\n  path: ${join(folder, "config.db")}\n`);
    const where = async (argv: readonly string[], env: { readonly [name: string]: string }): Promise<string> =>
      (await holdfast(["add", "x", ...argv], { env: { XDG_DATA_HOME: folder, ...env } })).err.split("\n")[0] ?? "";
    expect(await where([], {})).toBe(`user default in ${join(folder, "holdfast", "memory.db")}`);
    expect(await where(["--config", config], {})).toBe(`user default in ${join(folder, "config.db")}`);
    const own = { HOLDFAST_STORE_PATH: join(folder, "env.db") };
    expect(await where(["--config", config], own)).toBe(`user default in ${join(folder, "env.db")}`);
    const flag = join(folder, "flag.db");
    expect(await where(["--config", config, "--path", flag], own)).toBe(`user default in ${flag}`);
    expect(await where(["--path", flag], { HOLDFAST_URL: "http://127.0.0.1:1" })).toBe(`user default in ${flag}`);
  });

  it("is one place, and a server where only a server is possible", async () => {
    const both = await holdfast(["add", "x", "--path", "a.db", "--url", "http://127.0.0.1:1"]);
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining("--path and --url exclude each other") });
    for (const argv of [["backup", "b.db"], ["restore", "b.db"], ["doctor"], ["reindex"], ["serve"]]) {
      const ran = await holdfast([...argv, "--url", "http://127.0.0.1:1"]);
      expect(ran).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringContaining("works on a file, not through a server"),
      });
    }
  });
});
