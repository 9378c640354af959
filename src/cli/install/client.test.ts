import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLIENTS, clientNamed, isPresent, projectFile, userFile } from "./client.js";
import { type Machine, machineOf } from "./machine.js";
import { overviewOf } from "./overview.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-clients-"));
});
afterEach(() => rmSync(home, { recursive: true }));

function on(platform: NodeJS.Platform, env: Machine["env"] = {}): Machine {
  return { home, platform, env, cwd: join(home, "project") };
}

function filesOn(machine: Machine): { readonly [client: string]: string } {
  const prefix = `${home}/`;
  return Object.fromEntries(CLIENTS.map((client) => [client.name, userFile(client, machine).replace(prefix, "")]));
}

const ALIKE = {
  "claude-code": ".claude.json",
  cursor: ".cursor/mcp.json",
  codex: ".codex/config.toml",
  "gemini-cli": ".gemini/settings.json",
};

describe("a person's file is where each client documents it", () => {
  it("on Linux", () => {
    expect(filesOn(on("linux"))).toEqual({
      ...ALIKE,
      "claude-desktop": ".config/Claude/claude_desktop_config.json",
      vscode: ".config/Code/User/mcp.json",
      windsurf: ".codeium/windsurf/mcp_config.json",
    });
  });

  it("on macOS", () => {
    expect(filesOn(on("darwin"))).toEqual({
      ...ALIKE,
      "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
      vscode: "Library/Application Support/Code/User/mcp.json",
      windsurf: ".codeium/windsurf/mcp_config.json",
    });
  });

  it("on Windows", () => {
    const expected = {
      ...ALIKE,
      "claude-desktop": "Claude/claude_desktop_config.json",
      vscode: "Code/User/mcp.json",
      windsurf: ".codeium/windsurf/mcp_config.json",
    };
    const roamed = filesOn(on("win32", { APPDATA: home }));
    expect(roamed).toEqual(expected);
    expect(filesOn(on("win32"))["vscode"]).toBe("AppData/Roaming/Code/User/mcp.json");
  });

  it("where the client's own variables say", () => {
    const env = {
      CLAUDE_CONFIG_DIR: "/c",
      CODEX_HOME: "/x",
      GEMINI_CLI_HOME: "/g",
      XDG_CONFIG_HOME: "/xdg",
    };
    expect(filesOn(on("linux", env))).toEqual({
      "claude-code": "/c/.claude.json",
      "claude-desktop": "/xdg/Claude/claude_desktop_config.json",
      cursor: ".cursor/mcp.json",
      vscode: "/xdg/Code/User/mcp.json",
      codex: "/x/config.toml",
      windsurf: ".codeium/windsurf/mcp_config.json",
      "gemini-cli": "/g/.gemini/settings.json",
    });
    expect(filesOn(on("linux", { XDG_CONFIG_HOME: "relative" }))["vscode"]).toBe(".config/Code/User/mcp.json");
  });

  it("which Windows moves for a packaged Claude Desktop, once that has its folder", () => {
    const machine = on("win32", { LOCALAPPDATA: join(home, "Local"), APPDATA: join(home, "Roaming") });
    const packaged = "Local/Packages/Claude_abc/LocalCache/Roaming/Claude";
    mkdirSync(join(home, "Roaming", "Claude"), { recursive: true });
    mkdirSync(join(home, "Local/Packages/Other_x"), { recursive: true });
    expect(filesOn(machine)["claude-desktop"]).toBe("Roaming/Claude/claude_desktop_config.json");
    mkdirSync(join(home, packaged), { recursive: true });
    expect(filesOn(machine)["claude-desktop"]).toBe(`${packaged}/claude_desktop_config.json`);
  });
});

it("a project's file is in the folder that one works in", () => {
  const files = CLIENTS.filter((client) => client.projectFile).map((client) => [
    client.name,
    projectFile(client, on("linux")).replace(join(home, "project/"), ""),
  ]);
  expect(Object.fromEntries(files)).toEqual({
    "claude-code": ".mcp.json",
    cursor: ".cursor/mcp.json",
    vscode: ".vscode/mcp.json",
    codex: ".codex/config.toml",
    windsurf: ".devin/mcp_config.json",
    "gemini-cli": ".gemini/settings.json",
  });
});

it("the home folder is the one of the environment", () => {
  expect(machineOf({ HOME: "/h", USERPROFILE: "/u" }, "linux").home).toBe("/h");
  expect(machineOf({ HOME: "/h", USERPROFILE: "/u" }, "win32").home).toBe("/u");
  expect(machineOf({}, "linux").home).not.toBe("");
});

it("an unknown client is refused with a list of the known ones", () => {
  expect(() => clientNamed("emacs")).toThrow(
    expect.objectContaining({ code: "invalid_input", hint: expect.stringMatching(/cursor.*holdfast install lists/) }),
  );
});

it("the overview shows which clients exist, and the entry in each file", () => {
  const machine = on("linux");
  const states = (): object =>
    Object.fromEntries(overviewOf("holdfast", machine).map(({ name, present, entry }) => [name, [present, entry]]));
  const nobody = [false, "none"];
  expect(states()).toEqual(Object.fromEntries(CLIENTS.map(({ name }) => [name, nobody])));
  const put = (file: string, text: string): void => {
    mkdirSync(join(home, file, ".."), { recursive: true });
    writeFileSync(join(home, file), text);
  };
  const main = join(home, "holdfast/dist/cli/main.js");
  const servers = (command: string, ...args: string[]): string =>
    JSON.stringify({ mcpServers: { holdfast: { command, args } } });
  put("holdfast/dist/cli/main.js", "");
  put(".cursor/mcp.json", servers(process.execPath, main, "mcp"));
  put(".gemini/settings.json", servers("npx", "-y", "holdfast", "mcp"));
  put(".claude.json", servers(process.execPath, join(home, "gone/holdfast/dist/cli/main.js"), "mcp"));
  put(".config/Claude/claude_desktop_config.json", servers("another"));
  put(".codex/config.toml", "broken");
  mkdirSync(join(home, ".config/Code/User/mcp.json"), { recursive: true });
  expect(states()).toEqual({
    "claude-code": [true, "stale"],
    "claude-desktop": [true, "taken"],
    cursor: [true, "ready"],
    vscode: [true, "unreadable"],
    codex: [true, "unreadable"],
    windsurf: nobody,
    "gemini-cli": [true, "ready"],
  });
  rmSync(join(home, ".claude.json"));
  mkdirSync(join(home, ".claude"));
  expect(isPresent(clientNamed("claude-code"), machine)).toBe(true);
});
