/** The database file in the file system. Creates it as private, and rejects one that is not private or not safe. */
import { isUtf8 } from "node:buffer";
import { closeSync, openSync, realpathSync, statfsSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { HoldfastError } from "../../../errors.js";
import { notAFile } from "../../../plain-file.js";

/** File systems on which SQLite's shared-memory log does not work across machines (statfs magic numbers). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
]);

/** SQLite's minimum page size. SQLite treats a shorter file as new and overwrites it. */
const PAGE_BYTES_MIN = 512;

/** The files that SQLite creates next to the database. */
export const SIDE_FILES = ["-wal", "-shm", "-journal"];

/**
 * The absolute path. Throws `invalid_input` for a relative path in a working folder whose name is not UTF-8: Node replaces
 * such bytes by U+FFFD, so the path would lead to another folder, the same one for two such names.
 */
export function absolutePath(path: string): string {
  const whole = resolve(path);
  if (isAbsolute(path) || !whole.includes("\uFFFD")) return whole;
  if (isUtf8(realpathSync.native(".", { encoding: "buffer" }))) return whole;
  throw new HoldfastError("invalid_input", "the name of the working folder is not text in UTF-8", {
    hint: "work in a folder whose name is UTF-8, or pass an absolute path",
  });
}

/** Throws if the path, or one of its side files, exists and is not a regular file. Opens nothing. */
export function refuseOdd(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) {
    const what = notAFile(file);
    if (what === undefined) continue;
    if (file === path)
      throw new HoldfastError("invalid_input", `${file} ${what}`, {
        hint: "name a plain file; it is made if nothing is there",
      });
    throw new HoldfastError("store_failed", `${file} ${what}`, { hint: "find out who has put it there" });
  }
}

/** Throws if the file is shorter than any database but not empty; an empty file is a new one. Opens nothing. */
export function refuseCutShort(path: string): void {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0 || bytes >= PAGE_BYTES_MIN) return;
  throw new HoldfastError("store_failed", `${path} is truncated: it has only ${bytes} bytes`, {
    hint: "restore a backup, or choose another path; nothing was changed",
  });
}

/**
 * Creates the file with mode 0600 if it is absent. Throws if other accounts can read it or it is on a network file
 * system.
 */
export function secureFile(path: string): void {
  const folder = dirname(path);
  refuseOdd(path);
  refuseCutShort(path);
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new HoldfastError("store_failed", `the folder ${folder} does not exist`, {
        cause,
        hint: `create it first: mkdir -p ${folder}`,
      });
    }
    if (code !== "EEXIST") {
      throw new HoldfastError("store_failed", `cannot create ${path}: ${(cause as Error).message}`, {
        cause,
        hint: "choose a path in a folder that this process may write to",
      });
    }
  }
  const { mode, nlink } = statSync(path);
  const open = openMode(mode);
  if (open !== undefined) {
    throw new HoldfastError("store_unsafe", `${path} can be read by other accounts (mode ${open})`, {
      hint: `make it private: chmod 600 ${path}`,
    });
  }
  if (nlink > 1) {
    throw new HoldfastError("store_unsafe", `${path} is one of ${nlink} names of the same file (hard links)`, {
      hint: "keep one name, or make a copy of the file: its log has the name under which it was opened",
    });
  }
  const network = networkOf(statfsSync(folder).type);
  if (network) {
    throw new HoldfastError("store_unsafe", `${path} lies on a network file system (${network})`, {
      hint: "keep the file on a local disk; SQLite's log is not safe over a network",
    });
  }
}

/** The mode in octal, if other accounts have any access to the file. */
export function openMode(mode: number): string | undefined {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  return (mode & 0o777).toString(8).padStart(4, "0");
}

/** The name of the network file system with this magic number, if it is one. */
export const networkOf = (type: number): string | undefined => NETWORK_FILE_SYSTEMS.get(type);
