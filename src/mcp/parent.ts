/**
 * Watches whether the parent process is still alive. Usually stdin closes when the parent ends, but not if another process
 * holds the other end of the pipe.
 *
 * Except on Windows, an orphan gets another parent: init, or a subreaper. On Windows it keeps the id of a process that no
 * longer exists; if that id is reused within two seconds, the end goes unnoticed. If the parent is a wrapper (a shell, npx),
 * the wrapper is watched; if only the program behind it dies, the closed stdin has to tell.
 */
import type { Clock } from "../clock.js";

const EVERY_MS = 2_000;

export interface ProcessTable {
  /** The id of the current parent. */
  parent(): number;
  /** Whether a process with this id exists. */
  isThere(id: number): boolean;
}

export interface ParentWatch {
  readonly gone: Promise<void>;
  cancel(): void;
}

export function watchParent(clock: Pick<Clock, "after">, processes: ProcessTable = ownProcesses): ParentWatch {
  const first = processes.parent();
  let cancel = (): void => {};
  const gone = new Promise<void>((resolve) => {
    const look = (): void => {
      if (processes.parent() === first && processes.isThere(first)) cancel = clock.after(EVERY_MS, look);
      else resolve();
    };
    cancel = clock.after(EVERY_MS, look);
  });
  return { gone, cancel: () => cancel() };
}

const ownProcesses: ProcessTable = {
  parent: () => process.ppid,
  isThere(id) {
    // A parent outside the container has id 0, which has another meaning for `kill`.
    if (id === 0) return true;
    try {
      process.kill(id, 0); // signal 0 only checks
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ESRCH"; // EPERM: it belongs to another user
    }
  },
};
