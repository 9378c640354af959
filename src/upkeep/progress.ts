/** Progress and cancellation of long jobs. */
export interface UpkeepProgress {
  /** The current step. */
  readonly step: string;
  /** How much of `total` is done, in bytes while copying, otherwise in steps. */
  readonly done: number;
  /** The whole, in the unit of `done`. */
  readonly total: number;
}

export interface Watch {
  /** Called as the job proceeds. */
  readonly onProgress?: ((progress: UpkeepProgress) => void) | undefined;
  /** Stops the job at its next step and cleans up. */
  readonly signal?: AbortSignal | undefined;
}

/** The interface for the job's thread. */
export interface Steps {
  /** Starts a step. Throws if the job was stopped. */
  begin(step: string, done: number, total: number): void;
}

/** Thrown in the thread. The caller gets the signal's reason. */
export class Stopped extends Error {}

/** Indexes of the shared flags: whether the job should stop, and whether it has ended. */
export const STOP = 0;
export const ENDED = 1;
