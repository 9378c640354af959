import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isOurs } from "./entry.js";
import { argsWith, launchOf, MAIN_FILE, runningHere } from "./launch.js";
import { argsOf, placeFor, toolGroups, unseenVariables } from "./passed-on.js";

describe("an entry is ours", () => {
  it.each([
    ["/usr/bin/node", "/usr/lib/node_modules/holdfast/dist/cli/main.js", "mcp"],
    ["C:\\node.exe", "C:\\npm\\node_modules\\holdfast\\dist\\cli\\main.js", "mcp", "--user", "ada"],
    ["npx", "-y", "holdfast", "mcp"],
    ["cmd", "/c", "npx", "-y", "holdfast@1.2.0", "mcp"],
    ["/opt/bin/holdfast", "--path", "m.db", "mcp"],
    ["holdfast.cmd", "mcp"],
    ["cmd", "/c", "holdfast", "mcp"],
    ["node", MAIN_FILE, "mcp"],
  ])("if it runs %s %s %s", (command, ...args) => expect(isOurs({ command, args })).toBe(true));

  it.each([
    ["npx", "-y", "holdfast-tools", "mcp"],
    ["npx", "-y", "@someone/memory", "mcp"],
    ["holdfast", "serve"],
    ["mcp", "holdfast"],
    ["node", "/srv/main.js", "mcp"],
    ["node", "/opt/other-tool/dist/cli/main.js", "mcp"],
    ["node", "/home/holdfast/other-tool/dist/cli/main.js", "mcp"],
    ["node", "/opt/my-holdfast/dist/cli/main.js", "mcp"],
    ["other-tool", "--folder", "/data/holdfast", "mcp"],
    ["npx", "-y", "other-tool", "holdfast", "mcp"],
    ["npx", "-y"],
  ])("and not if it runs %s %s %s", (command, ...args) => expect(isOurs({ command, args })).toBe(false));

  it("and not if it is anything else", () => {
    for (const one of [undefined, null, "holdfast mcp", ["holdfast", "mcp"], {}, { url: "http://x/mcp" }])
      expect(isOurs(one)).toBe(false);
  });
});

describe("the command", () => {
  it("is node and this package's file, by absolute paths", () => {
    const { node, main } = runningHere("linux");
    expect(main).toMatch(/^\/.*[/]cli[/]main\.js$/);
    expect(launchOf({ node, main, platform: "linux" })).toEqual({ command: node, args: [main, "mcp"], isByNpx: false });
  });

  it("is npx, if this runs from its cache", () => {
    const running = { node: "/n", main: "/home/ada/.npm/_npx/1f/node_modules/holdfast/dist/cli/main.js" };
    const args = ["-y", "holdfast", "mcp"];
    expect(launchOf({ ...running, platform: "darwin" })).toEqual({ command: "npx", args, isByNpx: true });
    const main = "C:\\npm-cache\\_npx\\1f\\node_modules\\holdfast\\dist\\cli\\main.js";
    const wrapped = { command: "cmd", args: ["/c", "npx", ...args], isByNpx: true };
    expect(launchOf({ node: "n", main, platform: "win32" })).toEqual(wrapped);
  });

  it("has no sign that cmd.exe acts on, where cmd.exe starts npx", () => {
    const file = "node_modules\\holdfast\\dist\\cli\\main.js";
    const launched = (folder: string) => launchOf({ node: "n", main: `C:\\${folder}\\${file}`, platform: "win32" });
    const [byNpx, byPath] = [launched("npm-cache\\_npx\\1f"), launched("npm")];
    expect(argsWith(byNpx, ["--user", "ada b"])).toEqual(["/c", "npx", "-y", "holdfast", "mcp", "--user", "ada b"]);
    for (const sign of '&|<>^%"') {
      const passed = ["--user", `a${sign}b`];
      expect(() => argsWith(byNpx, passed)).toThrow(
        expect.objectContaining({ code: "unsupported", hint: expect.stringContaining("npm install -g holdfast") }),
      );
      expect(argsWith(byPath, passed)).toEqual([...byPath.args, ...passed]);
    }
  });

  it("is Homebrew's link to node, which outlives the version", () => {
    const prefix = mkdtempSync(join(tmpdir(), "holdfast-brew-"));
    onTestFinished(() => rmSync(prefix, { recursive: true }));
    const node = join(prefix, "Cellar/node@22/22.1.0/bin/node");
    const launched = (): string => launchOf({ node, main: "/m", platform: "darwin" }).command;
    expect(launched()).toBe(node);
    mkdirSync(join(prefix, "opt/node@22/bin"), { recursive: true });
    writeFileSync(join(prefix, "opt/node@22/bin/node"), "");
    expect(launched()).toBe(join(prefix, "opt/node@22/bin/node"));
  });
});

describe("what is passed on", () => {
  it("is what was said, with whole paths, and no key", () => {
    expect(argsOf({}, "/folder")).toEqual([]);
    const scope = { user: "ada", agent: "tutor", team: "docs", session: "monday", space: "team" } as const;
    const flags = { ...scope, path: "m.db", config: "../c.yaml", tools: "core,admin", maxTokens: 900 };
    const said = ["--user", "ada", "--agent", "tutor", "--team", "docs", "--session", "monday", "--space", "team"];
    expect(argsOf({ ...flags, readOnly: true }, "/folder")).toEqual([
      ...said,
      ...["--path", "/folder/m.db", "--config", "/c.yaml", "--tools", "core,admin"],
      ...["--max-tokens", "900", "--read-only"],
    ]);
    expect(argsOf({ ...scope, readOnly: false }, "/folder")).toEqual(said);
    expect(argsOf({ url: "http://x", key: "hf_k" }, "/folder")).toEqual(["--url", "http://x"]);
    expect(argsOf({ path: ":memory:", user: "--odd" }, "/folder")).toEqual(["--user=--odd", "--path", ":memory:"]);
  });

  it("is refused if there is no such group of tools", async () => {
    expect(await toolGroups("core, admin,core")).toBe("core,admin");
    for (const tools of ["everything", "", "core,"])
      await expect(toolGroups(tools)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("is not what this shell's variables say, but for the key of a server that is named", async () => {
    const env = { HOLDFAST_URL: "http://127.0.0.1:1", HOLDFAST_KEY: "hf_k", HOLDFAST_STORE_PATH: "/x.db" };
    expect(await placeFor({}, env)).toMatchObject({ kind: "file", path: expect.not.stringContaining("x.db") });
    expect(await placeFor({ url: "http://y" }, env)).toEqual({ kind: "server", url: "http://y", key: "hf_k" });
    expect(unseenVariables({}, env)).toEqual(["HOLDFAST_URL", "HOLDFAST_STORE_PATH"]);
    expect(unseenVariables({ path: "m.db" }, env)).toEqual([]);
    await expect(placeFor({ url: "http://y", path: "m.db" }, env)).rejects.toMatchObject({ code: "invalid_input" });
  });
});
