/**
 * Watches the file that a connection writes to from outside of SQLite, because SQLite keeps writing to a file that was
 * removed, replaced or overwritten without noticing.
 *
 * Guarantees: when `confirm` returns, the file, its log and its shared-memory index are the ones at their paths, and
 * neither another file nor an older copy has overwritten the file. The file then also records that a log belongs to it
 * (main-file.ts), unless another process prevents writing that record at the moment. A lost file stays lost.
 */
import { type BigIntStats, realpathSync, statSync } from "node:fs";
import { HoldfastError } from "../../../errors.js";
import { type Database, isSqliteError, type Statement } from "./driver.js";
import { belongTogether, MainFile, type Mark, needsLog, readMark, SELECT_MARK } from "./main-file.js";
import { pause } from "./pause.js";

/**
 * The resolution of the file clock. A file that changed less than this before a check may have changed again since,
 * with the same timestamp.
 */
const TICK_NS = 20_000_000n;
/**
 * How often a suspicious state is checked again, for about a quarter of a second: another process may be changing the
 * file.
 */
const LOOKS = 8;
const FIRST_PAUSE_MS = 1;
/**
 * How many checkpoints try to bring the announcement into the file while another connection reads an older state: for a
 * fifth of a second. A backup may read for minutes, so after that each commit tries once.
 */
const CHECKPOINTS = 100;
const CHECKPOINT_PAUSE_MS = 2;

interface FileIdentity {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

export class OpenFile {
  /** Identifies the file. */
  readonly id: string;
  readonly #file: FileIdentity;
  readonly #log: FileIdentity;
  readonly #index: FileIdentity;
  readonly #main: MainFile;
  readonly #view: Statement;
  readonly #checkpoint: Statement;
  readonly #announce: Statement;
  readonly #begin: Statement;
  readonly #changes: Statement;
  readonly #check: Statement;
  readonly #changesBefore: number;
  readonly #application: number;
  /** The file's last change time, if the file was read after it. */
  #changedAt: bigint | undefined;
  /** The last marks of the file alone and of the file with its log. Neither may ever go back. */
  #mark: Mark | undefined;
  #seen: Mark | undefined;
  /** The file's size at the last check. It shrinks only when a vacuum is checkpointed. */
  #bytes = 0n;
  /** Whether the file's mark announces the log that is in use. */
  #isAnnounced = false;
  /** Whether the last attempt to copy the announcement into the file failed. */
  #isImpatient = false;
  #lost: HoldfastError | undefined;

  /** Requires a connection that has read from the file, so that the log and its shared-memory index exist. */
  constructor(path: string, database: Database) {
    const target = realpathSync(path); // SQLite puts the log next to the file itself, not next to a link
    this.#file = placeOf(path);
    this.#log = placeOf(`${target}-wal`);
    this.#index = placeOf(`${target}-shm`);
    this.#main = new MainFile(target);
    this.#view = database.prepare(SELECT_MARK);
    this.#checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    this.#announce = database.prepare("UPDATE log SET announced = announced + 1 WHERE announced = begun");
    this.#begin = database.prepare("UPDATE log SET begun = announced WHERE announced = ?");
    this.#changes = database.prepare("SELECT total_changes() AS changes");
    this.#check = database.prepare("PRAGMA quick_check(1)");
    this.#changesBefore = this.#countChanges();
    this.#application = Number(database.prepare("PRAGMA application_id").get()?.["application_id"]);
    this.id = this.#readView().id;
    this.assertInPlace();
  }

