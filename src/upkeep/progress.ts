/** What all long work on a file has in common: it tells how far it has come, and can be stopped. */
export interface UpkeepProgress {
  /** What is being done now. */
  readonly step: string;
  /** How much of `total` is done: bytes while a file is copied, else steps. */
  readonly done: number;
  readonly total: number;
}

export interface Watch {
  readonly onProgress?: ((progress: UpkeepProgress) => void) | undefined;
  /** Stops the work at its next step; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** The work as its thread sees it. */
export interface Steps {
  /** A step begins. Throws if the work is to be stopped. */
  begin(step: string, done: number, total: number): void;
}

/** Thrown in the thread; the caller gets the reason that the signal was given. */
export class Stopped extends Error {}

/** Places of the words that a job shares with its caller: whether it is to stop, and whether it has ended. */
export const STOP = 0;
export const ENDED = 1;
