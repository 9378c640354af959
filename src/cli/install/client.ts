/**
 * Client: a program that starts MCP servers, and how it is configured. This table contains everything known about clients. It
 * follows each client's documentation (docs/decisions/mcp.md has the sources).
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "../../errors.js";
import { folderNamed, type Machine, roamingFolder, settingsFolder } from "./machine.js";

export interface Client {
  /** The name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly format: "json" | "toml";
  /** The key of the servers in its file. */
  readonly key: string;
  /** True if an entry contains `"type": "stdio"`. */
  readonly isTyped?: boolean;
  /** The user's file. Of several, the client reads the first whose folder exists, else the last. */
  userFiles(machine: Machine): readonly [string, ...string[]];
  /** Paths that show that the client is installed, if the folder of its file does not. */
  signs?(machine: Machine): readonly string[];
  /** The project's file, relative to its folder; undefined if the client has none. */
  readonly projectFile?: readonly [string, ...string[]];
  /** Text that the client expands as a variable. */
  readonly expands?: RegExp;
  /** What to do after a change. */
  readonly next: string;
  /** The same, for a project's file. */
  readonly projectNext?: string;
}

const BRACED = /\$\{/;

export const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    format: "json",
    key: "mcpServers",
    isTyped: true,
    userFiles: (machine) => [join(folderNamed(machine, "CLAUDE_CONFIG_DIR") ?? machine.home, ".claude.json")],
    // The file is in the home folder, which always exists.
    signs: (machine) => [
      join(folderNamed(machine, "CLAUDE_CONFIG_DIR") ?? machine.home, ".claude.json"),
      folderNamed(machine, "CLAUDE_CONFIG_DIR") ?? join(machine.home, ".claude"),
    ],
    projectFile: [".mcp.json"],
    expands: BRACED,
    next: "restart Claude Code; check with /mcp",
    projectNext: "start Claude Code in this folder and approve the server; check with /mcp",
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    key: "mcpServers",
    userFiles: claudeDesktopFiles,
    next: "quit and restart Claude Desktop; check under Settings, Developer",
  },
  {
    name: "cursor",
    title: "Cursor",
    format: "json",
    key: "mcpServers",
    isTyped: true,
    userFiles: ({ home }) => [join(home, ".cursor", "mcp.json")],
    projectFile: [".cursor", "mcp.json"],
    expands: BRACED,
    next: "restart Cursor, and enable it in the list of MCP servers",
  },
  {
    name: "vscode",
    title: "VS Code",
    format: "json",
    key: "servers",
    isTyped: true,
    userFiles: (machine) => [join(settingsFolder(machine), "Code", "User", "mcp.json")],
    projectFile: [".vscode", "mcp.json"],
    expands: BRACED,
    next: "run “MCP: List Servers” in VS Code and start it there",
  },
  {
    name: "codex",
    title: "Codex",
    format: "toml",
    key: "mcp_servers",
    userFiles: (machine) => [join(folderNamed(machine, "CODEX_HOME") ?? join(machine.home, ".codex"), "config.toml")],
    projectFile: [".codex", "config.toml"],
    next: "restart Codex; check with /mcp",
    projectNext: "start Codex in this folder and trust the folder; check with /mcp",
  },
  {
    name: "windsurf",
    title: "Windsurf (Devin Desktop)",
    format: "json",
    key: "mcpServers",
    // Windsurf became Devin Desktop, which has its own file; earlier versions read the second one.
    userFiles: (machine) => [
      join(machine.platform === "win32" ? roamingFolder(machine) : join(machine.home, ".config"), "devin", FILE),
      join(machine.home, ".codeium", "windsurf", FILE),
    ],
    projectFile: [".devin", "mcp_config.json"],
    expands: BRACED,
    next: "refresh the list of MCP servers, or restart Windsurf",
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    format: "json",
    key: "mcpServers",
    userFiles: (machine) => [join(folderNamed(machine, "GEMINI_CLI_HOME") ?? machine.home, ".gemini", "settings.json")],
    projectFile: [".gemini", "settings.json"],
    expands: /\$\w|\$\{/,
    next: "restart Gemini CLI; check with /mcp",
    projectNext: "start Gemini CLI in this folder and trust the folder; check with /mcp",
  },
];

const FILE = "mcp_config.json";

/** On Windows, packaged programs have their own settings folder instead of the usual one. */
function claudeDesktopFiles(machine: Machine): readonly [string, ...string[]] {
  const rest = ["Claude", "claude_desktop_config.json"];
  const usual = join(settingsFolder(machine), ...rest);
  if (machine.platform !== "win32") return [usual];
  const packages = join(machine.env["LOCALAPPDATA"] || join(machine.home, "AppData", "Local"), "Packages");
  const [packaged] = existsSync(packages) ? readdirSync(packages).filter((one) => one.startsWith("Claude_")) : [];
  return packaged === undefined ? [usual] : [join(packages, packaged, "LocalCache", "Roaming", ...rest), usual];
}

export function clientNamed(name: string): Client {
  const client = CLIENTS.find((one) => one.name === name);
  if (client) return client;
  throw new HoldfastError("invalid_input", `unknown client: ${name}`, {
    hint: `one of ${CLIENTS.map((one) => one.name).join(", ")}; holdfast install lists them`,
  });
}

export function userFile(client: Client, machine: Machine): string {
  const files = client.userFiles(machine);
  return files.find((file) => existsSync(dirname(file))) ?? files.at(-1) ?? files[0];
}

export function projectFile({ projectFile: parts, title }: Client, { cwd }: Machine): string {
  if (parts) return join(cwd, ...parts);
  throw new HoldfastError("unsupported", `${title} has no configuration per project`, {
    hint: "omit --project",
  });
}

export function isPresent(client: Client, machine: Machine): boolean {
  return (client.signs?.(machine) ?? client.userFiles(machine).map((file) => dirname(file))).some((one) =>
    existsSync(one),
  );
}
