/**
 * Checks paths from callers before opening them: opening a pipe may hang, and opening a device may do harm. Files are
 * opened with O_NONBLOCK and checked again, in case the path was replaced meanwhile.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, statSync } from "node:fs";
import { HoldfastError } from "./errors.js";

/** On systems without this flag, opening does not block either. */
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/** Why the path cannot be used as a file; undefined for a regular file, and if nothing exists there. Opens nothing. */
export function notAFile(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat) return kindOf(stat);
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (!link) return undefined;
    return link.isSymbolicLink() ? "is a link to a file that does not exist" : kindOf(link); // created meanwhile
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") return "is a link that refers to itself";
    return code === "ENOTDIR" ? "is below something that is not a folder" : `cannot be used: ${message}`;
  }
}

/** What it is instead of a regular file. */
function kindOf(stat: Stats): string | undefined {
  if (stat.isFile()) return undefined;
  if (stat.isDirectory()) return "is a folder";
  if (stat.isFIFO()) return "is a pipe";
  if (stat.isSocket()) return "is a socket";
  return "is a device";
}

/** Opens an existing regular file for reading. Throws the system's error, or one that says what it is instead. */
export function openForReading(path: string): number {
  refuse(path, notAFile(path));
  const file = openSync(path, constants.O_RDONLY | NON_BLOCKING);
  try {
    refuse(path, kindOf(fstatSync(file)));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

export function readPlainFile(path: string): Buffer {
  const file = openForReading(path);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function refuse(path: string, what: string | undefined): void {
  if (what === undefined) return;
  throw new HoldfastError("invalid_input", `${path} ${what}`, { hint: "name a regular file" });
}
