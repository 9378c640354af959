/**
 * The SQLite driver behind the `node:sqlite` API: the built-in module where Node has all of it (22.16 and later), else
 * a driver with the same API that ships with this package, with binaries for the common platforms. Elsewhere
 * it can be installed as `@photostructure/sqlite`. No other file in the project names a driver.
 */
import { existsSync } from "node:fs";
import { HoldfastError } from "../../../errors.js";
import { requirePart } from "../../../package-files.js";

export type Value = null | number | string | Uint8Array;
export type Row = { readonly [column: string]: Value };

/** The subset of the API in use, so that any driver with that API fits. */
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
    options: { readonly readOnly: boolean; readonly timeout: number; readonly defensive?: boolean },
  ) => Database;
}

/** The path of a database in memory. */
export const IN_MEMORY = ":memory:";

let driver: Driver | undefined;

/** Opens a connection that reads as much as possible of an incomplete file. */
export function openPartial(path: string): Database {
  driver ??= loadDriver();
  const database = new driver.DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS, defensive: false });
  database.exec("PRAGMA writable_schema = ON"); // makes SQLite skip missing tables and pages
  return database;
}

export function openDatabase(path: string, readOnly: boolean): Database {
  driver ??= loadDriver();
  if (readOnly && existsSync(`${path}-journal`)) rollBack(driver, path);
  return new driver.DatabaseSync(path, { readOnly, timeout: LOCK_WAIT_MS });
}

/**
 * Rolls back a transaction that a crash interrupted. A read-only connection cannot do this and would fail forever. Our
 * files have a rollback journal only for a moment during creation, before they have a write-ahead log. A journal in use
 * is left alone. Errors are ignored here, because the read-only connection runs into the same cause.
 */
function rollBack({ DatabaseSync }: Driver, path: string): void {
  try {
    const database = new DatabaseSync(path, { readOnly: false, timeout: LOCK_WAIT_MS });
    try {
      database.exec("SELECT count(*) FROM sqlite_schema");
    } finally {
      database.close();
    }
  } catch {
    return;
  }
}

/**
 * The longest wait for a lock inside SQLite. A waiting driver blocks its thread, so longer waits happen in JavaScript.
 */
export const LOCK_WAIT_MS = 5;

function loadDriver(): Driver {
  const builtIn = withoutSqliteWarning(() => process.getBuiltinModule("node:sqlite" as never) as Driver | undefined);
  if (builtIn && isComplete(builtIn)) return builtIn;
  try {
    return requirePart("sqlite/dist/index.cjs", "@photostructure/sqlite");
  } catch (cause) {
    throw new HoldfastError("store_failed", "no SQLite driver could be loaded", {
      cause,
      hint: "use Node 22.16 or newer, which has SQLite built in, or run: npm install @photostructure/sqlite",
    });
  }
}

/**
 * Node 22 warns that its SQLite is experimental when the module is loaded, in each thread. What this project uses of it
 * is tested on that version. All other warnings pass. Loading is synchronous, so no other code warns meanwhile.
 */
function withoutSqliteWarning<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (...warning: readonly unknown[]): void => {
    if (warning[1] === "ExperimentalWarning" && String(warning[0]).startsWith("SQLite ")) return;
    Reflect.apply(emitWarning, process, warning);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The first versions lack `isTransaction`, timeouts and URI paths ("file:…?immutable=1"). */
function isComplete({ DatabaseSync }: Driver): boolean {
  const database = new DatabaseSync(":memory:", { readOnly: false, timeout: 0 });
  try {
    return "isTransaction" in database;
  } finally {
    database.close();
  }
}

/** The primary SQLite result codes that this file distinguishes. */
const ERROR = 1;
const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const TOOBIG = 18;
const CONSTRAINT = 19;
const NOTADB = 26;

/** The ways in which a driver call fails. */
export type Failure =
  | "damaged"
  | "io"
  | "full"
  | "read_only"
  | "cannot_open"
  | "no_memory"
  | "too_big"
  | "busy"
  | "other";

const FAILURES: { readonly [code: number]: Failure } = {
  [CORRUPT]: "damaged",
  [NOTADB]: "damaged",
  [CONSTRAINT]: "damaged", // our statements violate no constraint of intact tables
  [IOERR]: "io",
  [FULL]: "full",
  [READONLY]: "read_only",
  [PERM]: "read_only",
  [CANTOPEN]: "cannot_open",
  [NOMEM]: "no_memory",
  [TOOBIG]: "too_big",
  [BUSY]: "busy",
  [LOCKED]: "busy",
};

/** SQLite reports every invalid statement with the same code. All our statements are valid for intact tables. */
const TABLES_LOST = /vtable constructor failed|no such|malformed|has no column|no query solution/;

/** SQLite's message for each code. The package throws some errors (those of `all`) without a code. */
const TEXTS: readonly (readonly [text: RegExp, code: number])[] = [
  [/^database (table )?is locked/, BUSY],
  [/^out of memory/, NOMEM],
  [/^attempt to write a readonly database/, READONLY],
  [/^disk I\/O error/, IOERR],
  [/^database disk image is malformed/, CORRUPT],
  [/^database or disk is full/, FULL],
  [/^unable to open database file/, CANTOPEN],
  [/^string or blob too big/, TOOBIG],
  [/constraint failed/, CONSTRAINT],
  [/^file is not a database/, NOTADB],
];

export function failureOf(error: unknown): Failure {
  const code = resultCode(error);
  if (code === ERROR && TABLES_LOST.test((error as Error).message)) return "damaged";
  return (code !== undefined && FAILURES[code]) || "other";
}

/** Undefined if the driver did not throw the error. */
export function resultCode(error: unknown): number | undefined {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  if (code !== "ERR_SQLITE_ERROR" || typeof message !== "string") return undefined;
  return TEXTS.find(([text]) => text.test(message))?.[1] ?? ERROR;
}

export const isSqliteError = (error: unknown): boolean => resultCode(error) !== undefined;
export const isBusy = (error: unknown): boolean => failureOf(error) === "busy";
/** Whether a value exceeds SQLite's maximum length. */
export const isTooBig = (error: unknown): boolean => failureOf(error) === "too_big";
/** Whether SQLite rejected the statement because of its values. The transaction can continue without it. */
export const isRefusal = (error: unknown): boolean => [TOOBIG, CONSTRAINT].includes(resultCode(error) ?? -1);
export const isDamaged = (error: unknown): boolean => failureOf(error) === "damaged";
