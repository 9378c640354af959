/**
 * Putting a finished file under its name, whole or not at all.
 *
 * A database file must not be replaced while anyone has it open: its log is found by the file's name, and would be
 * mixed with the log of the new one. So the old file is first locked against everyone. Every connection to a file with
 * a write-ahead log holds a shared lock for as long as it is open; to leave that mode needs the only lock there is.
 * Whoever opened the old file in that very moment finds it without a log, and cannot write: SQLite refuses to start a
 * journal for a file that is no longer under its name.
 */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import { retryBusy } from "../stores/sqlite/busy.js";
import { pragma } from "../stores/sqlite/connection.js";
import { type Database, isNotOurs, openDatabase } from "../stores/sqlite/driver.js";
import { APPLICATION_ID } from "../stores/sqlite/schema.js";

/** Somebody who only looks in is waited for. */
const OPEN_WAIT_MS = 500;
const SIDE_FILES = ["-wal", "-shm", "-journal"];

/** Gives a finished file its name. `part` is gone afterwards. */
export async function placeFile(part: string, target: string, overwrite: boolean): Promise<void> {
  if (overwrite && existsSync(target)) await replace(target, part);
  else giveName(part, target);
  syncFolder(dirname(target));
}

export function refuseExisting(target: string): void {
  if (existsSync(target)) throw taken(target);
}

function giveName(part: string, target: string): void {
  refuseExisting(target);
  removeSideFiles(target); // a log that was left alone would be taken for the new file's
  try {
    linkSync(part, target); // unlike a rename it never replaces anything
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw taken(target);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw cause;
    renameSync(part, target); // a file system without links
    return;
  }
  rmSync(part);
}

async function replace(target: string, part: string): Promise<void> {
  const database = openDatabase(target, false);
  try {
    await lockOut(database, target);
    removeSideFiles(target);
    // Windows renames nothing over an open file; there the rename itself fails if somebody has it open.
    if (process.platform === "win32") database.close();
    renameSync(part, target);
  } finally {
    if (process.platform !== "win32") database.close();
  }
}

/** Nobody else has the file open, and nobody can read or write it until the connection is closed. */
async function lockOut(database: Database, path: string): Promise<void> {
  try {
    await retryBusy(() => {
      // By way of DELETE, which empties and removes the log; then MEMORY, so that no journal's name is touched any more.
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = MEMORY");
      database.exec("BEGIN EXCLUSIVE");
    }, OPEN_WAIT_MS);
  } catch (cause) {
    if (cause instanceof HoldfastError && cause.code === "busy") {
      throw new HoldfastError("busy", `${path} is open in another process`, {
        cause,
        hint: "stop what uses it (a server, an agent), then try again; nothing was changed",
      });
    }
    if (isNotOurs(cause)) throw foreign(path, cause);
    throw cause;
  }
  if (pragma(database, "journal_mode") !== "memory") throw foreign(path);
  const [application, tables] = [pragma(database, "application_id"), pragma(database, "schema_version")];
  if (application !== APPLICATION_ID && tables !== 0) throw foreign(path);
}

function removeSideFiles(target: string): void {
  for (const ending of SIDE_FILES) rmSync(`${target}${ending}`, { force: true });
}

/** Else a power failure could take the new name back. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return; // folders cannot be opened there
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const taken = (path: string): HoldfastError =>
  new HoldfastError("conflict", `${path} exists already`, {
    hint: "choose another name, or ask to overwrite it; nothing was changed",
  });

const foreign = (path: string, cause?: unknown): HoldfastError =>
  new HoldfastError("conflict", `${path} is damaged or is no file of Holdfast, and is not replaced`, {
    cause,
    hint: `make sure that no process uses it, then move it away yourself, with ${path}-wal and ${path}-shm if they exist`,
  });
