/** What all commands have in common: JSON, exit codes, scopes, help, and errors for wrong usage. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, serve } from "holdfast/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { root } from "../support/root.js";
import { errorOf, holdfast, jsonOf, type Ran } from "./cli.js";
import { type Sample, type Seeds, samplesOf, seed } from "./samples.js";
import { globalFlags, leaves, program } from "./tree.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
const seedPath = join(folder, "seed.db");
let seeds: Seeds;
let samples: { readonly [command: string]: Sample };
beforeAll(async () => {
  seeds = await seed(seedPath);
  samples = samplesOf(seeds, folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

let copies = 0;
/** The seeded memory, for the exclusive use of one command. */
function freshCopy(): string {
  const path = join(folder, `copy-${++copies}.db`);
  copyFileSync(seedPath, path);
  return path;
}

function sampleOf(name: string): Sample {
  const sample = samples[name];
  if (!sample) throw new Error(`no sample for ${name}`);
  return sample;
}

function runSample(name: string, flags: readonly string[]): Promise<Ran> {
  const { args, stdin } = sampleOf(name);
  return holdfast([...name.split(" "), ...args, ...flags], stdin === undefined ? {} : { stdin });
}

describe("every command", () => {
  it("has a sample", () => expect(Object.keys(samples).sort()).toEqual(leaves.map(({ name }) => name).sort()));

  it("on a file prints JSON and nothing else with --json, and ends with 0", async () => {
    for (const { name } of leaves) {
      // One command per group is enough: all reach the file in the same way.
      const isAsked = sampleOf(name).isFileOnly || !name.includes(" ") || name.endsWith(" list");
      if (isAsked) await expectJson(name, "--path", freshCopy());
    }
  });

  it("refuses an unknown flag, in two lines on stderr, and names the nearest", async () => {
    for (const { name } of leaves) {
      const ran = await runSample(name, ["--jsn"]);
      expect(`${name}: ${ran.code} ${ran.out}`).toBe(`${name}: 2 `);
      expect(ran.err).toMatch(/^holdfast: unknown option '--jsn'\n {2}did you mean (--json|one of .*--json.*)\?\n$/);
      const asJson = await runSample(name, ["--jsn", "--json"]);
      expect(errorOf(asJson)).toMatchObject({ code: "invalid_input", message: "unknown option '--jsn'" });
    }
  });

  it("refuses missing arguments", async () => {
    for (const { name, command } of leaves) {
      if (!command.registeredArguments.some(({ required }) => required)) continue;
      const ran = await holdfast(name.split(" "));
      expect(`${name}: ${ran.code} ${ran.out}`).toBe(`${name}: 2 `);
      expect(ran.err).toMatch(/^holdfast: missing required argument '[\w-]+'\n {2}see: holdfast [a-z -]+ --help\n$/);
    }
  });

  it("has help: a one-line purpose, every flag, and examples that it accepts", async () => {
    for (const { name, command, flags, isScoped } of leaves) {
      const { code, out, err } = await holdfast([...name.split(" "), "--help"]);
      expect({ name, code, err }).toEqual({ name, code: 0, err: "" });
      expect(command.summary()).toMatch(/^[A-Z].{10,75}\.$/);
      const takesSession = command.options.some(({ long, hidden }) => long === "--session" && !hidden);
      for (const flag of [...flags, ...globalFlags, ...(isScoped ? ["--user"] : [])]) expect(out).toContain(flag);
      if (isScoped) expect(out.includes("--session <name>"), name).toBe(takesSession);
      const examples = [...out.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = ""]) => line);
      expect(examples.length, name).toBeGreaterThan(0);
      for (const line of examples) expect(line).toContain(`holdfast ${name.split(" ")[0]}`);
      const used = examples.flatMap((line) => line.match(/--[a-z-]+/g) ?? []);
      const known = [...flags, ...globalFlags, "--user", "--agent", "--team", "--session", "--space", "--format"];
      expect(
        used.filter((flag) => !known.includes(flag)),
        name,
      ).toEqual([]);
    }
  });

  it("has help without flags that it refuses, and examples that fit the terminal and still work", async () => {
    const { out: retain } = await holdfast(["retain", "--help"]);
    expect(retain).not.toContain("--session");
    expect((await holdfast(["retain", "--session", "s", "--path", freshCopy()])).err).toContain("leave out --session");
    for (const { name } of leaves) {
      const { out } = await holdfast([...name.split(" "), "--help"], { columns: 60 });
      const examples = out.slice(out.indexOf("Examples:")).split("\n");
      for (const line of examples) expect(line.length <= 60 || !/ .* /.test(line.trim()), line).toBe(true);
      for (const [at, line] of examples.entries())
        if (line.startsWith("     ")) expect(examples[at - 1]).toMatch(/ \\$/);
    }
  });

  it("is in docs/cli.md with all its flags", () => {
    const text = readFileSync(join(root, "docs/cli.md"), "utf8");
    for (const { name, flags } of leaves) {
      const [, section = ""] = text.split(`### holdfast ${name}\n`);
      const [own = ""] = section.split("\n### ");
      expect(own, name).not.toBe("");
      for (const flag of flags) expect(own, `${name} ${flag}`).toContain(flag);
    }
    for (const flag of globalFlags) expect(text).toContain(`\`${flag}`);
  });
});

