/**
 * Opens connections to the file with the settings that durability depends on; each setting is asserted, not assumed.
 * Connections never wait for a lock inside SQLite: BUSY is retried from JavaScript.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { backOff } from "../../../back-off.js";
import { HoldfastError } from "../../../errors.js";
import { type Database, IN_MEMORY, isBusy, openDatabase, type Statement } from "./driver.js";
import { asStoreError } from "./failure.js";
import { otherFile } from "./lost-log.js";

export type ConnectionRole = "writer" | "reader" | "search" | "main";

/** Page cache in KiB. The writer caches the hot pages of the indexes, the others the pages that their searches read. */
const CACHE_KIB: { readonly [role in ConnectionRole]: number } = {
  writer: 16_384,
  reader: 8_192,
  search: 65_536,
  main: 16_384,
};

/** The log is truncated to this size when it restarts. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024;

const SYNCHRONOUS_FULL = 2;

/** `file` is the id that the file must have, if other connections of this process have opened it already. */
export function connect(path: string, role: ConnectionRole, file?: string): Database {
  const isReadOnly = role === "main" || role === "search";
  if (file !== undefined) requireFile(path, file);
  let database: Database | undefined;
  try {
    database = openDatabase(path, isReadOnly);
    if (!isReadOnly) database.exec("PRAGMA journal_mode = WAL");
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA secure_delete = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${LOG_BYTES_KEPT};
      PRAGMA cache_size = -${CACHE_KIB[role]};
    `);
    assertSafe(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw explained(error, path);
  }
}

/**
 * Inspects the file on a connection that cannot change it, not even by closing: the last writable connection to close
 * copies the log into the file. `look` throws if the file must not be opened.
 */
export function examine(path: string, look: (database: Database) => void): void {
  let database: Database | undefined;
  try {
    database = openDatabase(path, true);
    database.exec("SELECT count(*) FROM sqlite_schema"); // a failed prepared statement would keep the file open
    look(database);
    assertEncoding(database, path);
  } catch (error) {
    throw explained(error, path);
  } finally {
    database?.close();
  }
}

/**
 * Uses a connection that cannot write: a writable one would copy the log into the file even if it belongs to another
 * file.
 */
function requireFile(path: string, id: string): void {
  if (!existsSync(path)) throw otherFile(path); // SQLite would create a new file
  examine(path, (database) => {
    if (database.prepare("SELECT id FROM file").get()?.["id"] !== id) throw otherFile(path);
  });
}

/** BUSY passes through unchanged, because the caller retries it. */
const explained = (error: unknown, path: string): unknown => (isBusy(error) ? error : asStoreError(error, path));

function assertEncoding(database: Database, path: string): void {
  const encoding = pragma(database, "encoding");
  if (encoding !== "UTF-8") {
    throw new HoldfastError("store_unsafe", `${path} was created with the text encoding ${encoding}`, {
      hint: "choose another path: Holdfast makes its files itself, in UTF-8; nothing was changed",
    });
  }
}

function assertSafe(database: Database, path: string): void {
  assertEncoding(database, path);
  const journal = pragma(database, "journal_mode");
  if (journal !== "wal") {
    throw new HoldfastError("store_unsafe", `${path} cannot use a write-ahead log (journal mode is ${journal})`, {
      hint: "keep the file on a local disk that supports shared memory, and do not set its journal mode elsewhere",
    });
  }
  const synchronous = pragma(database, "synchronous");
  if (synchronous !== SYNCHRONOUS_FULL) {
    throw new HoldfastError("store_unsafe", `${path} would be written without full sync (synchronous=${synchronous})`, {
      hint: "use a SQLite build that honours PRAGMA synchronous=FULL",
    });
  }
}

/** The only connection to a database in memory. */
export function connectInMemory(): Database {
  const database = openDatabase(IN_MEMORY, false);
  database.exec("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY");
  return database;
}

/**
 * Runs `work` on one snapshot of the file. If it throws, the snapshot ends too. In memory, where all users share one
 * connection, a write transaction may already be open before its work has begun; the read then runs inside it.
 */
export function snapshot<T>(database: Database, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("BEGIN");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

export function pragma(database: Database, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

/** Bounds of the back-off between attempts to get a lock. */
const BUSY_MS = 1;
const BUSY_MAX_MS = 20;

/** Retries `work` with jittered back-off while another connection holds the lock, until the timeout. */
export async function retryBusy<T>(work: () => T, timeoutMs: number, onRetry?: () => void): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) {
        throw new HoldfastError("busy", `another process held the store for more than ${timeoutMs} ms`, {
          cause: error,
          hint: "try again; if it lasts, look for a process that keeps a transaction open on the file",
        });
      }
      onRetry?.();
      await sleep(backOff(attempt, BUSY_MS, BUSY_MAX_MS));
    }
  }
}

/** Like `retryBusy`, but converts errors to HoldfastErrors. */
export async function readBusy<T>(read: () => T, timeoutMs: number): Promise<T> {
  try {
    return await retryBusy(read, timeoutMs);
  } catch (error) {
    throw asStoreError(error);
  }
}

/** The most statements that are cached. */
const STATEMENTS_KEPT = 64;

/**
 * A cache of prepared statements whose text depends on the call: the number of spaces, the filters. Preparing them each
 * time took up to 0.8 ms per query.
 */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  get(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    if (this.#prepared.size >= STATEMENTS_KEPT) this.#prepared.clear();
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
