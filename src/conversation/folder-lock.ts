/**
 * A folder's lock: one holder at a time among all processes, and freed by the operating system when its process dies,
 * however it dies.
 *
 * It is an exclusive transaction on an empty SQLite file. Nothing is ever written to it: the file stays empty, no
 * journal appears, and a killed holder leaves nothing to tidy up. The file must be opened by nothing else in this
 * process, since closing a descriptor of a file drops the locks that the process has on it.
 */
import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../errors.js";
import { retryBusy } from "../stores/sqlite/busy.js";
import { type Database, isNotOurs, openDatabase } from "../stores/sqlite/driver.js";
import { inLine } from "./waiting-line.js";

const LOCK_FILE = ".lock";

/**
 * Does the work while holding the lock of a folder that exists. Those of this process take turns among themselves first,
 * so that they do not make each other wait inside SQLite. All of the wait counts.
 */
export function locked<T>(folder: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const path = join(folder, LOCK_FILE);
  const deadline = performance.now() + timeoutMs;
  return inLine(path, async () => {
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
    if (isNotOurs(error)) throw strange(path, error);
    throw error;
  }
}

function open(path: string): Database {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isFile()) {
    throw new HoldfastError("store_unsafe", `${path} is not a plain file`, {
      hint: "remove it, or find out who has put it there",
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
    hint: "nothing was done; try again. If it lasts, look for a process that was stopped while it saved",
    details: { path },
  });
}

function strange(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("store_failed", `${path} is not a lock of ours`, {
    cause,
    hint: "another program has written to it; if none of its kind is running, remove the file",
    details: { path },
  });
}
