/** Backup and restore of a file. Both are the same copy, in opposite directions. */
import { statSync } from "node:fs";
import type { Copied, CopyJob } from "./copy.js";
import { runJob } from "./job.js";
import { partFileOf } from "./part-file.js";
import type { UpkeepProgress, Watch } from "./progress.js";
import { fileAt, leavingNoLog } from "./reading.js";

/** What to back up, and where to. */
export interface BackupOptions extends Watch {
  /** The memory's file. Any number of processes may read and write it during the backup. */
  readonly path: string;
  /** Where the backup goes. */
  readonly to: string;
  /** Replaces an existing backup, which is otherwise a `conflict`. */
  readonly overwrite?: boolean;
}

/** What to restore, and where to. */
export interface RestoreOptions extends Watch {
  /** The backup. */
  readonly from: string;
  /** The memory's file. */
  readonly to: string;
  /** Replaces an existing file. Refused (`busy`) while any process has it open. */
  readonly overwrite?: boolean;
}

/** Contents of the new file, which has passed SQLite's full check. */
export interface CopyReport extends Copied {
  /** The file that was written. */
  readonly path: string;
  /** How long it took, in milliseconds. */
  readonly tookMs: number;
}

/** How often the size of the copy is polled. */
const LOOK_MS = 100;

/**
 * Copies a consistent snapshot of a file while others read and write it. The copy is a single file without any forgotten
 * bytes. It gets its final name once it is complete, checked and synced.
 */
export function backupFile({ path, to, overwrite = false, ...watch }: BackupOptions): Promise<CopyReport> {
  return copyFile({ from: fileAt(path), to: fileAt(to), overwrite, succeeds: false }, watch);
}

/** Restores a backup as the file of a memory. Later writes are not in it. */
export function restoreFile({ from, to, overwrite = false, ...watch }: RestoreOptions): Promise<CopyReport> {
  return copyFile({ from: fileAt(from), to: fileAt(to), overwrite, succeeds: true }, watch);
}

async function copyFile(wanted: Omit<CopyJob, "part">, { onProgress, signal }: Watch): Promise<CopyReport> {
  const started = performance.now();
  const part = partFileOf(wanted.to);
  const growth = new Growth(part, onProgress);
  try {
    const copied = await leavingNoLog(wanted.from, () =>
      runJob<Copied>(
        { name: "copy", options: { ...wanted, part } },
        { onProgress: (progress) => growth.step(progress), signal },
      ),
    );
    return { path: wanted.to, ...copied, tookMs: Math.round(performance.now() - started) };
  } finally {
    growth.end();
  }
}

/** Reports progress by the size of the growing copy, because the thread cannot post messages while it copies. */
class Growth {
  readonly #part: string;
  readonly #onProgress: Watch["onProgress"];
  readonly #timer: NodeJS.Timeout | undefined;
  #last: UpkeepProgress | undefined;

  constructor(part: string, onProgress: Watch["onProgress"]) {
    this.#part = part;
    this.#onProgress = onProgress;
    if (onProgress) this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  step(progress: UpkeepProgress): void {
    this.#last = progress;
    this.#onProgress?.(progress);
  }

  #look(): void {
    const last = this.#last;
    const size = statSync(this.#part, { throwIfNoEntry: false })?.size ?? 0;
    if (!last || size <= last.done || last.done === last.total) return;
    this.step({ ...last, done: Math.min(size, last.total) });
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
