/**
 * Entry: what a client's file says of one server. Of an entry of ours, `type`, `command`, `args` and the key in `env` are
 * ours; whatever else a person has written beside them stays.
 */
import type { Client } from "./client.js";

/** A table as the formats read it. */
export type Table = { readonly [key: string]: unknown };

export interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  /** The key of a server: it is kept out of the arguments, which others on the machine can see. */
  readonly key?: string;
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

/** The entry as it is to be, where `found` is. */
export function entryTable({ isTyped }: Client, { command, args, key }: Entry, found: Table = {}): Table {
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

/** `holdfast`, `holdfast@1.2`, `…/bin/holdfast`, `holdfast.cmd`, or the file that the package's command is. */
const PROGRAM = /(^|[\\/])(holdfast(@[^\\/]*)?(\.cmd|\.ps1|\.exe)?|dist[\\/]cli[\\/]main\.js)$/;

/** Whether the entry runs `holdfast mcp`, in whatever way. */
export function isOurs(found: unknown): boolean {
  if (!isTable(found)) return false;
  const { command, args } = found;
  const words = [command, ...(Array.isArray(args) ? (args as readonly unknown[]) : [])].map(String);
  const program = words.findIndex((word) => PROGRAM.test(word));
  return program >= 0 && words.indexOf("mcp", program + 1) > 0;
}
