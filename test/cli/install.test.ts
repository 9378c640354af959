/** holdfast install in a temporary home: files that clients would read, and an entry that starts a server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import { newFolder } from "../support/opened.js";
import { errorOf, holdfast, jsonOf, MAIN, type Ran } from "./cli.js";

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

/** A temporary home; variables of clients that would point outside of it are not set. */
class Home {
  readonly path = realpathSync(newFolder());
  readonly env = {
    ...{ HOME: this.path, USERPROFILE: this.path, APPDATA: "", LOCALAPPDATA: "", XDG_CONFIG_HOME: "" },
    ...{ CODEX_HOME: "", CLAUDE_CONFIG_DIR: "", GEMINI_CLI_HOME: "" },
    ...{ HOLDFAST_URL: "", HOLDFAST_KEY: "" },
  };

  run(...argv: readonly string[]): Promise<Ran> {
    return holdfast(["install", ...argv], { env: this.env });
  }

  /** As the shell would start it. */
  spawned(cwd: string, ...argv: readonly string[]): Ran {
    const ran = spawnSync(process.execPath, [MAIN, "install", ...argv], {
      cwd,
      env: { ...process.env, ...this.env },
      encoding: "utf8",
    });
    return { code: ran.status ?? -1, out: ran.stdout, err: ran.stderr };
  }

  file(...parts: readonly string[]): string {
    return join(this.path, ...parts);
  }

  read(...parts: readonly string[]): string {
    return readFileSync(this.file(...parts), "utf8");
  }

  cursor(name = "holdfast"): Entry | undefined {
    return (JSON.parse(this.read(".cursor", "mcp.json")) as { mcpServers: { [name: string]: Entry } }).mcpServers[name];
  }
}

it("a real process writes files that Cursor and Codex read, and the entry starts a server", async () => {
  const home = new Home();
  const project = home.file("project");
  mkdirSync(project);
  const cursor = home.spawned(project, "cursor", "--user", "ada", "--path", "m.db");
  expect(cursor).toMatchObject({ code: 0, out: expect.stringContaining(home.file(".cursor", "mcp.json")) });
  const codex = home.spawned(project, "codex", "--project", "--user", "ada", "--path", "m.db");
  expect(codex).toMatchObject({ code: 0, err: expect.stringContaining("next: start Codex in this folder") });
  const args = [MAIN, "mcp", "--user", "ada", "--path", join(project, "m.db")];
  expect(home.cursor()).toEqual({ type: "stdio", command: process.execPath, args });
  const toml = parse(readFileSync(join(project, ".codex", "config.toml"), "utf8"));
  expect(toml).toEqual({ mcp_servers: { holdfast: { command: process.execPath, args } } });
  const answer = await initialized(home.cursor() as Entry, home.env);
  expect(answer).toMatchObject({ id: 1, result: { serverInfo: { name: expect.stringMatching(/holdfast/i) } } });
});

