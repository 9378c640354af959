/**
 * The SQLite driver behind the `node:sqlite` API: the built-in module where Node has it (22.13 and later), else the
 * package of the same API that carries its own binaries. Nothing else in the project names a driver.
 */
import { createRequire } from "node:module";
import { HoldfastError } from "../../errors.js";

export type Value = null | number | string | Uint8Array;
export type Row = { readonly [column: string]: Value };

/** What is used of the API, no more, so that any driver of that API fits. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
  readonly isTransaction: boolean;
}

interface Driver {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly readOnly: boolean; readonly timeout: number },
  ) => Database;
}

let driver: Driver | undefined;

export function openDatabase(path: string, readOnly: boolean): Database {
  driver ??= loadDriver();
  return new driver.DatabaseSync(path, { readOnly, timeout: LOCK_WAIT_MS });
}

/** No connection waits inside SQLite for longer: a waiting driver blocks its thread. Longer waits happen in JavaScript. */
export const LOCK_WAIT_MS = 5;

function loadDriver(): Driver {
  const builtIn = process.getBuiltinModule("node:sqlite" as never) as Driver | undefined;
  if (builtIn) return builtIn;
  try {
    return createRequire(import.meta.url)("@photostructure/sqlite") as Driver;
  } catch (cause) {
    throw new HoldfastError("store_failed", "no SQLite driver could be loaded", {
      cause,
      hint: "use Node 22.13 or newer, which has SQLite built in, or reinstall with optional binaries for this platform",
    });
  }
}

/** SQLite's primary result codes that are told apart here. */
const BUSY = 5;
const LOCKED = 6;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
const CORRUPT = 11;

function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(resultCode(error) ?? -1);
/** A value would be longer than SQLite makes any. */
export const isTooBig = (error: unknown): boolean => resultCode(error) === TOO_BIG;
/** The statement was refused for its values; the transaction can go on without it. */
export const isRefusal = (error: unknown): boolean => [TOO_BIG, CONSTRAINT].includes(resultCode(error) ?? -1);
export const isNotOurs = (error: unknown): boolean => [NOT_A_DATABASE, CORRUPT].includes(resultCode(error) ?? -1);
