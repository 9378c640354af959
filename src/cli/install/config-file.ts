/**
 * ConfigFile: a client's file, read whole and replaced whole.
 *
 * - A file is replaced by a finished one (rename), so that a client never reads half of it. Its mode stays, unless there is
 *   a secret in it: then it and its copy are for their owner alone, from the first byte on.
 * - A link stays a link: what it points to is replaced.
 * - What was there is first copied beside it, byte for byte. The newest of these copies are kept.
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
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HoldfastError } from "../../errors.js";

const BYTE_ORDER_MARK = "\uFEFF";
const LINKS_MAX = 40;
const BACKUPS_MAX = 5;
/** What an owner may do. */
const OWNER_ONLY = 0o700;

export interface Modes {
  /** Of a file that is made. */
  readonly made: number;
  /** True: there is a secret in what was there or in what comes. */
  readonly isSecret: boolean;
}

export interface Replaced {
  /** The copy of what was there. */
  readonly backup: string | undefined;
  /** True: others could read or write the file before, and cannot any more. */
  readonly isTightened: boolean;
}

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

  replace(text: string, { made, isSecret }: Modes, now: Date): Replaced {
    const target = targetOf(this.path);
    const old = statSync(target, { throwIfNoEntry: false });
    const usual = old ? old.mode & 0o777 : made;
    const mode = isSecret ? usual & OWNER_ONLY : usual;
    mkdirSync(dirname(target), { recursive: true });
    const part = `${target}.holdfast-${process.pid}.tmp`;
    try {
      writeNew(part, Buffer.from(this.#mark + text, "utf8"), old, mode);
      if (!isSame(bytesAt(this.path), this.#bytes)) throw changed(this.path);
      const backup = this.#bytes && this.#backUp(this.#bytes, old, mode, now);
      renameSync(part, target);
      syncFolder(dirname(target));
      if (backup !== undefined) this.#forgetBackups(backup);
      // What the system has made of it: Windows knows no such modes.
      return { backup, isTightened: old !== undefined && (statSync(target).mode & 0o777) !== usual };
    } finally {
      rmSync(part, { force: true });
    }
  }

  #backUp(bytes: Buffer, old: Stats | undefined, mode: number, now: Date): string {
    const backup = `${this.path}.holdfast-backup-${now.toISOString().replaceAll(/[-:]/g, "")}`;
    writeNew(backup, bytes, old, mode);
    return backup;
  }

  /** All but the latest one and the newest of the others. Their names sort by time. */
  #forgetBackups(latest: string): void {
    const start = `${basename(this.path)}.holdfast-backup-`;
    const others = readdirSync(dirname(this.path), { withFileTypes: true })
      .filter((one) => one.isFile() && one.name.startsWith(start) && BACKUP_TIME.test(one.name.slice(start.length)))
      .map(({ name }) => name)
      .filter((name) => name !== basename(latest));
    for (const name of others.sort().slice(0, 1 - BACKUPS_MAX)) rmSync(join(dirname(this.path), name), { force: true });
  }
}

const BACKUP_TIME = /^\d{8}T\d{6}\.\d{3}Z$/;

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

/** A file that is on the disk when this returns, with the owner of the old one. */
function writeNew(path: string, bytes: Buffer, old: Stats | undefined, mode: number): void {
  const file = openSync(path, "wx", mode);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!old) return;
  chmodSync(path, mode); // whatever the process takes away from modes
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