/**
 * `serve` runs until it is stopped, `mcp` answers a client, `facts extract` needs a language model: they have their own
 * tests.
 */
async function expectJson(name: string, ...place: readonly string[]): Promise<void> {
  if (["serve", "mcp", "facts extract"].includes(name)) return;
  const ran = await runSample(name, ["--json", ...place]);
  expect(`${name}: ${ran.code} ${ran.err}`).toBe(`${name}: 0 `);
  const values = sampleOf(name).isStream ? ran.out.trim().split("\n") : [ran.out];
  for (const value of values) expect(() => JSON.parse(value)).not.toThrow();
}

describe("through a server, every command", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve({ path: freshCopy(), server: { port: 0 } });
  });
  afterAll(() => server.stop());

  it("prints JSON and nothing else with --json, and ends with 0", async () => {
    for (const name of Object.keys(samples))
      if (!sampleOf(name).isFileOnly) await expectJson(name, "--url", server.url);
  });

  it("reports for whom it works, whatever the scope", async () => {
    const scope = ["--user", "zoe", "--agent", "bot", "--team", "crew", "--session", "s1", "--space", "team"];
    for (const { name, isScoped } of leaves) {
      if (!isScoped || ["facts extract", "retain"].includes(name)) continue;
      const yes = name === "forget" ? ["--yes"] : [];
      const { err } = await runSample(name, [...scope, ...yes, "--url", server.url]);
      const [note] = err.split("\n");
      const isList = name === "sessions list";
      expect(`${name}: ${note}`).toBe(
        `${name}: team crew${isList ? "" : " · agent bot · session s1"} in ${server.url}`,
      );
    }
  });
});

/** They list what the key covers. */
const REGISTRY: readonly string[] = ["users list", "agents list", "teams list"];

describe("with a key for another memory", () => {
  let server: RunningServer;
  let key: string;
  beforeAll(async () => {
    const path = freshCopy();
    const created = await holdfast(["key", "create", "--user", "zoe", "--access", "write", "--path", path]);
    key = created.out.trim();
    server = await serve({ path, server: { port: 0, requireKey: true } });
  });
  afterAll(() => server.stop());

  it("every command is refused with 4, and no command without a key", async () => {
    for (const { name } of leaves) {
      if (sampleOf(name).isFileOnly || sampleOf(name).needsNoMemory) continue;
      const mine = ["sessions list", "flush", "export"].includes(name) ? ["--user", "default"] : [];
      const other = await runSample(name, [...mine, "--url", server.url, "--key", key]);
      if (REGISTRY.includes(name))
        expect(other).toMatchObject({ code: 0, out: expect.not.stringContaining("default") });
      else expect(`${name}: ${other.code} ${other.out}`).toBe(`${name}: 4 `);
    }
    for (const flags of [[], ["--key", "hf_0000000000000000_"], ["--key", key.replace(/.$/, "!")]]) {
      const ran = await holdfast(["query", "lisbon", "--json", "--url", server.url, ...flags]);
      expect(ran).toMatchObject({ code: 4, out: "" });
      expect(errorOf(ran)).toMatchObject({ code: "unauthorized", hint: expect.stringContaining("key") });
      expect(ran.err).not.toContain(key);
    }
  });

  it("its own memory is accessible, by flags and by the environment", async () => {
    const env = { HOLDFAST_URL: server.url, HOLDFAST_KEY: key };
    expect((await holdfast(["add", "tea", "--user", "zoe"], { env })).code).toBe(0);
    const ran = await holdfast(["query", "tea", "--user", "zoe", "--json"], { env });
    expect(jsonOf(ran)).toMatchObject({ hits: [{ content: "tea" }] });
    const refused = await holdfast(["query", "tea"], { env: { ...env, HOLDFAST_KEY: "wrong" } });
    expect(refused).toMatchObject({ code: 4, err: expect.stringContaining("pass it with --key or HOLDFAST_KEY") });
  });
});

