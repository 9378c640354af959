/**
 * Entry: a client's configuration of one server. In our entry, `type`, `command`, `args` and the key in `env` are ours; any
 * other fields of the user are kept.
 */
import type { Client } from "./client.js";
import { MAIN_FILE } from "./launch.js";

/** A parsed JSON object or TOML table. */
export type Table = { readonly [key: string]: unknown };

export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  /** The API key. It is not an argument, because other users of the machine can see those. */
  readonly key?: string;
  /** True if no arguments were given. An existing entry then keeps its own. */
  readonly isBare?: boolean;
}

/** The location of an entry. */
export interface Slot {
  readonly file: string;
  /** The key of the servers. */
  readonly key: string;
  /** The name of the entry. */
  readonly name: string;
}

export const KEY_VARIABLE = "HOLDFAST_KEY";

/** The arguments that our entry passes to `holdfast mcp`. */
export function passedBy({ args }: Table): readonly string[] {
  const words = Array.isArray(args) ? (args as unknown[]).map(String) : [];
  return words.slice(words.indexOf("mcp") + 1 || words.length);
}

/** The new entry, given the existing one. Installing again without arguments keeps the same memory. */
export function entryTable(client: Client, entry: ServerEntry, found: Table = {}): Table {
  if (!entry.isBare) return tableOf(client, entry, found);
  const { env } = found;
  const key = isTable(env) && typeof env[KEY_VARIABLE] === "string" ? { key: env[KEY_VARIABLE] } : {};
  return tableOf(client, { ...entry, args: [...entry.args, ...passedBy(found)], ...key }, found);
}

function tableOf({ isTyped }: Client, { command, args, key }: ServerEntry, found: Table): Table {
  const { type: _, env: oldEnv, command: _command, args: _args, ...rest } = found;
  const { [KEY_VARIABLE]: _key, ...otherEnv } = isTable(oldEnv) ? oldEnv : {};
  const env = { ...otherEnv, ...(key !== undefined && { [KEY_VARIABLE]: key }) };
  return {
    ...(isTyped && { type: "stdio" }),
    command,
    args,
    ...(Object.keys(env).length > 0 && { env }),
    ...rest,
  };
}

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a file's text contains a key. */
export const holdsKey = (text: string): boolean => text.includes(KEY_VARIABLE);

/** On Windows several clients start programs through cmd. */
const SHELL = /(^|[\\/])cmd(\.exe)?$/i;
const NPX = /(^|[\\/])npx(\.cmd)?$/;
const COMMAND = /(^|[\\/])holdfast(\.cmd|\.ps1|\.exe)?$/;
/** The package name as given to npx. */
const PACKAGE = /^holdfast(@[^\\/]*)?$/;
/** The package's command file. Other packages have a `dist/cli/main.js`, too. */
const PACKAGE_FILE = /(^|[\\/])holdfast[\\/]dist[\\/]cli[\\/]main\.js$/;

/** Whether the entry runs `holdfast mcp`: by the command, through npx, or by the package's file. */
export function isOurs(found: unknown): boolean {
  if (!isTable(found)) return false;
  const words = [found["command"], ...(Array.isArray(found["args"]) ? (found["args"] as unknown[]) : [])].map(String);
  const [command = "", ...args] = SHELL.test(words[0] ?? "") ? words.slice(2) : words; // without cmd /c
  if (COMMAND.test(command)) return args.includes("mcp");
  const program = NPX.test(command) ? packageAt(args) : args.findIndex(isOurFile);
  return program >= 0 && args.includes("mcp", program + 1);
}

/** The package that npx runs is its first argument that is not a flag. */
function packageAt(args: readonly string[]): number {
  const first = args.findIndex((word) => !word.startsWith("-"));
  return PACKAGE.test(args[first] ?? "") ? first : -1;
}

const isOurFile = (word: string): boolean => word === MAIN_FILE || PACKAGE_FILE.test(word);
