/**
 * A buffer's file and the one connection to it, on the caller's thread: reads, write transactions, and errors in the
 * library's words.
 *
 * Invariants: a write has been synced when `write` returns (write-ahead log, synchronous=FULL, both asserted), or nothing
 * of it is there. No call waits for other connections for longer than `busyTimeoutMs`.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../errors.js";
import { connect } from "../stores/sqlite/connection.js";
import { type Database, isBusy, type Statement } from "../stores/sqlite/driver.js";
import { secureFile } from "../stores/sqlite/file.js";
import { closedError } from "./arguments.js";
import { makeTables, refuseForeignFile, refuseNewer } from "./buffer-format.js";
import { waitForLock } from "./lock-wait.js";

/** Pages in the log at which SQLite copies it into the file: 4 MB, a few milliseconds of some push. */
const CHECKPOINT_PAGES = 1_000;
const CACHE_KIB = 2_048;

export class BufferFile {
  readonly path: string;
  readonly #busyTimeoutMs: number;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #version: Statement;
  #database: Database | undefined;

  constructor(path: string, busyTimeoutMs: number) {
    this.path = resolve(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    const opened = this.#told(() => waitForLock(() => open(this.path), busyTimeoutMs));
    this.#database = opened;
    [this.#begin, this.#commit, this.#version] = this.read(() => [
      opened.prepare("BEGIN IMMEDIATE"),
      opened.prepare("COMMIT"),
      opened.prepare("PRAGMA user_version"),
    ]);
  }

  /** Requires that `work` only reads: it may run several times. */
  read<T>(work: (database: Database) => T): T {
    const database = this.#open();
    return this.#told(() => waitForLock(() => work(database), this.#busyTimeoutMs));
  }

  /** All of `work` or nothing. Refuses a file that another process has meanwhile taken to a newer version. */
  write<T>(work: () => T): T {
    const database = this.#open();
    return this.#told(() => {
      waitForLock(() => this.#begin.run(), this.#busyTimeoutMs);
      try {
        refuseNewer(Number(this.#version.get()?.["user_version"]), this.path);
        const result = work();
        this.#end();
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  close(): void {
    const database = this.#database;
    if (!database) return;
    this.#database = undefined;
    try {
      // What was removed leaves the log as well, unless others still read there; the last of them finds it.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (!isBusy(error)) throw this.#failure(error);
    } finally {
      database.close();
    }
  }

  #end(): void {
    try {
      this.#commit.run();
    } catch (cause) {
      throw new HoldfastError("outcome_unknown", `${this.path}: the commit failed: ${(cause as Error).message}`, {
        cause,
        hint: "check the disk; then look with getAll() or hasInjectedId() whether it was written",
      });
    }
  }

  assertOpen(): void {
    this.#open();
  }

  #open(): Database {
    if (!this.#database) throw closedError();
    return this.#database;
  }

  #told<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): HoldfastError {
    if (error instanceof HoldfastError) return error;
    return new HoldfastError("store_failed", `${this.path}: ${(error as Error).message}`, {
      cause: error,
      hint: "nothing of this call was written; check the disk and the file, then repeat it",
    });
  }
}

function open(path: string): Database {
  secureFile(path);
  if (statSync(path).size > 0) refuseForeignFile(path);
  const database = connect(path, "writer");
  try {
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}`);
    makeTables(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
