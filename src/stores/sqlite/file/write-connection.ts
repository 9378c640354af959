/**
 * The connection that writes to the file: transactions, checkpoints, and the guarantee that both reach the right file.
 *
 * Invariant: no commit and no checkpoint writes to a file that is known to be displaced, and no commit is reported
 * before a check after it has found the file in place.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { backOff } from "../../../back-off.js";
import { HoldfastError } from "../../../errors.js";
import { connect, examine, retryBusy } from "./connection.js";
import type { Database, Statement } from "./driver.js";
import { secureFile } from "./file.js";
import { otherFile, refuseForeignLog, refuseMissingLog } from "./lost-log.js";
import { OpenFile } from "./open-file.js";
import { migrate, refuseForeign } from "./schema.js";

export interface WriteConnectionOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** The id of the file, if it was open before. Then no other file is opened, and none is created. */
  readonly file?: string;
  /** Opens a file without the log that its mark requires. The contents of that log are given up. */
  readonly withoutLog?: boolean;
}

/** The checks of the file around each commit. */
type WatchedFile = Pick<OpenFile, keyof OpenFile>;

/** A database in memory cannot be removed or replaced. */
const NO_FILE: WatchedFile = {
  id: "",
  assertInPlace() {},
  confirm() {},
  checkpointed() {},
  vacuumed() {},
  settle() {},
  close() {},
};

export class WriteConnection {
  readonly database: Database;
  readonly #file: WatchedFile;
  readonly #busyTimeoutMs: number;
  readonly #begin: Statement;
  readonly #commit: Statement;
  #busyRetries = 0;
  #busyMs = 0;

  private constructor(database: Database, file: WatchedFile, busyTimeoutMs: number) {
    this.database = database;
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
  }

  static async open(options: WriteConnectionOptions): Promise<WriteConnection> {
    const { path, busyTimeoutMs, file, withoutLog = false } = options;
    if (file === undefined) secureFile(path);
    else if (!existsSync(path)) throw otherFile(path);
    if (!withoutLog) refuseMissingLog(path);
    await retryBusy(() => {
      examine(path, (database) => {
        refuseForeign(database, path);
        refuseForeignLog(database, path, file);
      });
    }, busyTimeoutMs);
    const database = await retryBusy(() => connect(path, "writer"), busyTimeoutMs);
    try {
      await retryBusy(() => migrate(database), busyTimeoutMs);
      const opened = await retryBusy(() => new OpenFile(path, database), busyTimeoutMs);
      return new WriteConnection(database, opened, busyTimeoutMs);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  static inMemory(database: Database): WriteConnection {
    migrate(database);
    return new WriteConnection(database, NO_FILE, 0);
  }

  get fileId(): string {
    return this.#file.id;
  }

  get busy(): { readonly busyRetries: number; readonly busyMs: number } {
    return { busyRetries: this.#busyRetries, busyMs: this.#busyMs };
  }

  /**
   * Runs `work` in a write transaction. If it fails and the file is displaced, that is reported instead of SQLite's
   * error.
   */
  async transact<T>(work: () => T): Promise<T> {
    try {
      return await this.#transact(work);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code === "outcome_unknown") this.#file.assertInPlace();
      throw error;
    }
  }

  /** Waits for other processes outside the driver, so that the thread is not blocked. */
  async #transact<T>(work: () => T): Promise<T> {
    const started = performance.now();
    let retries = 0;
    await retryBusy(
      () => this.#begin.run(),
      this.#busyTimeoutMs,
      () => retries++,
    );
    if (retries > 0) {
      this.#busyRetries += retries;
      this.#busyMs += performance.now() - started;
    }
    let result: T;
    try {
      result = work();
      this.#file.assertInPlace();
    } catch (error) {
      this.#rollback();
      throw error;
    }
    try {
      this.#commit.run();
    } catch (cause) {
      this.#rollback();
      throw new HoldfastError("outcome_unknown", `the store failed while committing: ${(cause as Error).message}`, {
        cause,
      });
    }
    this.#file.confirm();
    return result;
  }

  /** A failed statement may already have ended the transaction; then there is nothing to roll back. */
  #rollback(): void {
    if (this.database.isTransaction) this.database.exec("ROLLBACK");
  }

  assertInPlace(): void {
    this.#file.assertInPlace();
  }

  /** Copies as much of the log into the file as possible without waiting. */
  checkpoint(): void {
    this.#file.assertInPlace();
    this.database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    this.#file.checkpointed();
  }

  /** Empties the log. Resolves to false if other connections still read from it at the deadline. */
  async truncateLog(deadlineMs: number): Promise<boolean> {
    const statement = this.database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
    const until = performance.now() + deadlineMs;
    for (let attempt = 0; ; attempt++) {
      this.#file.settle();
      if (Number(statement.get()?.["busy"]) === 0) return true;
      if (performance.now() > until) return false;
      await sleep(backOff(attempt, 1, 25));
    }
  }

  /** Rewrites the whole file, so that it contains only live data. */
  async vacuum(): Promise<void> {
    await retryBusy(() => {
      this.#file.assertInPlace();
      this.database.exec("VACUUM");
      this.#file.vacuumed();
    }, this.#busyTimeoutMs);
  }

  /** Closes the connection and changes nothing in the file. */
  leave(): void {
    this.#file.close();
    this.database.close();
  }
}
