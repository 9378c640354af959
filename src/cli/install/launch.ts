/**
 * Launch: how a client is to start this package. Programs that are not started from a shell know no PATH of a version
 * manager, often none but the system's; so node and the command's file are named by absolute paths. What runs from npx's
 * cache has no lasting path: npx is named then.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HoldfastError } from "../../errors.js";

export interface Running {
  readonly node: string;
  /** The file of this command. */
  readonly main: string;
  readonly platform: NodeJS.Platform;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** True: the client has to find npx by itself. */
  readonly isByNpx: boolean;
}

/** The file of the command that runs here. */
export const MAIN_FILE = fileURLToPath(new URL("../main.js", import.meta.url));

export const runningHere = (platform: NodeJS.Platform): Running => ({
  node: process.execPath,
  main: MAIN_FILE,
  platform,
});

export function launchOf({ node, main, platform }: Running): Launch {
  if (!/[\\/]_npx[\\/]/.test(main)) return { command: lastingNode(node), args: [main, "mcp"], isByNpx: false };
  const args = ["-y", "holdfast", "mcp"];
  // On Windows npx is a batch file, which several clients cannot start by themselves.
  if (platform === "win32") return { command: "cmd", args: ["/c", "npx", ...args], isByNpx: true };
  return { command: "npx", args, isByNpx: true };
}

/** What cmd.exe acts on. Who starts it decides how arguments are quoted, so there is no way to write these for sure. */
const SPECIAL_TO_CMD = /[&|<>^%"]/;

/** All arguments: those of the launch, then what is passed on. */
export function argsWith({ command, args }: Launch, passed: readonly string[]): readonly string[] {
  if (command !== "cmd" || !passed.some((one) => SPECIAL_TO_CMD.test(one))) return [...args, ...passed];
  throw new HoldfastError(
    "unsupported",
    'npx is started by cmd.exe, which would take a part of what is passed on for a command, because of its & | < > ^ % or "',
    { hint: "npm install -g holdfast, then holdfast install …: that needs no cmd.exe" },
  );
}

/** Homebrew puts each version into a folder of its own, deletes the old one, and keeps a link to the current. */
function lastingNode(node: string): string {
  const [, prefix, formula] = /^(.*)[/]Cellar[/](node(?:@\d+)?)[/][^/]+[/]bin[/]node$/.exec(node) ?? [];
  if (prefix === undefined || formula === undefined) return node;
  const link = join(prefix, "opt", formula, "bin", "node");
  return existsSync(link) ? link : node;
}

/** The files of an entry that are gone, because node or the package was moved or removed. */
export function missingFiles(command: unknown, args: unknown): readonly string[] {
  const words = [command, ...(Array.isArray(args) ? [args[0] as unknown] : [])];
  return words.filter((word): word is string => typeof word === "string" && isPath(word) && !existsSync(word));
}

const isPath = (word: string): boolean => /^([/]|[A-Za-z]:[\\/]).*[\\/]/.test(word);
