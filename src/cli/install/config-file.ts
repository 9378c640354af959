/**
 * ConfigFile: a client's file, read whole and replaced whole.
 *
 * - A file is replaced by a finished one (rename), so that a client never reads half of it; its mode stays.
 * - A link stays a link: what it points to is replaced.
 * - What was there is first copied beside it, byte for byte.
 * - If somebody has written the file since it was read, nothing is written.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { HoldfastError } from "../../errors.js";

const BYTE_ORDER_MARK = "\uFEFF";
const LINKS_MAX = 40;

export class ConfigFile {
  readonly path: string;
  /** Without its byte order mark; empty if there is no file. */
  readonly text: string;
  readonly #bytes: Buffer | undefined;
  readonly #mark: string;

  constructor(path: string) {
    this.path = path;
    this.#bytes = bytesAt(path);
    const whole = this.#bytes ? decoded(this.#bytes, path) : "";
    this.#mark = whole.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    this.text = whole.slice(this.#mark.length);
  }

  get exists(): boolean {
    return this.#bytes !== undefined;
  }

  /** Answers with the name of the copy of what was there. `mode` is that of a file that is made. */
  replace(text: string, mode: number, now: Date): string | undefined {
    const target = targetOf(this.path);
    const old = statSync(target, { throwIfNoEntry: false });
    mkdirSync(dirname(target), { recursive: true });
    const part = `${target}.holdfast-${process.pid}.tmp`;
    try {
      writeNew(part, Buffer.from(this.#mark + text, "utf8"), old, mode);
      if (!isSame(bytesAt(this.path), this.#bytes)) throw changed(this.path);
      const backup = this.#bytes && this.#backUp(this.#bytes, old, now);
      renameSync(part, target);
      syncFolder(dirname(target));
      return backup;
    } finally {
      rmSync(part, { force: true });
    }
  }

  #backUp(bytes: Buffer, old: Stats | undefined, now: Date): string {
    const backup = `${this.path}.holdfast-backup-${now.toISOString().replaceAll(/[-:]/g, "")}`;
    writeNew(backup, bytes, old, PRIVATE);
    return backup;
  }
}

const PRIVATE = 0o600;

function bytesAt(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}

function decoded(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError("config", `${file} is not UTF-8`, {
      hint: "save it as UTF-8 first; it was not touched",
      details: { file },
      cause,
    });
  }
}

/** Where a link leads to, also if there is nothing there yet. */
function targetOf(path: string): string {
  let target = path;
  for (let links = 0; lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    if (links === LINKS_MAX)
      throw new HoldfastError("config", `${path} is a link to itself`, { hint: "mend it first" });
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}

/** A file that is on the disk when this returns, with the mode and the owner of the old one. */
function writeNew(path: string, bytes: Buffer, old: Stats | undefined, mode: number): void {
  const file = openSync(path, "wx", old ? old.mode & 0o777 : mode);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!old) return;
  chmodSync(path, old.mode & 0o777); // whatever the process takes away from modes
  if (process.getuid?.() === 0) chownSync(path, old.uid, old.gid);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one && other ? one.equals(other) : one === other;
}

function changed(file: string): HoldfastError {
  return new HoldfastError("busy", `${file} has changed meanwhile`, {
    hint: "close the program that writes it, then try again; nothing was written",
    details: { file },
  });
}

/** Windows opens no folders. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
