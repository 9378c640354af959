/** Checks by the file system only. The file is not opened. */
import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { notAFile } from "../../plain-file.js";
import { networkOf, openMode } from "../../stores/sqlite/file/file.js";
import { error, type Finding, ok, repairable, size, warning } from "../diagnosis.js";

/** Free space to keep beside the file's own size: a purge or an upgrade may rewrite it. */
const SPARE_BYTES = 64_000_000;

export function checkFile(path: string): Finding {
  const what = notAFile(path);
  if (what !== undefined) return error(`${path} ${what}`, "pass the path of a memory");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return error(`${path} does not exist`, "check the path, or restore a backup to it");
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch {
    return error(`${path} cannot be read and written by this account`, "run this as the account that owns the file");
  }
  return ok(`${path}, ${size(stat.size)}`);
}

export function checkMode(path: string): Finding {
  const mode = openMode(statSync(path).mode);
  if (mode === undefined) return ok("only the owner can read it");
  return repairable(error(`other accounts can read it (mode ${mode}), so it is not opened`, `chmod 600 ${path}`));
}

export const checkPlace = (path: string): Finding => findPlace(statfsSync(dirname(path)).type);

export function findPlace(type: number): Finding {
  const network = networkOf(type);
  if (!network) return ok("on a local disk");
  return error(`on a network file system (${network}), where SQLite's log is not safe`, "move it to a local disk");
}

export function checkDisk(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path));
  return findDisk(bavail * bsize, statSync(path).size);
}

export function findDisk(freeBytes: number, fileBytes: number): Finding {
  if (freeBytes >= fileBytes + SPARE_BYTES) return ok(`${size(freeBytes)} free`);
  const what = `${size(freeBytes)} free on the disk; the file takes ${size(fileBytes)}`;
  return warning(what, "free some space: forgetting may rewrite the whole file");
}
