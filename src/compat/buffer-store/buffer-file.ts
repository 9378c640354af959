/**
 * A buffer's file and its single connection, on the caller's thread: reads, write transactions, and error conversion.
 *
 * Invariants: when `write` returns, the write is synced (write-ahead log, synchronous=FULL, both asserted), and the file still
 * has its name; otherwise nothing was written. No call waits for other connections longer than `busyTimeoutMs`.
 */
import { statSync } from "node:fs";
import { HoldfastError } from "../../errors.js";
import { connect } from "../../stores/sqlite/file/connection.js";
import { type Database, isBusy, openDatabase, type Statement } from "../../stores/sqlite/file/driver.js";
import { asStoreError } from "../../stores/sqlite/file/failure.js";
import { absolutePath, secureFile } from "../../stores/sqlite/file/file.js";
import { refuseMissingLog } from "../../stores/sqlite/file/lost-log.js";
import { OpenFile } from "../../stores/sqlite/file/open-file.js";
import { closedError } from "./arguments.js";
import { makeTables, refuseForeignFile, refuseNewer } from "./buffer-format.js";
import { waitForLock } from "./lock-wait.js";

/** Log size in pages at which SQLite checkpoints: 4 MB, a few milliseconds of some push. */
const CHECKPOINT_PAGES = 1_000;
const CACHE_KIB = 2_048;

export class BufferFile {
  readonly path: string;
  readonly #busyTimeoutMs: number;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #version: Statement;
  #open: { readonly database: Database; readonly file: OpenFile; readonly keeper: Database } | undefined;

  constructor(path: string, busyTimeoutMs: number) {
    this.path = absolutePath(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#open = this.#explained(() => {
      secureFile(this.path);
      refuseMissingLog(this.path);
      return waitForLock(() => open(this.path), busyTimeoutMs);
    });
    unclosed.add(this);
    const opened = this.#open.database;
    [this.#begin, this.#commit, this.#version] = this.read(() => [
      opened.prepare("BEGIN IMMEDIATE"),
      opened.prepare("COMMIT"),
      opened.prepare("PRAGMA user_version"),
    ]);
  }

  /** Requires that `work` only reads: it may run several times. */
  read<T>(work: (database: Database) => T): T {
    const { database } = this.#opened();
    return this.#explained(() => waitForLock(() => work(database), this.#busyTimeoutMs));
  }

  /** Runs all of `work` or nothing. Refuses a file that another process has upgraded to a newer version. */
  write<T>(work: () => T): T {
    const { database, file } = this.#opened();
    return this.#explained(() => {
      waitForLock(() => this.#begin.run(), this.#busyTimeoutMs);
      try {
        refuseNewer(Number(this.#version.get()?.["user_version"]), this.path);
        const result = work();
        file.assertInPlace();
        this.#end();
        file.confirm();
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        file.assertInPlace(); // if it is not, that is the real cause
        throw error;
      }
    });
  }

  /** Throws if the file was lost while it was open. */
  close(): void {
    if (!this.#open) return;
    const { database, file, keeper } = this.#open;
    this.#open = undefined;
    unclosed.delete(this);
    try {
      file.settle();
      // Removed entries leave the log as well, unless others still read from it; then the last of them truncates it.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      keeper.close();
    } catch (error) {
      if (isBusy(error)) keeper.close();
      else {
        abandoned.push(keeper);
        throw asStoreError(error, this.path);
      }
    } finally {
      file.close();
      database.close();
    }
  }

  #end(): void {
    try {
      this.#commit.run();
    } catch (cause) {
      throw new HoldfastError("outcome_unknown", `${this.path}: the commit failed: ${(cause as Error).message}`, {
        cause,
        hint: "check the disk, then check with getAll() or hasInjectedId() whether it was written",
      });
    }
  }

  assertOpen(): void {
    this.#opened();
  }

  #opened() {
    if (!this.#open) throw closedError();
    return this.#open;
  }

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, this.path);
    }
  }
}

/**
 * Connections that are never closed. The last connection to close checkpoints the log, which must not happen when another file
 * has taken the name; a read-only connection never does.
 */
const abandoned: Database[] = [];

/** Closed at process exit: drivers close connections in any order, so the last one might be writable. */
const unclosed = new Set<BufferFile>();

process.on("exit", () => {
  for (const file of unclosed) {
    try {
      file.close();
    } catch {
      // No one is left to report to.
    }
  }
});

function open(path: string) {
  if (statSync(path).size > 0) refuseForeignFile(path);
  const keeper = openDatabase(path, true);
  let database: Database | undefined;
  try {
    database = connect(path, "writer");
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}`);
    makeTables(database, path);
    keeper.exec("SELECT 1 FROM sqlite_schema"); // opens the file
    return { database, file: new OpenFile(path, database), keeper };
  } catch (error) {
    keeper.close();
    database?.close();
    throw error;
  }
}
