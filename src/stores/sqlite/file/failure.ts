/** Converts driver errors to HoldfastErrors. Every SQLite error that leaves the store passes through here. */
import { existsSync } from "node:fs";
import { HoldfastError } from "../../../errors.js";
import { type Failure, failureOf, resultCode } from "./driver.js";

type Words = readonly [what: string, hint: string];

const NOTHING_WRITTEN = "nothing of this call was written";
const OURS = `run \`holdfast doctor\` on it; ${NOTHING_WRITTEN}`;

/** For each failure: a message about the file, and a hint. */
const WORDS: { readonly [failure in Failure]: Words } = {
  damaged: [
    "is damaged or is not a database",
    `run \`holdfast doctor\` on it, and restore it from a backup or choose another path; ${NOTHING_WRITTEN}`,
  ],
  io: ["could not be read or written: the disk or file system failed", `check the disk and the system's log; ${OURS}`],
  full: ["could not be written: the disk is full", `make room on the disk, then repeat the call; ${NOTHING_WRITTEN}`],
  read_only: [
    "cannot be written by this process",
    `check who may write to the file and its folder, and whether the disk is mounted read-only; ${NOTHING_WRITTEN}`,
  ],
  cannot_open: [
    "cannot be opened",
    "check that the file and its folder are there and may be read and written, and how many files may be open (ulimit -n)",
  ],
  no_memory: [
    "could not be read or written: there is not enough memory",
    `give the process more memory, or ask for less at once; ${NOTHING_WRITTEN}`,
  ],
  too_big: ["cannot hold a value of this length", `split it; ${NOTHING_WRITTEN}`],
  busy: [
    "is held by another process",
    "try again; if it lasts, look for a process that keeps a transaction open on it",
  ],
  other: ["could not be read or written", `${OURS}; if it finds nothing, report this error with its cause`],
};

/** System error codes of files that SQLite did not open. */
const OF_SYSTEM: { readonly [code: string]: Failure } = {
  EIO: "io",
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "read_only",
  EPERM: "read_only",
  EROFS: "read_only",
  ENOENT: "cannot_open",
  ENOTDIR: "cannot_open",
  ELOOP: "cannot_open",
  ENAMETOOLONG: "cannot_open",
  EMFILE: "cannot_open",
  ENFILE: "cannot_open",
  ENOMEM: "no_memory",
};

/**
 * Returns HoldfastErrors unchanged. Any other error (such as a row that cannot be decoded) becomes a failure of the
 * file.
 */
export function asStoreError(error: unknown, path = "the memory's file"): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const failure = OF_SYSTEM[String((error as NodeJS.ErrnoException | null)?.code)] ?? failureOf(error);
  const [what, hint] = WORDS[failure];
  const isMixed = failure === "damaged" && existsSync(`${path}-wal`);
  const ofLog = isMixed ? `; if it was replaced while it was in use, move ${path}-wal and ${path}-shm away` : "";
  const code = failure === "busy" ? "busy" : failure === "too_big" ? "too_large" : "store_failed";
  const result = resultCode(error);
  return new HoldfastError(code, `${path} ${what}`, {
    cause: error,
    hint: hint + ofLog,
    ...(result !== undefined && { details: { sqlite: result } }),
  });
}
