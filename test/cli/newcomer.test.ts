/** What new users tripped over, each named after what they saw. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder, newPath } from "../support/opened.js";
import { errorOf, holdfast, jsonOf, Process } from "./cli.js";

const terminal = (columns: number) => ({ columns, env: { NO_COLOR: "1" } });

it("holdfast search and holdfast keys were unknown commands", async () => {
  const path = newPath();
  await holdfast(["add", "tea", "--path", path]);
  expect(jsonOf(await holdfast(["search", "tea", "--json", "--path", path]))).toMatchObject({
    hits: [{ content: "tea" }],
  });
  expect(await holdfast(["keys", "list", "--path", path])).toMatchObject({
    code: 0,
    err: expect.stringContaining("no keys"),
  });
  expect((await holdfast(["search", "--help"])).out).toContain("Usage: holdfast query|search");
});

describe("holdfast import", () => {
  it("of a file that does not exist died with a stack trace", async () => {
    const process = Process.holdfast(["import", "nofile.jsonl", "--path", newPath()]);
    expect(await process.ended).toBe(3);
    expect(process.err).toMatch(/^user default in .*\nholdfast: nofile.jsonl does not exist\n {2}check the path\n$/);
  });

  it("of a JSON array was said to lack its end", async () => {
    const file = join(newFolder(), "a.json");
    writeFileSync(file, '[\n{"role":"user","content":"hi"}\n]\n');
    const ran = await holdfast(["import", file, "--json", "--path", newPath()]);
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      message: "line 1: not a JSON object",
      hint: "a JSON array has to become lines, one object per line: jq -c '.[]' FILE",
    });
  });
});

it("tail printed no ids on a terminal, and no column names in a pipe", async () => {
  const path = newPath();
  const [id = ""] = jsonOf<{ ids: string[] }>(await holdfast(["add", "tea", "--json", "--path", path])).ids;
  const { out } = await holdfast(["tail", "--no-follow", "--path", path], terminal(80));
  expect(out).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}user {2}${id}\\n {2}tea\\n$`));
  const piped = await holdfast(["tail", "--no-follow", "--path", path]);
  expect(piped.out).toMatch(new RegExp(`^ID\\tWHEN\\tWHO\\tSESSION\\tCONTENT\\n${id}\\t`));
  expect(await holdfast(["forget", id, "--path", path])).toMatchObject({ code: 0 });
});

it("at 60 columns tables and ids overflowed", async () => {
  const path = newPath();
  await holdfast(["add", "tea ".repeat(50), "--session", "a-long-session-name", "--path", path]);
  await holdfast(["facts", "add", "drink", "tea ".repeat(50), "--confidence", "0.5", "--path", path]);
  await holdfast(["blocks", "create", "persona", "tea ".repeat(50), "--path", path]);
  await holdfast(["key", "create", "--name", "a laptop", "--user", "ada", "--user", "grace", "--path", path]);
  const commands = [
    ...[
      ["query", "tea"],
      ["tail", "--no-follow"],
      ["facts", "list"],
      ["blocks", "list"],
      ["blocks", "history", "persona"],
    ],
    ...[["key", "list"], ["sessions", "list"], ["users", "list"], ["stats"], ["stats", "--targets"], ["doctor"]],
  ];
  for (const argv of commands) {
    const { code, out } = await holdfast([...argv, "--path", path], terminal(60));
    expect(code).toBe(0);
    for (const line of out.split("\n"))
      expect(`${argv.join(" ")}: ${line.length > 60 ? line : ""}`).toBe(`${argv.join(" ")}: `);
  }
});

it("--path with a folder that does not exist created it silently", async () => {
  const folder = join(newFolder(), "typo");
  for (const argv of [
    ["add", "x"],
    ["serve", "--port", "0"],
    ["restore", "b.db"],
    ["blocks", "create", "b"],
  ]) {
    const ran = await holdfast([...argv, "--path", join(folder, "x.db"), "--json"]);
    expect(ran.code).toBe(3);
    expect(errorOf(ran)).toMatchObject({
      code: "not_found",
      message: `the folder ${folder} does not exist`,
      hint: `create it first: mkdir -p ${folder}`,
    });
    expect(existsSync(folder)).toBe(false);
  }
  const home = newFolder(); // the default file's folder is made
  const env = { XDG_DATA_HOME: home, HOME: home, LOCALAPPDATA: home };
  expect((await holdfast(["add", "x"], { env })).code).toBe(0);
});

it("a home folder that cannot be written to was a matter of permissions, without a way out", async () => {
  const file = newPath();
  writeFileSync(file, "");
  expect(await holdfast(["add", "x"], { env: { XDG_DATA_HOME: file, HOME: file, LOCALAPPDATA: file } })).toMatchObject({
    code: 4,
    err: expect.stringMatching(/^holdfast: cannot create the folder .*\n {2}choose another file: --path FILE, or /),
  });
});

it("hints named options of the library instead of flags", async () => {
  const path = newPath();
  const hintOf = async (...argv: string[]): Promise<string> =>
    errorOf(await holdfast([...argv, "--json", "--path", path])).hint;
  await holdfast(["add", "x", "--path", path]);
  await holdfast(["blocks", "create", "b", "tea tea", "--path", path]);
  expect(await hintOf("blocks", "edit", "b", "--replace", "tea", "--with", "x")).toContain("or --all");
  expect(await hintOf("blocks", "edit", "b", "--content", "x", "--expect-version", "7")).toContain("(--merge)");
  expect(await hintOf("query", "x", "--within", "session", "--words")).toBe("pass --session NAME");
  await holdfast(["blocks", "configure", "b", "--read-only", "--path", path]);
  expect(await hintOf("blocks", "edit", "b", "--append", "x")).toBe(
    "allow edits first: configure it with --no-read-only",
  );
  await holdfast(["backup", `${path}.copy`, "--path", path]);
  expect(await hintOf("backup", `${path}.copy`)).toContain("--overwrite");
  const ran = await holdfast(["query", "x", "--limit", "5000", "--words", "--json", "--path", path]);
  expect(errorOf(ran).message).toMatch(/^--limit must be/);
  const served = await holdfast(["serve", "--port", "99999", "--json", "--path", path]);
  expect(errorOf(served).message).toMatch(/^--port must be/);
});

it("blocks history hid version 1", async () => {
  const path = newPath();
  await holdfast(["blocks", "create", "b", "tea", "--reason", "first", "--path", path]);
  const versions = async (...flags: string[]) =>
    jsonOf<{ version: number; reason: string }[]>(
      await holdfast(["blocks", "history", "b", "--json", ...flags, "--path", path]),
    ).map(({ version, reason }) => `${version} ${reason}`);
  expect(await versions()).toEqual(["1 first"]);
  await holdfast(["blocks", "edit", "b", "--append", "x", "--reason", "second", "--path", path]);
  expect(await versions()).toEqual(["2 second", "1 first"]);
  expect(await versions("--limit", "1")).toEqual(["2 second"]);
});

it("help overflowed at 60 columns", async () => {
  for (const name of [[], ["add"], ["facts"], ["install"]]) {
    const { out } = await holdfast([...name, "--help"], terminal(60));
    const [before = ""] = out.split(/Examples:|Exit codes:/);
    // A path has no place for a break.
    for (const line of before.split("\n").filter((one) => !one.includes("/")))
      expect(line.length > 60 ? line : "").toBe("");
  }
});

it("a wrong flag was answered with the help of everything", async () => {
  const hintOf = async (...argv: string[]): Promise<string> => errorOf(await holdfast([...argv, "--json"])).hint;
  expect(await hintOf("blocks", "edit", "b", "--zzz")).toBe("see: holdfast blocks edit --help");
  expect(await hintOf("add", "x", "--at", "noonish")).toBe("see: holdfast add --help");
  expect(await hintOf("facts", "zzz")).toBe("see: holdfast facts --help");
  expect(await hintOf("zzz")).toBe("see: holdfast --help");
});

it("holdfast help ended with 2, and help of an unknown command explained everything", async () => {
  expect(await holdfast(["help"])).toMatchObject({ code: 0, err: "" });
  expect(await holdfast(["help", "qery"])).toMatchObject({
    code: 2,
    out: "",
    err: "holdfast: unknown command 'qery'\n  did you mean query?\n",
  });
  expect((await holdfast(["help", "query"])).out).toContain("Usage: holdfast query");
});

it("forget --all --session forgot the whole user", async () => {
  const path = newPath();
  for (const session of ["one", "two"]) await holdfast(["add", "tea", "--session", session, "--path", path]);
  const ran = await holdfast(["forget", "--all", "--session", "one", "--yes", "--path", path]);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("both --session and --all were given") });
  expect((await holdfast(["stats", "--path", path])).out).toContain("items\t2\n");
});

it("retain --session set the retention of the whole user", async () => {
  const path = newPath();
  await holdfast(["add", "tea", "--session", "one", "--path", path]);
  const ran = await holdfast(["retain", "1m", "--session", "one", "--yes", "--path", path]);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("a session has no retention of its own") });
  expect(jsonOf(await holdfast(["retain", "--json", "--path", path]))).not.toHaveProperty("retentionMs");
});

it("--space without a name was called undefined", async () => {
  const ran = await holdfast(["add", "tea", "--space", "team", "--path", newPath()]);
  expect(ran).toMatchObject({
    code: 2,
    err: "holdfast: --space is team, but no team is named\n  pass --team NAME\n",
  });
});
