/**
 * A lock on a folder with one holder among all processes. The operating system releases it when its process dies, however
 * it dies.
 *
 * It is an exclusive transaction on an empty SQLite file. Nothing is ever written: the file stays empty, no journal appears,
 * and a killed holder leaves nothing to clean up. Nothing else in this process may open the file, because closing any
 * descriptor of a file drops the process's locks on it.
 */
import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../errors.js";
import { retryBusy } from "../../stores/sqlite/file/connection.js";
import { type Database, isDamaged, openDatabase } from "../../stores/sqlite/file/driver.js";
import { fileMutex } from "./file-mutex.js";

const LOCK_FILE = ".lock";

/**
 * Runs `work` while holding the lock of an existing folder. Callers in this process queue up first, so that they do not make
 * each other wait inside SQLite. The timeout covers the whole wait.
 */
export function locked<T>(folder: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const path = join(folder, LOCK_FILE);
  const deadline = performance.now() + timeoutMs;
  return fileMutex.run(path, async () => {
    const lock = await acquire(path, timeoutMs, deadline);
    try {
      return await work();
    } finally {
      lock.close();
    }
  });
}

async function acquire(path: string, timeoutMs: number, deadline: number): Promise<Database> {
  try {
    return await retryBusy(() => open(path), Math.max(deadline - performance.now(), 0));
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "busy") throw held(path, timeoutMs, error);
    if (isDamaged(error)) throw strange(path, error);
    throw error;
  }
}

function open(path: string): Database {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isFile()) {
    throw new HoldfastError("store_unsafe", `${path} is not a plain file`, {
      hint: "remove it, or find out what created it",
      details: { path },
    });
  }
  const database = openDatabase(path, false);
  try {
    database.exec("BEGIN EXCLUSIVE");
    if (!stat) chmodSync(path, 0o600);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function held(path: string, timeoutMs: number, cause: unknown): HoldfastError {
  return new HoldfastError("busy", `${path} was held for more than ${timeoutMs} ms`, {
    cause,
    hint: "nothing was done; try again. If this persists, look for a process that was suspended while saving",
    details: { path },
  });
}

function strange(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("store_failed", `${path} is not a Holdfast lock`, {
    cause,
    hint: "another program has written to it; if none is running, remove the file",
    details: { path },
  });
}
