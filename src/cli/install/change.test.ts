/** Every client, with files of every kind: only our entry changes, and installing again changes nothing. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse as parseJson } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Change, type InstallTarget, installation, removal, slotOf, snippetOf } from "./change.js";
import { diffOf } from "./change-diff.js";
import { CLIENTS, type Client } from "./client.js";
import type { ServerEntry } from "./entry.js";
import type { Machine } from "./machine.js";

const ENTRY: ServerEntry = {
  command: "/opt/node/bin/node",
  args: ["/opt/holdfast/dist/cli/main.js", "mcp", "--user", "ada"],
};
const STALE: ServerEntry = { command: "/old/node", args: ["/old/holdfast/dist/cli/main.js", "mcp"], key: "hf_old" };
let now = Date.parse("2026-11-16T12:00:00Z");

let machine: Machine;
beforeEach(() => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-install-"));
  machine = { home, platform: "linux", env: {}, cwd: home };
});
afterEach(() => rmSync(machine.home, { recursive: true }));

const wishFor = (client: Client): InstallTarget => ({ client, name: "holdfast", isProject: false });
const fileOf = (client: Client): string => slotOf(wishFor(client), machine).file;
const write = ({ action, file, after }: Change): string | undefined =>
  action === "none" ? undefined : file.replace(after, { made: 0o600, isSecret: false }, new Date(now++)).backup;
const install = (client: Client, entry = ENTRY): Change => installation(wishFor(client), entry, machine, false);

function put(client: Client, text: string): string {
  const file = fileOf(client);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Uses another parser than ours. */
function serversIn(client: Client): { [name: string]: unknown } {
  const text = readFileSync(fileOf(client), "utf8").replace(/^\uFEFF/, "");
  const whole = (client.format === "toml" ? parseToml(text) : parseJson(text)) as { [key: string]: object };
  return { ...whole[client.key] } as { [name: string]: unknown };
}

/** An entry of a stdio server, as each client documents it. */
const documented = ({ isTyped }: Client, { command, args, key }: ServerEntry = ENTRY): object => ({
  ...(isTyped && { type: "stdio" }),
  command,
  args,
  ...(key !== undefined && { env: { HOLDFAST_KEY: key } }),
});

const OTHER = { command: "npx", args: ["-y", "other"], env: { TOKEN: "secret" } };

/** Files written by others. Their text must be restored when the entry is removed. */
const FILES: { readonly [what: string]: (client: Client) => string } = {
  "with other settings": ({ format }) =>
    format === "toml" ? 'model = "o9"\n\n[tui]\nx = 1\n' : '{\n  "theme": "dark",\n  "list": [1, 2]\n}\n',
  "with other servers": ({ format, key }) =>
    format === "toml"
      ? `[${key}.other]\ncommand = "npx"\nargs = ["-y", "other"]\n\n[${key}.other.env]\nTOKEN = "secret"\n`
      : `${JSON.stringify({ a: 1, [key]: { other: OTHER }, z: [] }, undefined, 4)}\n`,
  "with comments and odd spaces": ({ format, key }) =>
    format === "toml"
      ? `# mine\n  [ ${key} . other ] # here\ncommand='npx'   # and here\nargs = [ "-y", # why\n  "other" ]\nenv = {TOKEN="secret"}\n\n# the end`
      : `// mine\n{ /* a */ "a" :1,\n\t"${key}": {\n\t\t"other":   {"command": "npx", "args": ["-y","other"], "env": {"TOKEN": "secret"}} // last\n\t\t// the end\n\t},\n\t"z": [ ],\n}\n`,
  "with trailing commas": ({ format, key }) =>
    format === "toml"
      ? `list = [1, 2,]\n[${key}.other]\ncommand = "npx"\nargs = ["-y", "other",]\nenv.TOKEN = "secret"\n`
      : `{\n  "${key}": {\n    "other": ${JSON.stringify(OTHER)}, // mine\n  },\n}\n`,
  "with Windows line ends and a byte order mark": ({ format, key }) =>
    `\uFEFF${
      format === "toml"
        ? `[${key}.other]\ncommand = "npx"\nargs = ["-y", "other"]\nenv = { TOKEN = "secret" }\n`
        : `${JSON.stringify({ [key]: { other: OTHER } }, undefined, 2)}\n`
    }`.replaceAll("\n", "\r\n"),
  "on one line": ({ format, key }) =>
    format === "toml"
      ? `[${key}.other]\ncommand = "npx"\nargs = ["-y", "other"]\nenv = { TOKEN = "secret" }`
      : JSON.stringify({ a: 1, [key]: { other: OTHER } }),
};

