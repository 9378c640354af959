/**
 * Launch: how a client starts this package. Programs that are not started from a shell do not have the PATH of a version
 * manager, so node and the command's file are given as absolute paths. A package run from npx's cache has no lasting path, so
 * it is started through npx.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../errors.js";
import { packageFile } from "../../package-files.js";

export interface Running {
  readonly node: string;
  /** The command's file. */
  readonly main: string;
  readonly platform: NodeJS.Platform;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** True: the client has to find npx. */
  readonly isByNpx: boolean;
}

/** The file of the running command. */
export const MAIN_FILE = packageFile("dist/cli/main.js");

export const runningHere = (platform: NodeJS.Platform): Running => ({
  node: process.execPath,
  main: MAIN_FILE,
  platform,
});

export function launchOf({ node, main, platform }: Running): Launch {
  if (!/[\\/]_npx[\\/]/.test(main)) return { command: lastingNode(node), args: [main, "mcp"], isByNpx: false };
  const args = ["-y", "holdfast", "mcp"];
  // On Windows npx is a batch file, which several clients cannot start directly.
  if (platform === "win32") return { command: "cmd", args: ["/c", "npx", ...args], isByNpx: true };
  return { command: "npx", args, isByNpx: true };
}

/** Characters special to cmd.exe. How arguments are quoted depends on the client, so these cannot be escaped reliably. */
const SPECIAL_TO_CMD = /[&|<>^%"]/;

/** The arguments of the launch, then those for `holdfast mcp`. */
export function argsWith({ command, args }: Launch, passed: readonly string[]): readonly string[] {
  if (command !== "cmd" || !passed.some((one) => SPECIAL_TO_CMD.test(one))) return [...args, ...passed];
  throw new HoldfastError(
    "unsupported",
    'npx runs through cmd.exe, which would misinterpret & | < > ^ % or " in the arguments',
    { hint: "run npm install -g holdfast, then holdfast install …, which needs no cmd.exe" },
  );
}

/** Homebrew installs each version into its own folder, deletes the old one, and keeps a link to the current one. */
function lastingNode(node: string): string {
  const [, prefix, formula] = /^(.*)[/]Cellar[/](node(?:@\d+)?)[/][^/]+[/]bin[/]node$/.exec(node) ?? [];
  if (prefix === undefined || formula === undefined) return node;
  const link = join(prefix, "opt", formula, "bin", "node");
  return existsSync(link) ? link : node;
}

/** The files of an entry that no longer exist, because node or the package was moved or removed. */
export function missingFiles(command: unknown, args: unknown): readonly string[] {
  const words = [command, ...(Array.isArray(args) ? [args[0] as unknown] : [])];
  return words.filter((word): word is string => typeof word === "string" && isPath(word) && !existsSync(word));
}

const isPath = (word: string): boolean => /^([/]|[A-Za-z]:[\\/]).*[\\/]/.test(word);
