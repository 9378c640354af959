/**
 * Client: a program that starts MCP servers, and where and how it wants to be told of them. What is known of a client
 * stands in this table and nowhere else; it follows what each client documents (docs/mcp.md has the sources).
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "../../errors.js";
import { folderNamed, type Machine, roamingFolder, settingsFolder } from "./machine.js";

export interface Client {
  /** As it is typed. */
  readonly name: string;
  readonly title: string;
  readonly format: "json" | "toml";
  /** The table of servers in its file. */
  readonly key: string;
  /** True: an entry says `"type": "stdio"`. */
  readonly isTyped?: boolean;
  /** The person's file. Of several, the first whose folder is there is the one that the client reads; else the last. */
  userFiles(machine: Machine): readonly [string, ...string[]];
  /** What shows that the client is on the machine, if the folder of its file does not. */
  signs?(machine: Machine): readonly string[];
  /** The file of a project, in its folder; left out if the client has none. */
  readonly projectFile?: readonly [string, ...string[]];
  /** What the client takes for a variable in the text of an entry, and replaces. */
  readonly expands?: RegExp;
  /** What to do after a change. */
  readonly next: string;
  /** The same for a project's file. */
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
    // The file is in the home folder itself, which says nothing.
    signs: (machine) => [
      join(folderNamed(machine, "CLAUDE_CONFIG_DIR") ?? machine.home, ".claude.json"),
      folderNamed(machine, "CLAUDE_CONFIG_DIR") ?? join(machine.home, ".claude"),
    ],
    projectFile: [".mcp.json"],
    expands: BRACED,
    next: "start Claude Code again; /mcp shows it",
    projectNext: "start Claude Code in this folder and agree to it once; /mcp shows it",
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    key: "mcpServers",
    userFiles: claudeDesktopFiles,
    next: "quit Claude Desktop and start it again; Settings, Developer shows it",
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
    next: "start Cursor again; its list of MCP servers shows it, and switches it on",
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
    next: "run “MCP: List Servers” in VS Code, and start it there",
  },
  {
    name: "codex",
    title: "Codex",
    format: "toml",
    key: "mcp_servers",
    userFiles: (machine) => [join(folderNamed(machine, "CODEX_HOME") ?? join(machine.home, ".codex"), "config.toml")],
    projectFile: [".codex", "config.toml"],
    next: "start Codex again; /mcp shows it",
    projectNext: "start Codex in this folder, which it must trust; /mcp shows it",
  },
  {
    name: "windsurf",
    title: "Windsurf (Devin Desktop)",
    format: "json",
    key: "mcpServers",
    // Windsurf became Devin Desktop, which has a file of its own; versions before that read the second one.
    userFiles: (machine) => [
      join(machine.platform === "win32" ? roamingFolder(machine) : join(machine.home, ".config"), "devin", FILE),
      join(machine.home, ".codeium", "windsurf", FILE),
    ],
    projectFile: [".devin", "mcp_config.json"],
    expands: BRACED,
    next: "refresh the list of MCP servers, or start Windsurf again",
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    format: "json",
    key: "mcpServers",
    userFiles: (machine) => [join(folderNamed(machine, "GEMINI_CLI_HOME") ?? machine.home, ".gemini", "settings.json")],
    projectFile: [".gemini", "settings.json"],
    expands: /\$\w|\$\{/,
    next: "start Gemini CLI again; /mcp shows it",
    projectNext: "start Gemini CLI in this folder, which it must trust; /mcp shows it",
  },
];

const FILE = "mcp_config.json";

/** Windows gives programs that come as a package a settings folder of their own in place of the usual one. */
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
  throw new HoldfastError("invalid_input", `no client is called ${name}`, {
    hint: `one of ${CLIENTS.map((one) => one.name).join(", ")}; holdfast install lists them`,
  });
}

export function userFile(client: Client, machine: Machine): string {
  const files = client.userFiles(machine);
  return files.find((file) => existsSync(dirname(file))) ?? files.at(-1) ?? files[0];
}

export function projectFile({ projectFile: parts, title }: Client, { cwd }: Machine): string {
  if (parts) return join(cwd, ...parts);
  throw new HoldfastError("unsupported", `${title} has no configuration of its own for a project`, {
    hint: "leave --project away",
  });
}

export function isPresent(client: Client, machine: Machine): boolean {
  return (client.signs?.(machine) ?? client.userFiles(machine).map((file) => dirname(file))).some((one) =>
    existsSync(one),
  );
}