describe("wrong usage", () => {
  it.each([
    [["quer"], "unknown command 'quer'", "did you mean query?"],
    [["blocks", "lst"], "unknown command 'lst'", "did you mean list?"],
    [["frobnicate"], "unknown command 'frobnicate'", "see: holdfast --help"],
    [["add", "x", "--role", "boss"], "option '--role <role>' argument 'boss' is invalid", "see:"],
    [
      ["query", "x", "--limit", "many"],
      "option '-n, --limit <n>' argument 'many' is invalid. It must be a whole",
      "see:",
    ],
    [["add", "x", "--at", "yesterday"], "It must be a date", "see:"],
    [["completion", "tcsh"], "'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish", "see:"],
    [["key", "create"], "the key covers no memory", "--user ada"],
    [["key", "create", "--every", "dog"], "--every takes user, agent or team", "--every user"],
    [["forget"], "nothing to forget was given", "--session NAME"],
    [["forget", "x", "--all"], "both ids and --all were given", "pass ids"],
    [["facts", "extract"], "no session was given", "--session NAME"],
    [["export", "--resume"], "--resume needs a file", "--cursor"],
    [["import"], "nothing to import", "pass a file"],
    [["query", "x", "--words", "--url", "http://127.0.0.1:1"], "--words works on a file", "--path FILE"],
    [["--user", "ada", "add", "x"], "--user must come after the command", 'holdfast add "…" --user <name>'],
    [["-s=monday", "add", "x"], "-s=monday must come after the command", "--session <name>"],
    [["stats", "--key", "k", "--path", "x.db"], "--key needs a server", "--url URL"],
    [["stats", "x"], "too many arguments for 'stats'", "see:"],
  ])("%j is explained", async (argv, what, todo) => {
    const ran = await holdfast(argv);
    expect(ran).toMatchObject({ code: 2, out: "" });
    const [first = "", second = ""] = ran.err.split("\n");
    expect(first).toContain(what);
    expect(second).toContain(todo);
  });

  it("a group alone shows its commands on stderr; holdfast alone shows how to start, on stdout", async () => {
    const group = await holdfast(["blocks"]);
    expect(group).toMatchObject({ code: 2, out: "" });
    expect(group.err).toContain("Commands:");
    const start = await holdfast([]);
    expect(start).toMatchObject({ code: 0, err: "" });
    for (const command of ["add", "query", "context", "tail", "serve"])
      expect(start.out).toContain(`holdfast ${command}`);
    const all = await holdfast(["--help"]);
    for (const { name } of leaves) expect(all.out).toContain(`\n  ${name.split(" ")[0]}`);
    expect(all.out).toContain("Exit codes:");
    const version = await holdfast(["--version"]);
    const { version: packaged } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(version).toEqual({ code: 0, out: `${packaged}\n`, err: "" });
    expect(program.version()).toBe(packaged);
  });

  it("of the system is reported in the same way", async () => {
    const path = freshCopy();
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [["import", join(folder, "nowhere.jsonl"), "--path", path], 3, "nowhere.jsonl does not exist"],
      [["export", folder, "--path", path], 1, "already exists"],
      [["stats", "--path", folder], 2, "is a folder"],
      [["query", "x", "--path", "/dev/null"], 2, "name a plain file"],
      [["backup", join(folder, "no", "such", "b.db"), "--path", path], 3, "does not exist"],
      [["query", "x", "--config", join(folder, "none.yaml")], 2, "does not exist"],
      [["query", "x", "--url", "ftp://x"], 2, "http"],
      [["query", "x", "--url", "http://127.0.0.1:1"], 5, "could not be reached"],
      [["facts", "end", "fact-none", "--path", path], 3, "fact"],
      [["blocks", "edit", "persona", "--append", "x", "--expect-version", "1", "--path", path], 1, "version"],
      [["facts", "extract", "--session", "monday", "--path", path], 2, "no extractor"],
    ];
    for (const [argv, code, what] of cases) {
      const ran = await holdfast(argv);
      expect(`${argv[0]}: ${ran.code} ${ran.out}`).toBe(`${argv[0]}: ${code} `);
      expect(ran.err).toContain(what);
    }
  });
});

it("an import that writes nothing but points says that it wrote them", async () => {
  const path = newPath();
  const session = (await open({ path })).session({ user: "ada" });
  const turn = session.turn();
  turn.push({ op: "store_embedding", collection: "faces", pointId: "rui", vector: [1, 2] });
  await session.commit(turn);
  const { out: stdin } = await holdfast(["export", "--path", path]);
  await session.points.delete("faces", ["rui"]);
  expect(await holdfast(["import", "--path", path], { stdin })).toMatchObject({ code: 0, out: "imported: 1 point\n" });
});
