/** Looking at a file without changing it: read-only, and refused if it is none of ours. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../errors.js";
import { pragma } from "../stores/sqlite/connection.js";
import { type Database, isNotOurs, openDatabase, type Row, type Value } from "../stores/sqlite/driver.js";
import { APPLICATION_ID, newerFile, SCHEMA_VERSION } from "../stores/sqlite/schema.js";

/** The file behind a path. Its log stands beside the file itself, wherever a link to it may stand. */
export const fileAt = (path: string): string => (existsSync(path) ? realpathSync(path) : resolve(path));

/** Requires a file that exists. */
export function requireOurs(database: Database, path: string): void {
  try {
    const application = pragma(database, "application_id");
    const version = Number(pragma(database, "user_version"));
    if (application !== APPLICATION_ID) {
      throw new HoldfastError("store_failed", `${path} is no file of Holdfast`, {
        hint: "name the file of a memory, or a backup of one; nothing was changed",
      });
    }
    if (version > SCHEMA_VERSION) throw newerFile(path, version);
  } catch (error) {
    throw isNotOurs(error) ? damaged(path, error) : error;
  }
}

export function requireFile(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return;
  throw new HoldfastError("not_found", stat ? `${path} is not a file` : `${path} does not exist`, {
    hint: "name the file of a memory",
  });
}

export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new HoldfastError("store_failed", `the folder ${folder} does not exist`, {
    hint: `create it first: mkdir -p ${folder}`,
  });
}

export const damaged = (path: string, cause?: unknown): HoldfastError =>
  new HoldfastError("store_failed", `${path} is damaged or is not a database`, {
    cause,
    hint: "restore it from a backup; nothing was changed",
  });

/** The only row of a question. */
export const row = (database: Database, sql: string, ...values: readonly Value[]): Row =>
  database.prepare(sql).get(...values) ?? {};

/** The only number of a question. */
export const number = (database: Database, sql: string, ...values: readonly Value[]): number =>
  Number(Object.values(row(database, sql, ...values))[0] ?? 0);

/**
 * A read-only connection makes an empty log where there was none, and cannot remove it. If `work` has done so, a
 * connection that may write is opened and closed again: the last one that closes an empty log removes it.
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
    // It may not be written, or somebody holds it: then the empty log stays, which does no harm.
  }
}