describe.each(CLIENTS.map((client) => [client.name, client] as const))("%s", (_, client) => {
  it("gets a file of the documented form where there is none, and in an empty one", () => {
    expect(write(install(client))).toBeUndefined();
    expect(serversIn(client)).toEqual({ holdfast: documented(client) });
    const made = readFileSync(fileOf(client), "utf8");
    expect(made.endsWith("\n")).toBe(true);
    put(client, " \n");
    expect(write(install(client))).toBeDefined();
    expect(readFileSync(fileOf(client), "utf8")).toBe(made);
    expect(install(client).action).toBe("none");
    expect(snippetOf(wishFor(client), ENTRY, machine)).toBe(made);
  });

  it.each(Object.keys(FILES))("keeps every other byte of a file %s, and gives it back", (what) => {
    const original = FILES[what]?.(client) ?? "";
    const file = put(client, original);
    const others = serversIn(client);
    const backup = write(install(client)) ?? "";
    expect(readFileSync(backup, "utf8")).toBe(original);
    expect(serversIn(client)).toEqual({ ...others, holdfast: documented(client) });
    const changed = readFileSync(file, "utf8");
    expect(lettersLost(original, changed)).toBe("");
    expect(install(client).action).toBe("none");
    expect(removal(wishFor(client), machine, false).after).toBe(original.replace(/^\uFEFF/, ""));
  });

  it("brings an entry of ours up to date, and leaves what a person has added to it", () => {
    write(install(client, STALE));
    const text = readFileSync(fileOf(client), "utf8");
    const extra =
      client.format === "toml"
        ? text.replace("[mcp_servers.holdfast.env]\n", '[mcp_servers.holdfast.env]\nMINE = "1"\n') +
          '\n[mcp_servers.holdfast.tools.x]\nmode = "ask"\n\n[after]\ny = 2\n'
        : text
            .replace('"HOLDFAST_KEY"', '// two\n        "MINE": "1", "HOLDFAST_KEY"')
            .replace('"command"', '"timeout": 9, // mine\n      "command"');
    put(client, extra);
    const change = install(client);
    expect(change.action).toBe("change");
    write(change);
    const own = client.format === "toml" ? { tools: { x: { mode: "ask" } } } : { timeout: 9 };
    expect(serversIn(client)).toEqual({ holdfast: { ...documented(client), env: { MINE: "1" }, ...own } });
    const after = readFileSync(fileOf(client), "utf8");
    expect(after).toContain(client.format === "toml" ? "\n\n[after]\ny = 2\n" : "// mine\n");
    expect(after).not.toContain("hf_old");
    expect(install(client).action).toBe("none");
  });

  it("is set up again without a word about whose memory: it keeps that, and its key; the program is the new one", () => {
    const old: ServerEntry = { ...STALE, args: [...STALE.args, "--user", "ada", "--read-only"] };
    write(install(client, old));
    const bare: ServerEntry = { command: "/new/node", args: ["/new/holdfast/dist/cli/main.js", "mcp"], isBare: true };
    const change = install(client, bare);
    expect(change.kept).toEqual(["--user", "ada", "--read-only"]);
    write(change);
    const expected = { ...old, command: "/new/node", args: [...bare.args, "--user", "ada", "--read-only"] };
    expect(serversIn(client)["holdfast"]).toEqual(documented(client, expected));
    expect(install(client, bare).action).toBe("none");
  });

  it("is left alone if its file is broken, and the line is named", () => {
    const [text, line] =
      client.format === "toml" ? ['a = 1\nb = = 2\nc = "TOKEN"', 2] : ['{\n  "a": 1\n  "b": "TOKEN"\n}', 3];
    const file = put(client, text);
    for (const act of [() => install(client), () => removal(wishFor(client), machine, true)]) {
      expect(act).toThrow(
        expect.objectContaining({
          code: "config",
          message: expect.stringMatching(new RegExp(`line ${line}, (?!.*TOKEN)`)),
          details: { file, line },
        }),
      );
    }
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("is left alone if its servers are no table, or an entry of the name is somebody else's", () => {
    const wrong = put(client, client.format === "toml" ? `${client.key} = 7\n` : `{"${client.key}": []}`);
    expect(() => install(client)).toThrow(expect.objectContaining({ code: "config" }));
    const [table] = [snippetOf(wishFor(client), { command: "npx", args: ["-y", "another", "mcp"] }, machine)];
    put(client, table);
    for (const act of [() => install(client), () => removal(wishFor(client), machine, false)]) {
      expect(act).toThrow(expect.objectContaining({ code: "conflict", hint: expect.stringContaining("--force") }));
    }
    expect(readFileSync(wrong, "utf8")).toBe(table);
    write(installation(wishFor(client), ENTRY, machine, true));
    expect(serversIn(client)).toEqual({ holdfast: documented(client) });
    put(client, table);
    write(removal(wishFor(client), machine, true));
    expect(serversIn(client)).toEqual({});
  });

  it("has the key in its environment, not in the arguments, and a diff does not show it", () => {
    const change = install(client, { ...ENTRY, key: "hf_secret" });
    const diff = diffOf(change);
    expect(diff).toMatch(/^\+.*HOLDFAST_KEY"?\W+…"/m);
    expect(diff).not.toContain("hf_secret");
    expect(readdirSync(machine.home)).toEqual([]);
    write(change);
    expect(serversIn(client)).toEqual({ holdfast: documented(client, { ...ENTRY, key: "hf_secret" }) });
    write(install(client));
    expect(readFileSync(fileOf(client), "utf8")).not.toContain("hf_secret");
  });

  it("has a project file of its own, or says that it has none", () => {
    const target = { ...wishFor(client), isProject: true };
    if (!client.projectFile) {
      expect(() => slotOf(target, machine)).toThrow(expect.objectContaining({ code: "unsupported" }));
      return;
    }
    machine = { ...machine, cwd: join(machine.home, "project") };
    write(installation(target, ENTRY, machine, false));
    expect(slotOf(target, machine).file).toBe(join(machine.cwd, ...client.projectFile));
    expect(readFileSync(slotOf(target, machine).file, "utf8")).toBe(snippetOf(target, ENTRY, machine));
  });
});

/** The characters of `before` that are missing, in order, in `after`. */
function lettersLost(before: string, after: string): string {
  let at = 0;
  for (const [index, letter] of [...before].entries()) {
    at = after.indexOf(letter, at) + 1;
    if (at === 0) return before.slice(index);
  }
  return "";
}

it("an entry that Windsurf has read from its older file is taken out of that one", () => {
  const [windsurf] = CLIENTS.filter(({ name }) => name === "windsurf");
  if (!windsurf) throw new Error("no such client");
  const old = join(machine.home, ".codeium", "windsurf", "mcp_config.json");
  mkdirSync(dirname(old), { recursive: true });
  write(install(windsurf));
  expect(readFileSync(old, "utf8")).toContain("holdfast");
  mkdirSync(join(machine.home, ".config", "devin"), { recursive: true });
  expect(fileOf(windsurf)).not.toBe(old);
  write(removal(wishFor(windsurf), machine, false));
  expect(readFileSync(old, "utf8")).toBe("{}\n");
});

it("what a client would take for a variable is refused", () => {
  const odd = (args: readonly string[]): ServerEntry => ({ command: "node", args });
  const refused = CLIENTS.filter((client) => {
    try {
      install(client, odd(["/data/$ada/m.db"]));
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: "unsupported" });
      return true;
    }
  });
  expect(refused.map(({ name }) => name)).toEqual(["gemini-cli"]);
  for (const client of CLIENTS.filter(({ expands }) => expands))
    expect(() => install(client, odd(["/data/$" + "{ada}/m.db"]))).toThrow("because it contains $");
});
