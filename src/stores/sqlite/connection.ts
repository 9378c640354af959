/** A connection to the file, with the settings that the promises rest on, each asserted rather than assumed. */
import { HoldfastError } from "../../errors.js";
import { type Database, isNotOurs, openDatabase } from "./driver.js";

export type ConnectionRole = "writer" | "reader" | "vectors" | "peek";

/** Page cache in KiB: the writer keeps the hot pages of the indexes, the others those of their searches. */
const CACHE_KIB: { readonly [role in ConnectionRole]: number } = {
  writer: 16_384,
  reader: 65_536,
  vectors: 8_192,
  peek: 16_384,
};

/** The log is cut back to this size when it restarts. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024;

const SYNCHRONOUS_FULL = 2;

export function connect(path: string, role: ConnectionRole): Database {
  const isReadOnly = role === "peek" || role === "vectors";
  const database = openDatabase(path, isReadOnly);
  try {
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
  } catch (error) {
    database.close();
    throw explained(error, path);
  }
  return database;
}

/**
 * Looks at the file on a connection that can change nothing of it, not even by closing: the last one that closes and may
 * write copies the log into the file. `look` throws if the file is not to be opened.
 */
export function examine(path: string, look: (database: Database) => void): void {
  const database = openDatabase(path, true);
  try {
    database.exec("SELECT count(*) FROM sqlite_schema"); // a prepared statement that is refused would keep the file open
    look(database);
    assertEncoding(database, path);
  } catch (error) {
    throw explained(error, path);
  } finally {
    database.close();
  }
}

function explained(error: unknown, path: string): unknown {
  if (!isNotOurs(error)) return error;
  return new HoldfastError("store_failed", `${path} is damaged or is not a database`, {
    cause: error,
    hint: "restore the file from a backup, or choose another path; nothing was changed",
  });
}

function assertEncoding(database: Database, path: string): void {
  const encoding = pragma(database, "encoding");
  if (encoding !== "UTF-8") {
    throw new HoldfastError("store_unsafe", `${path} was made to hold its text as ${encoding}`, {
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

export function pragma(database: Database, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
