/**
 * Entry: what a client's file says of one server. Of an entry of ours, `type`, `command`, `args` and the key in `env` are
 * ours; whatever else a person has written beside them stays.
 */
import type { Client } from "./client.js";
import { MAIN_FILE } from "./launch.js";

/** A table as the formats read it. */
export type Table = { readonly [key: string]: unknown };

export interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  /** The key of a server: it is kept out of the arguments, which others on the machine can see. */
  readonly key?: string;
  /** True: nobody said what is passed on. Where there is an entry, its own is. */
  readonly isBare?: boolean;
}

/** Where an entry stands. */
export interface Slot {
  readonly file: string;
  /** The table of servers. */
  readonly key: string;
  /** Of the entry in it. */
  readonly name: string;
}

export const KEY_VARIABLE = "HOLDFAST_KEY";

/** What an entry of ours passes on to `holdfast mcp`. */
export function passedBy({ args }: Table): readonly string[] {
  const words = Array.isArray(args) ? (args as unknown[]).map(String) : [];
  return words.slice(words.indexOf("mcp") + 1 || words.length);
}

/** The entry as it is to be, where `found` is. Whoever sets up again and says nothing gets the same memory. */
export function entryTable(client: Client, entry: Entry, found: Table = {}): Table {
  if (!entry.isBare) return tableOf(client, entry, found);
  const { env } = found;
  const key = isTable(env) && typeof env[KEY_VARIABLE] === "string" ? { key: env[KEY_VARIABLE] } : {};
  return tableOf(client, { ...entry, args: [...entry.args, ...passedBy(found)], ...key }, found);
}

function tableOf({ isTyped }: Client, { command, args, key }: Entry, found: Table): Table {
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

/** Whether a file's text has a key in it. */
export const holdsKey = (text: string): boolean => text.includes(KEY_VARIABLE);

/** On Windows several clients start other programs through it. */
const SHELL = /(^|[\\/])cmd(\.exe)?$/i;
const NPX = /(^|[\\/])npx(\.cmd)?$/;
const COMMAND = /(^|[\\/])holdfast(\.cmd|\.ps1|\.exe)?$/;
/** As npx is told of it. */
const PACKAGE = /^holdfast(@[^\\/]*)?$/;
/** The file that the package's command is. Others have a `dist/cli/main.js` too. */
const PACKAGE_FILE = /(^|[\\/])holdfast[\\/]dist[\\/]cli[\\/]main\.js$/;

/** Whether the entry runs `holdfast mcp`: the command, the package through npx, or the file of the package. */
export function isOurs(found: unknown): boolean {
  if (!isTable(found)) return false;
  const words = [found["command"], ...(Array.isArray(found["args"]) ? (found["args"] as unknown[]) : [])].map(String);
  const [command = "", ...args] = SHELL.test(words[0] ?? "") ? words.slice(2) : words; // without cmd /c
  if (COMMAND.test(command)) return args.includes("mcp");
  const program = NPX.test(command) ? packageAt(args) : args.findIndex(isOurFile);
  return program >= 0 && args.includes("mcp", program + 1);
}

/** What npx runs is the first argument that is no flag of its own. */
function packageAt(args: readonly string[]): number {
  const first = args.findIndex((word) => !word.startsWith("-"));
  return PACKAGE.test(args[first] ?? "") ? first : -1;
}

const isOurFile = (word: string): boolean => word === MAIN_FILE || PACKAGE_FILE.test(word);
