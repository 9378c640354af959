/**
 * Rejects files whose log is missing or belongs to another file, before any connection could change them.
 *
 * While a file is in use, its log (`…-wal`) holds all commits since the last checkpoint. Without the log, SQLite
 * silently opens an older, perhaps empty, state. With the log of another file, it mixes the two.
 */
import { realpathSync, statSync } from "node:fs";
import { HoldfastError } from "../../../errors.js";
import type { Database } from "./driver.js";
import { belongTogether, MainFile, type Mark, needsLog, readMark, SELECT_MARK } from "./main-file.js";
import { pause } from "./pause.js";

/** How often to check, because another process may be truncating the log at this moment. */
const LOOKS = 10;
const PAUSE_MS = 20;

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The file's own mark. Undefined if the file is empty or not ours. */
export function markOf(target: string): Mark | undefined {
  if (bytesOf(target) === 0) return undefined;
  const main = new MainFile(target);
  try {
    return main.read();
  } finally {
    main.close();
  }
}

/** Whether the file's mark requires a log and none exists. */
export function lacksLog(target: string): boolean {
  const mark = markOf(target); // first: a log may begin after the check for it
  return mark !== undefined && needsLog(mark) && bytesOf(`${target}-wal`) === 0;
}

/**
 * Throws if the file is incomplete without its log and the log is missing. May block this thread briefly. Requires that
 * the file exists.
 */
export function refuseMissingLog(path: string): void {
  const target = realpathSync(path);
  for (let look = 1; lacksLog(target); look++) {
    if (look === LOOKS) throw logMissing(target);
    pause(PAUSE_MS);
  }
}

/**
 * Throws if the log belongs to another file, or if the file does not have the id `file`. Requires a read-only
 * connection. A file without tables is new and has no log of its own yet.
 */
export function refuseForeignLog(database: Database, path: string, file?: string): void {
  const target = realpathSync(path);
  const view = viewOf(database);
  if (file !== undefined && view?.id !== file) throw otherFile(path);
  for (let look = 1; !fits(viewOf(database), markOf(target), viewOf(database)); look++) {
    if (look === LOOKS) throw foreignLog(target);
    pause(PAUSE_MS);
  }
}

const fits = (before: Mark | undefined, mark: Mark | undefined, after: Mark | undefined): boolean =>
  mark === undefined || (before !== undefined && after !== undefined && belongTogether(before, mark, after));

function viewOf(database: Database): Mark | undefined {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log'").get();
  return isThere && readMark(database.prepare(SELECT_MARK).get() ?? {});
}

export const otherFile = (path: string): HoldfastError =>
  new HoldfastError("store_unsafe", `${path} is not the file that this process had open`, {
    hint: "stop every process that has it open, put the right file and its log in place, then start again",
  });

const foreignLog = (target: string): HoldfastError =>
  new HoldfastError("store_unsafe", `${target}-wal is not the log of ${target}`, {
    hint:
      "the file was replaced while it was in use; to open it as it is, make sure that no process has it open and move " +
      `${target}-wal and ${target}-shm away; nothing was changed`,
  });

const logMissing = (target: string): HoldfastError =>
  new HoldfastError("store_unsafe", `${target} was in use and its log, ${target}-wal, is missing`, {
    hint:
      "put the log beside the file, or restore a backup; to continue without what was only in the log: " +
      "holdfast doctor --repair; nothing was changed",
  });
