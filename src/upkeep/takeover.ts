/**
 * Gives a finished file its final name, atomically.
 *
 * A database file must not be replaced while a process has it open: SQLite finds the log by the file's name and would mix it
 * with the new file's. So the old file is locked exclusively first. Every connection in WAL mode holds a shared lock while it
 * is open, and leaving WAL mode needs an exclusive one. A process that opens the old file at that very moment finds it
 * without a log and cannot write: SQLite refuses to start a journal for a file that no longer has its name.
 */
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import { syncFolder } from "../folder.js";
import { pragma, retryBusy } from "../stores/sqlite/file/connection.js";
import { type Database, isDamaged, openDatabase } from "../stores/sqlite/file/driver.js";
import { refuseOdd, SIDE_FILES } from "../stores/sqlite/file/file.js";
import { APPLICATION_ID } from "../stores/sqlite/file/schema.js";

/** How long to wait for a process that has the file open only briefly. */
const OPEN_WAIT_MS = 500;

/** Renames a finished file to its target. */
export async function placeFile(part: string, target: string, overwrite: boolean): Promise<void> {
  if (overwrite && existsSync(target)) await replace(target, part);
  else await giveName(part, target);
  await syncFolder(dirname(target)); // otherwise a power cut could undo the rename
}

export function refuseExisting(target: string): void {
  if (existsSync(target)) throw taken(target);
}

async function giveName(part: string, target: string): Promise<void> {
  refuseExisting(target);
  await removeSideFiles(target); // a leftover log would be taken for the new file's
  try {
    linkSync(part, target); // unlike rename, link never replaces a file
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw taken(target);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw cause;
    renameSync(part, target); // the file system has no hard links
    return;
  }
  rmSync(part);
}

async function replace(target: string, part: string): Promise<void> {
  refuseOdd(target);
  const database = openDatabase(target, false);
  try {
    await lockOut(database, target);
    await removeSideFiles(target);
    // Windows cannot rename over a file that is open; there the rename itself fails if another process has it open.
    if (process.platform === "win32") database.close();
    renameSync(part, target);
  } finally {
    if (process.platform !== "win32") database.close();
  }
}

/** Ensures that no other process has the file open, or can open it until the connection is closed. */
async function lockOut(database: Database, path: string): Promise<void> {
  try {
    await retryBusy(() => {
      // DELETE empties and removes the log; MEMORY then avoids touching any journal file.
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = MEMORY");
      database.exec("BEGIN EXCLUSIVE");
    }, OPEN_WAIT_MS);
  } catch (cause) {
    if (cause instanceof HoldfastError && cause.code === "busy") {
      throw new HoldfastError("busy", `${path} is open in another process`, {
        cause,
        hint: "stop the process that uses it, then try again; nothing was changed",
      });
    }
    if (isDamaged(cause)) throw foreign(path, cause);
    throw cause;
  }
  if (pragma(database, "journal_mode") !== "memory") throw foreign(path);
  const [application, tables] = [pragma(database, "application_id"), pragma(database, "schema_version")];
  if (application !== APPLICATION_ID && tables !== 0) throw foreign(path);
}

/** Syncs the removal before another file gets the name: a power cut must not leave the old log beside the new file. */
async function removeSideFiles(target: string): Promise<void> {
  const files = SIDE_FILES.map((ending) => `${target}${ending}`).filter((path) => existsSync(path));
  for (const path of files) rmSync(path, { force: true });
  if (files.length > 0) await syncFolder(dirname(target));
}

const taken = (path: string): HoldfastError =>
  new HoldfastError("conflict", `${path} already exists`, {
    hint: "choose another name or allow overwriting (--overwrite); nothing was changed",
  });

const foreign = (path: string, cause?: unknown): HoldfastError =>
  new HoldfastError("conflict", `${path} is damaged or not a Holdfast file, and was not replaced`, {
    cause,
    hint: `make sure that no process uses it, then move it away, together with ${path}-wal and ${path}-shm if they exist`,
  });
