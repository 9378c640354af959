/**
 * Copies a file that others read and write, for backup and restore. Runs in an upkeep thread.
 *
 * VACUUM INTO reads one snapshot, so commits continue, and writes live rows only: free pages and gaps in pages, which may
 * contain forgotten bytes, are not copied. (SQLite's online backup copies those too, and restarts with every commit of
 * another process, so beside a busy writer it never finishes.)
 *
 * Invariant: a file is complete, checked and synced before it gets the target's name.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import { retryBusy } from "../stores/sqlite/file/connection.js";
import { type Database, isDamaged, openDatabase } from "../stores/sqlite/file/driver.js";
import { asStoreError } from "../stores/sqlite/file/failure.js";
import { refuseOdd } from "../stores/sqlite/file/file.js";
import { refuseMissingLog } from "../stores/sqlite/file/lost-log.js";
import { RENEW_MARK } from "../stores/sqlite/file/main-file.js";
import { removeStaleParts } from "./part-file.js";
import type { Steps } from "./progress.js";
import { number, requireFile, requireFolder, requireOurs, row } from "./reading.js";
import { placeFile, refuseExisting } from "./takeover.js";

export interface CopyJob {
  readonly from: string;
  readonly to: string;
  /** The target's temporary name. */
  readonly part: string;
  readonly overwrite: boolean;
  /** The copy replaces a file that may have newer commits, so numbers used since must not be used again. */
  readonly succeeds: boolean;
}

export interface Copied {
  /** Its size. */
  readonly bytes: number;
  /** Number of items in it. */
  readonly items: number;
  /** The version of its tables. */
  readonly schema: number;
}

const BUSY_MS = 10_000;
/** Far more keys and versions than a file uses between two backups, yet small enough for thousands of restores. */
const SKIPPED = 2 ** 24;

export async function copy(job: CopyJob, steps: Steps): Promise<Copied> {
  const { from, to, part, overwrite } = job;
  requireFile(from);
  refuseMissingLog(from);
  requireFolder(dirname(to));
  if (overwrite) refuseOdd(to);
  else refuseExisting(to);
  refuseSame(from, to);
  removeStaleParts(to);
  try {
    const bytes = statSync(from).size;
    steps.begin("copy", 0, bytes);
    await copyLive(from, part);
    await tidy(job, steps);
    steps.begin("check", bytes, bytes);
    const copied = check(part, from);
    sync(part);
    steps.begin("place", bytes, bytes);
    await placeFile(part, to, overwrite);
    return copied;
  } finally {
    for (const left of [part, `${part}-journal`]) rmSync(left, { force: true });
  }
}

function refuseSame(from: string, to: string): void {
  const [source, target] = [statSync(from), statSync(to, { throwIfNoEntry: false })];
  if (from !== to && !(target && target.ino === source.ino && target.dev === source.dev)) return;
  throw new HoldfastError("invalid_input", `${to} is the source file itself`, {
    hint: "choose another name for the copy",
  });
}

/** Copies the live rows into a new file that only its owner can read. */
async function copyLive(from: string, part: string): Promise<void> {
  closeSync(createPrivate(part));
  const database = openDatabase(from, true);
  try {
    await retryBusy(() => requireOurs(database, from), BUSY_MS);
    await retryBusy(() => database.prepare("VACUUM INTO ?").run(part), BUSY_MS);
  } catch (error) {
    throw isDamaged(error) ? asStoreError(error, from) : error;
  } finally {
    database.close();
  }
}

function createPrivate(part: string): number {
  try {
    return openSync(part, "wx", 0o600);
  } catch (cause) {
    throw new HoldfastError("store_failed", `cannot write beside the target: ${(cause as Error).message}`, {
      cause,
      hint: "choose a folder that exists and that this process may write to",
    });
  }
}

/**
 * Removes what is only valid in the original: leases, writers, and words of forgotten text that are still to be merged away.
 * No one else has opened the copy yet, so no journal is needed.
 */
async function tidy({ part, succeeds }: CopyJob, steps: Steps): Promise<void> {
  const hasMarks = change(part, (database) => {
    const hasMarks = number(database, "SELECT purge FROM head") > 1;
    if (hasMarks) database.exec("INSERT INTO words (words) VALUES ('optimize')");
    database.exec("DELETE FROM writer; UPDATE head SET purge = 0, unpurged = 0, last_writer = NULL");
    database.exec("DELETE FROM lease; DELETE FROM owner");
    database.exec(RENEW_MARK);
    // An external index may have items that this file lacks, and newer versions of those it has.
    if (succeeds) database.exec("UPDATE head SET outbox_cursor = 0 WHERE outbox_index IS NOT NULL");
    if (succeeds) database.exec(`UPDATE head SET item_key = item_key + ${SKIPPED}`);
    // A reader that has seen a later version of a space has to start over.
    if (succeeds) database.exec(`UPDATE space SET version = version + ${SKIPPED}, change_floor = version + ${SKIPPED}`);
    return hasMarks;
  });
  if (!hasMarks) return;
  steps.begin("compact", 0, statSync(part).size);
  const merged = `${part}-merged`;
  try {
    await copyLive(part, merged);
    renameSync(merged, part);
  } finally {
    rmSync(merged, { force: true });
  }
}

function change<T>(part: string, work: (database: Database) => T): T {
  const database = openDatabase(part, false);
  try {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON");
    return work(database);
  } finally {
    database.close();
  }
}

function check(part: string, from: string): Copied {
  const database = openDatabase(part, true);
  try {
    const { integrity_check: found } = row(database, "PRAGMA integrity_check(1)");
    if (found !== "ok") {
      throw new HoldfastError("store_failed", `${from} is damaged: its copy fails SQLite's check`, {
        hint: "run `holdfast doctor` on it and restore an older backup; nothing was changed",
        details: { found },
      });
    }
    const { schema, items } = row(database, "SELECT schema, items FROM head");
    return { bytes: statSync(part).size, items: Number(items), schema: Number(schema) };
  } finally {
    database.close();
  }
}

function sync(part: string): void {
  const descriptor = openSync(part, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
