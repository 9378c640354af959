/**
 * The process that started this one, and whether it is still there. Most ends of a parent close stdin; not if somebody
 * else holds the other side of the pipe.
 *
 * Where processes are handed on (everywhere but on Windows) an orphan has another parent: the first process, or whoever
 * gathers orphans. On Windows it keeps the number of a process that is no longer there; should the number be given to
 * another process within two seconds, the end goes unnoticed. A wrapper (a shell, npx) is the parent that is watched: if
 * only the program behind it dies, the closed stdin must tell.
 */
import type { Clock } from "../clock.js";

const EVERY_MS = 2_000;

export interface Family {
  /** The number of the parent, now. */
  parent(): number;
  /** Whether there is a process of this number. */
  isThere(id: number): boolean;
}

export interface ParentWatch {
  readonly gone: Promise<void>;
  cancel(): void;
}

export function watchParent(clock: Pick<Clock, "after">, family: Family = ownFamily): ParentWatch {
  const first = family.parent();
  let cancel = (): void => {};
  const gone = new Promise<void>((resolve) => {
    const look = (): void => {
      if (family.parent() === first && family.isThere(first)) cancel = clock.after(EVERY_MS, look);
      else resolve();
    };
    cancel = clock.after(EVERY_MS, look);
  });
  return { gone, cancel: () => cancel() };
}

const ownFamily: Family = {
  parent: () => process.ppid,
  isThere(id) {
    // A parent outside of the container has the number 0, which to `kill` means something else.
    if (id === 0) return true;
    try {
      process.kill(id, 0); // sends nothing
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ESRCH"; // another user's process may not be asked
    }
  },
};