/** The answer of the server that an entry starts to the first request of a client. */
async function initialized({ command, args }: Entry, env: { readonly [name: string]: string }): Promise<unknown> {
  const server = spawn(command, args, {
    cwd: newFolder(),
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(server, "close");
  const clientInfo = { name: "a test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const answer = once(createInterface({ input: server.stdout }), "line") as Promise<[string]>;
  const first = await Promise.race([answer, ended]);
  server.stdin.end();
  await ended;
  return JSON.parse(String(first[0]));
}

it("is idempotent: the second run changes nothing, --uninstall removes it, and the rest of the file is kept", async () => {
  const home = new Home();
  const original = '{ "mcpServers": {\n    "other": { "url": "http://x" } // mine\n} }\n';
  mkdirSync(home.file(".cursor"));
  writeFileSync(home.file(".cursor", "mcp.json"), original);
  const dry = await home.run("cursor", "--dry-run");
  expect(dry).toMatchObject({ code: 0, err: expect.stringContaining("nothing was written") });
  expect(dry.out).toMatch(/^--- .*\n\+\+\+ .*\n@@ .*\n/);
  expect(dry.out).toContain('\n+    "holdfast": {\n+      "type": "stdio",\n');
  expect(readdirSync(home.file(".cursor"))).toEqual(["mcp.json"]);
  const first = jsonOf<{ backup: string }>(await home.run("cursor", "--json"));
  expect(first).toMatchObject({ client: "cursor", action: "add", file: home.file(".cursor", "mcp.json") });
  expect(readFileSync(first.backup, "utf8")).toBe(original);
  const again = await home.run("cursor");
  expect(again).toMatchObject({ code: 0, out: `Cursor: already configured in ${home.file(".cursor", "mcp.json")}\n` });
  expect(readdirSync(home.file(".cursor"))).toHaveLength(2);
  expect((await home.run("cursor", "--dry-run")).out).toBe("");
  const list = await home.run();
  expect(list.out).toContain(`cursor\tyes\tyes\t${home.file(".cursor", "mcp.json")}\n`);
  expect(list.out).toContain("codex\tno\tno\t");
  expect((await home.run("cursor", "--uninstall")).out).toContain("holdfast was removed from");
  expect(home.read(".cursor", "mcp.json")).toBe(original);
  expect(jsonOf(await home.run("cursor", "--uninstall", "--json"))).toMatchObject({ action: "none" });
});

it("respects --name, --tools, --key, --force and --print", async () => {
  const home = new Home();
  const flags = ["--tools", "core,admin", "--url", "http://127.0.0.1:8000", "--key", "hf_secret"];
  const named = await home.run("cursor", "--name", "team-memory", "--team", "docs", ...flags);
  expect(named.err).toMatch(/^team docs in http:\/\/127\.0\.0\.1:8000\n/);
  expect(named.err).toContain("that file contains the key");
  expect(named.out + named.err).not.toContain("hf_secret");
  expect(home.cursor("team-memory")).toMatchObject({
    args: [MAIN, "mcp", "--team", "docs", "--url", "http://127.0.0.1:8000", "--tools", "core,admin"],
    env: { HOLDFAST_KEY: "hf_secret" },
  });
  expect(statSync(home.file(".cursor", "mcp.json")).mode & 0o777).toBe(0o600);
  const removed = await home.run("cursor", "--name", "team-memory", "--uninstall");
  expect(removed.err).toContain("including the key");
  const theirs = JSON.stringify({ mcpServers: { holdfast: { command: "theirs" } } });
  writeFileSync(home.file(".cursor", "mcp.json"), theirs);
  const refused = await home.run("cursor", "--json");
  expect(refused.code).toBe(1);
  expect(errorOf(refused)).toMatchObject({ code: "conflict", hint: expect.stringContaining("--force") });
  expect(home.read(".cursor", "mcp.json")).toBe(theirs);
  expect((await home.run()).out).toContain("cursor\tyes\tno: another entry has this name\t");
  expect((await home.run("cursor", "--force")).out).toContain("holdfast was changed in");
  expect(home.cursor()?.command).toBe(process.execPath);
  const printed = await home.run("codex", "--print", "--agent", "tutor");
  expect(parse(printed.out)).toMatchObject({ mcp_servers: { holdfast: { args: [MAIN, "mcp", "--agent", "tutor"] } } });
  expect(printed.err).toContain(`add this to ${home.file(".codex", "config.toml")}`);
  expect(existsSync(home.file(".codex"))).toBe(false);
  const unseen = await holdfast(["install", "codex", "--print"], { env: { ...home.env, HOLDFAST_URL: "http://x" } });
  expect(unseen.err).toContain("HOLDFAST_URL is set here, but the client will not see it");
});

it("passes --read-only and --max-tokens on to holdfast mcp, and refuses what that would refuse", async () => {
  const home = new Home();
  await home.run("cursor", "--read-only", "--max-tokens", "500");
  expect(home.cursor()?.args).toEqual([MAIN, "mcp", "--max-tokens", "500", "--read-only"]);
  expect((await home.run("cursor")).err).toContain("kept its arguments: --max-tokens 500 --read-only");
  expect(home.cursor()?.args).toEqual([MAIN, "mcp", "--max-tokens", "500", "--read-only"]);
  await home.run("cursor", "--user", "ada");
  expect(home.cursor()?.args).toEqual([MAIN, "mcp", "--user", "ada"]);
  const refused = await home.run("cursor", "--max-tokens", "499", "--json");
  const byServer = await holdfast(["mcp", "--max-tokens", "499", "--json"], { env: home.env });
  expect(errorOf(refused)).toMatchObject({ code: "invalid_input", hint: "pass at least 500" });
  expect([refused.code, errorOf(refused)]).toEqual([byServer.code, errorOf(byServer)]);
  expect(home.cursor()?.args).toEqual([MAIN, "mcp", "--user", "ada"]);
});

it.skipIf(process.platform === "win32")("a key is in no file that others can read, nor in a backup of it", async () => {
  const home = new Home();
  const key = ["--url", "http://127.0.0.1:8000", "--key", "hf_secret"];
  const project = home.spawned(home.path, "claude-code", "--project", ...key);
  expect(project).toMatchObject({ code: 0, err: expect.not.stringContaining("only you can now") });
  expect(home.read(".mcp.json")).toContain("hf_secret");
  expect(statSync(home.file(".mcp.json")).mode & 0o777).toBe(0o600);
  const file = home.file(".cursor", "mcp.json");
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  /** Of the file, which was readable by everyone, and of the backup. */
  const modesAfter = async (...argv: readonly string[]): Promise<readonly string[]> => {
    chmodSync(file, 0o644);
    const ran = await home.run("cursor", ...argv);
    const [, backup = ""] = /saved as (.*Z)/.exec(ran.err) ?? [];
    const isTold = ran.err.includes(
      `${file} was readable by others; now only you can read it, because it contains a key`,
    );
    return [modeOf(file), modeOf(backup), isTold ? "told" : "not told"];
  };
  mkdirSync(home.file(".cursor"));
  writeFileSync(file, "{}\n");
  expect(await modesAfter()).toEqual(["644", "644", "not told"]);
  expect(await modesAfter(...key)).toEqual(["600", "600", "told"]);
  expect(await modesAfter("--uninstall")).toEqual(["600", "600", "told"]);
});

it("the entry of another tool with a dist/cli/main.js is not mistaken for ours", async () => {
  const home = new Home();
  const theirs = '{"mcpServers":{"tasks":{"command":"node","args":["/opt/other-tool/dist/cli/main.js","mcp"]}}}';
  mkdirSync(home.file(".cursor"));
  writeFileSync(home.file(".cursor", "mcp.json"), theirs);
  for (const flags of [["--uninstall"], []]) {
    const refused = await home.run("cursor", "--name", "tasks", ...flags, "--json");
    expect(errorOf(refused)).toMatchObject({
      code: "conflict",
      hint: expect.stringContaining("--force (also if it is a Holdfast installed under another folder name)"),
    });
    expect(home.read(".cursor", "mcp.json")).toBe(theirs);
  }
  await home.run("cursor", "--name", "tasks", "--uninstall", "--force");
  expect(home.read(".cursor", "mcp.json")).toBe("{}");
});

it("what it cannot do is explained, and nothing is written", async () => {
  const home = new Home();
  for (const [argv, code, what] of [
    [["emacs"], 2, "'emacs' is invalid for argument 'client'. Allowed choices are claude-code, claude-desktop"],
    [["claude-desktop", "--project"], 2, "Claude Desktop has no configuration per project"],
    [["cursor", "--name", "a_b"], 2, "--name takes up to 64 letters, digits and hyphens"],
    [["cursor", "--tools", "everything"], 2, "unknown tool group"],
    [["cursor", "--print", "--uninstall"], 2, "--print and --uninstall exclude each other"],
    [["cursor", "--user", "ada", "--space", "team"], 2, "no team is named"],
    [["cursor", "--key", "hf_k"], 2, "--key needs a server"],
    [["cursor", "--config", "none.yaml"], 2, "does not exist"],
  ] as const) {
    const ran = await home.run(...argv);
    expect(`${argv.join(" ")}: ${ran.code} ${ran.out}`).toBe(`${argv.join(" ")}: ${code} `);
    expect(ran.err).toContain(what);
  }
  expect(readdirSync(home.path)).toEqual([]);
});
