/** Backup and restore of a file: one copy, in one direction or the other. */
import { statSync } from "node:fs";
import type { Copied, CopyJob } from "./copy.js";
import { runJob } from "./job.js";
import { partFileOf } from "./part-file.js";
import type { UpkeepProgress, Watch } from "./progress.js";
import { fileAt, leavingNoLog } from "./reading.js";

export interface BackupOptions extends Watch {
  /** The file of the memory. Any number of processes may read and write it meanwhile. */
  readonly path: string;
  /** Where the backup goes. */
  readonly to: string;
  /** Replaces a backup that is there; without it that is a `conflict`. */
  readonly overwrite?: boolean;
}

export interface RestoreOptions extends Watch {
  /** The backup. */
  readonly from: string;
  /** The file of the memory. */
  readonly to: string;
  /** Replaces a file that is there. Refused (`busy`) while any process has it open. */
  readonly overwrite?: boolean;
}

/** What is in the new file, which has passed SQLite's full check. */
export interface CopyReport extends Copied {
  readonly path: string;
  readonly tookMs: number;
}

/** How often the size of the copy is looked at. */
const LOOK_MS = 100;

/**
 * Copies a file as it is at one moment, while others go on reading and writing it. The copy is one file by itself, with
 * nothing in it that was forgotten. It gets its name when it is whole, checked and on the disk.
 */
export function backupFile({ path, to, overwrite = false, ...watch }: BackupOptions): Promise<CopyReport> {
  return copyFile({ from: fileAt(path), to: fileAt(to), overwrite, succeeds: false }, watch);
}

/** Makes a backup the file of a memory again. What was written after the backup is not in it. */
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

/** While the thread copies it can say nothing; the size of what it has written tells how far it is. */
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
