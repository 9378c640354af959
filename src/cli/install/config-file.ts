/**
 * ConfigFile: a client's file, read and replaced as a whole.
 *
 * - The file is replaced atomically (rename), so a client never reads a partial file. Its mode is kept, unless it contains a
 *   secret: then the file and its backup are readable only by their owner, from the first byte on.
 * - If the path is a link, the link stays and its target is replaced.
 * - The previous version is first backed up beside it, byte for byte. Only the newest backups are kept.
 * - If the file was changed since it was read, nothing is written.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HoldfastError } from "../../errors.js";
import { readPlainFile } from "../../plain-file.js";
import { decodeUtf8 } from "../../text.js";

const BYTE_ORDER_MARK = "\uFEFF";
const LINKS_MAX = 40;
const BACKUPS_MAX = 5;
/** The owner's permission bits. */
const OWNER_ONLY = 0o700;

export interface Modes {
  /** Mode of a new file. */
  readonly made: number;
  /** True if the old or the new text contains a secret. */
  readonly isSecret: boolean;
}

export interface Replaced {
  /** The backup of the previous version. */
  readonly backup: string | undefined;
  /** True if others could read or write the file before and no longer can. */
  readonly isTightened: boolean;
}

export class ConfigFile {
  readonly path: string;
  /** Without its byte order mark; empty if the file does not exist. */
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
      // The actual mode: Windows has no such modes.
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

  /** Removes all backups but the latest and the newest of the others. Their names sort by time. */
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

/** A link may point to a file that does not exist yet. */
const bytesAt = (path: string): Buffer | undefined => (existsSync(path) ? readPlainFile(path) : undefined);

function decoded(bytes: Buffer, file: string): string {
  try {
    return decodeUtf8(bytes, file);
  } catch (cause) {
    throw new HoldfastError("config", `${file} is not UTF-8`, {
      hint: "save it as UTF-8 first; the file was not changed",
      details: { file },
      cause,
    });
  }
}

/** The target of a link, even if it does not exist yet. */
function targetOf(path: string): string {
  let target = path;
  for (let links = 0; lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    if (links === LINKS_MAX)
      throw new HoldfastError("config", `${path} is a link to itself`, { hint: "fix the link first" });
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}

/** Writes and syncs a new file, with the owner of the old one. */
function writeNew(path: string, bytes: Buffer, old: Stats | undefined, mode: number): void {
  const file = openSync(path, "wx", mode);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!old) return;
  chmodSync(path, mode); // regardless of the umask
  if (process.getuid?.() === 0) chownSync(path, old.uid, old.gid);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one && other ? one.equals(other) : one === other;
}

function changed(file: string): HoldfastError {
  return new HoldfastError("busy", `${file} has changed in the meantime`, {
    hint: "close the program that writes it, then try again; nothing was written",
    details: { file },
  });
}

/** Does nothing on Windows, which cannot open folders. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