  /** Throws `store_unsafe` if the file is no longer at its path or is not the same file. */
  assertInPlace(): void {
    if (this.#lost) throw this.#lost;
    for (let look = 1, ms = FIRST_PAUSE_MS; ; look++, ms *= 2) {
      const problem = this.#look();
      if (problem === undefined) return;
      if (look === LOOKS) throw this.#lose(problem);
      this.#changedAt = undefined;
      this.#main.close(); // its schema may have changed
      pause(ms);
    }
  }

  /** Requires a commit that was just made and not reported to any caller yet. */
  confirm(): void {
    this.assertInPlace();
    if (!this.#isAnnounced && this.#countChanges() > this.#changesBefore) this.#announceLog();
  }

  /** Call after a checkpoint of ours. From then on an older copy of the file is not mistaken for it. */
  checkpointed(): void {
    this.#changedAt = undefined;
    this.assertInPlace();
  }

  /** Call after a vacuum of ours: the next checkpoint may shrink the file. */
  vacuumed(): void {
    this.#bytes = 0n;
  }

  /** Call before the last checkpoint: an unfinished announcement must not be the only thing left. */
  settle(): void {
    this.assertInPlace();
    const { announced, begun } = this.#readView();
    if (announced !== begun) this.#announceLog();
  }

  close(): void {
    this.#main.close();
  }

  #find({ path, dev, ino }: FileIdentity): BigIntStats {
    let found: BigIntStats | undefined;
    try {
      found = statSync(path, { bigint: true, throwIfNoEntry: false });
    } catch (cause) {
      throw this.#lose(`${path} cannot be looked at any more`, cause);
    }
    if (!found) throw this.#lose(`${path} was removed or renamed while it was open`);
    if (found.ino !== ino || found.dev !== dev)
      throw this.#lose(`${path} was replaced by another file while it was open`);
    return found;
  }

  /** A description of what looks wrong, if anything does. */
  #look(): string | undefined {
    const { size } = this.#find(this.#log);
    this.#find(this.#index);
    const { ctimeNs, size: bytes } = this.#find(this.#file); // last: emptying the log changes the file first
    if (ctimeNs !== this.#changedAt) {
      this.#changedAt = undefined;
      if (realpathSync(this.#file.path) !== this.#main.path) return `${this.#file.path} was moved while it was open`;
      if (bytes < this.#bytes && !this.#isSound()) return `${this.#file.path} was truncated while it was open`;
      this.#bytes = bytes;
      const before = this.#tryView();
      const mark = this.#main.read();
      if (!mark && !this.#mark) return undefined; // a new file: everything is in the log
      if (!mark && this.#main.readApplication() === this.#application) return undefined; // pages of several commits
      const view = before && mark && this.#mayBeOurs(mark) ? this.#tryView() : undefined;
      if (!before || !mark || !view || !belongTogether(before, mark, view) || isBehind(before, this.#seen))
        return `${this.#file.path} was overwritten while it was open`;
      this.#mark = mark;
      this.#seen = view;
      this.#isAnnounced = needsLog(mark) && view.begun === mark.announced;
      if (nowNs() - ctimeNs > TICK_NS) this.#changedAt = ctimeNs;
    }
    return size === 0n && this.#isAnnounced ? `${this.#log.path} was emptied while it was open` : undefined;
  }

  #mayBeOurs(mark: Mark): boolean {
    return mark.id === this.id && !isBehind(mark, this.#mark);
  }

  /** Whether all pages exist, in the file or in its log. Takes a second per few hundred megabytes. */
  #isSound(): boolean {
    try {
      return this.#check.get()?.["quick_check"] === "ok";
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      return false;
    }
  }

  /** Undefined if the view cannot be read, which foreign pages in the file can cause. */
  #tryView(): Mark | undefined {
    try {
      return this.#readView();
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      return undefined;
    }
  }

  #countChanges(): number {
    return Number(this.#changes.get()?.["changes"]);
  }

  #readView(): Mark {
    return readMark(this.#view.get() ?? {});
  }

  /**
   * Announces the log in the file. If this fails, the next commit tries again; committed data is durable in any case.
   *
   * The announcement is committed only if the whole log could be copied a moment before. If a connection reads an older
   * state, the announcement would stay in the log. The last connection to close would then copy it, and the file would
   * require a log that it does not need.
   */
  #announceLog(): void {
    try {
      if (!this.#copyLog()) return;
      this.#announce.run();
      const { announced } = this.#readView();
      if (!this.#copyLog() || !this.#isInFile(announced)) return;
      this.#begin.run(announced);
      this.#seen = this.#readView();
      this.#isAnnounced = true;
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    }
  }

  /** Copies the log into the file and syncs it. False if another connection keeps reading an older state. */
  #copyLog(): boolean {
    for (let tries = 1; ; tries++) {
      const { busy, log, checkpointed } = this.#checkpoint.get() ?? {};
      if (busy === 0 && log === checkpointed) break;
      if (this.#isImpatient || tries === CHECKPOINTS) {
        this.#isImpatient = true;
        return false;
      }
      pause(CHECKPOINT_PAUSE_MS);
    }
    this.#isImpatient = false;
    return true;
  }

  #isInFile(announced: number): boolean {
    const mark = this.#main.read();
    if (mark) this.#mark = mark;
    return mark !== undefined && mark.announced >= announced;
  }

  #lose(message: string, cause?: unknown): HoldfastError {
    this.#lost = new HoldfastError("store_unsafe", message, {
      cause,
      hint: `${HINT}${process.pid}/fd`,
      details: { path: this.#file.path },
    });
    return this.#lost;
  }
}

const isBehind = (mark: Mark, last: Mark | undefined): boolean =>
  last !== undefined && (mark.announced < last.announced || mark.begun < last.begun);

const HINT =
  "nothing more is written, and what was written last is in the former file only: stop every process that has it open, " +
  "put the right file and its log in place, then start again; until then Linux shows a removed file under /proc/";

function placeOf(path: string): FileIdentity {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
}

const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;
