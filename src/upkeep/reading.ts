/** Read-only access to a file. Refuses files that are not Holdfast's. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { HoldfastError } from "../errors.js";
import { pragma } from "../stores/sqlite/file/connection.js";
import { type Database, isDamaged, openDatabase, type Row, type Value } from "../stores/sqlite/file/driver.js";
import { asStoreError } from "../stores/sqlite/file/failure.js";
import { absolutePath, refuseOdd } from "../stores/sqlite/file/file.js";
import { APPLICATION_ID, newerFile, SCHEMA_VERSION } from "../stores/sqlite/file/schema.js";

/** The real path. The log is beside the file itself, not beside a link to it. */
export const fileAt = (path: string): string => {
  const whole = absolutePath(path);
  return existsSync(whole) ? realpathSync(whole) : whole;
};

/** Requires an existing file. */
export function requireOurs(database: Database, path: string): void {
  try {
    const application = pragma(database, "application_id");
    const version = Number(pragma(database, "user_version"));
    if (application !== APPLICATION_ID) {
      throw new HoldfastError("store_failed", `${path} is not a Holdfast file`, {
        hint: "pass the path of a memory or of a backup; nothing was changed",
      });
    }
    if (version > SCHEMA_VERSION) throw newerFile(path, version);
  } catch (error) {
    throw isDamaged(error) ? asStoreError(error, path) : error;
  }
}

export function requireFile(path: string): void {
  refuseOdd(path);
  if (existsSync(path)) return;
  throw new HoldfastError("not_found", `${path} does not exist`, { hint: "check the path" });
}

export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new HoldfastError("store_failed", `the folder ${folder} does not exist`, {
    hint: `create it first: mkdir -p ${folder}`,
  });
}

/** The first row of a query. */
export const row = (database: Database, sql: string, ...values: readonly Value[]): Row =>
  database.prepare(sql).get(...values) ?? {};

/** The first value of a query, as a number. */
export const number = (database: Database, sql: string, ...values: readonly Value[]): number =>
  Number(Object.values(row(database, sql, ...values))[0] ?? 0);

/**
 * A read-only connection creates an empty log if there is none, and cannot remove it. If `work` has done so, this opens and
 * closes a writable connection: the last connection to close an empty log removes it.
 */
export async function leavingNoLog<T>(path: string, work: () => Promise<T>): Promise<T> {
  const hadLog = existsSync(`${path}-wal`);
  try {
    return await work();
  } finally {
    if (!hadLog && existsSync(`${path}-wal`)) sweep(path);
  }
}

function sweep(path: string): void {
  try {
    const database = openDatabase(path, false);
    try {
      database.exec("SELECT 1 FROM sqlite_schema LIMIT 1");
    } finally {
      database.close();
    }
  } catch {
    // The file is not writable or is locked; an empty log does no harm.
  }
}
