/**
 * Copying a file that others read and write: what backup and restore are made of. Runs in an upkeep thread.
 *
 * VACUUM INTO reads one snapshot, so that commits go on beside it, and writes live rows only: neither free pages nor the
 * gaps of pages, where forgotten bytes may stand, get into the copy. (SQLite's online backup copies those too, and
 * starts over with every commit of another process: beside a busy writer it never ends.)
 *
 * Invariant: what stands under the target's name was complete, checked and synced before it got that name.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import { retryBusy } from "../stores/sqlite/busy.js";
import { pragma } from "../stores/sqlite/connection.js";
import { type Database, isNotOurs, openDatabase } from "../stores/sqlite/driver.js";
import { removeStaleParts } from "./part-file.js";
import type { Steps } from "./progress.js";
import { damaged, number, requireFile, requireFolder, requireOurs, row } from "./reading.js";
import { placeFile, refuseExisting } from "./takeover.js";

export interface CopyJob {
  readonly from: string;
  readonly to: string;
  /** The target's name until it is finished. */
  readonly part: string;
  readonly overwrite: boolean;
  /** The copy takes the place of a file that has gone on since: what was numbered then is not numbered again. */
  readonly succeeds: boolean;
}

export interface Copied {
  readonly bytes: number;
  readonly items: number;
  /** The last commit that is in it. */
  readonly commit: number;
  readonly schema: number;
}

const BUSY_MS = 10_000;
/** Far more than a file gets between two backups; there is room for thousands of restores. */
const KEYS_SKIPPED = 2 ** 24;
/** Schema versions from which on a file has these tables. */
const HAS_LEASES = 2;

export async function copy(job: CopyJob, steps: Steps): Promise<Copied> {
  const { from, to, part, overwrite } = job;
  requireFile(from);
  requireFolder(dirname(to));
  refuseSame(from, to);
  if (!overwrite) refuseExisting(to);
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
  throw new HoldfastError("invalid_input", `${to} is the file itself`, { hint: "choose another name for the copy" });
}

/** The live rows of a file, in a new one that only its owner can read. */
async function copyLive(from: string, part: string): Promise<void> {
  closeSync(createPrivate(part));
  const database = openDatabase(from, true);
  try {
    await retryBusy(() => requireOurs(database, from), BUSY_MS);
    await retryBusy(() => database.prepare("VACUUM INTO ?").run(part), BUSY_MS);
  } catch (error) {
    throw isNotOurs(error) ? damaged(from, error) : error;
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
 * Takes out what only means something beside the original: who works on it, and words of forgotten text that wait to be
 * merged away there. Nobody else knows the copy yet, so nothing is journaled.
 */
async function tidy({ part, succeeds }: CopyJob, steps: Steps): Promise<void> {
  const hasMarks = change(part, (database) => {
    const hasMarks = number(database, "SELECT purge FROM head") > 1;
    if (hasMarks) database.exec("INSERT INTO words (words) VALUES ('optimize')");
    database.exec("DELETE FROM writer; UPDATE head SET purge = 0, unpurged = 0");
    if (Number(pragma(database, "user_version")) >= HAS_LEASES) {
      database.exec("DELETE FROM lease; DELETE FROM owner");
      // An external index knows items that this file does not have, and newer versions of those that it has.
      if (succeeds) database.exec("UPDATE head SET outbox_cursor = 0 WHERE outbox_index IS NOT NULL");
    }
    if (succeeds) database.exec(`UPDATE head SET item_key = item_key + ${KEYS_SKIPPED}`);
    return hasMarks;
  });
  if (!hasMarks) return;
  steps.begin("copy without forgotten words", 0, statSync(part).size);
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
      throw new HoldfastError("store_failed", `${from} is damaged: its copy does not pass SQLite's check`, {
        hint: "run the doctor on it, and restore it from an older backup; nothing was changed",
        details: { found },
      });
    }
    const { commit_no: commit, schema, items } = row(database, "SELECT commit_no, schema, items FROM head");
    return { bytes: statSync(part).size, items: Number(items), commit: Number(commit), schema: Number(schema) };
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
