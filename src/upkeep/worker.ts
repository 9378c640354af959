/**
 * The entry of an upkeep thread: it does one job and ends. All work on the file is synchronous and may take long, so
 * none of it happens where somebody's event loop runs; and what a connection held is free for certain when its thread
 * has ended.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorRecord, toRecord } from "../errors.js";
import type { CopyJob } from "./copy.js";
import type { InspectJob } from "./inspection.js";
import { ENDED, STOP, type Steps, Stopped, type UpkeepProgress } from "./progress.js";

export type Job =
  | { readonly name: "copy"; readonly options: CopyJob }
  | { readonly name: "inspect"; readonly options: InspectJob }
  | { readonly name: "contents"; readonly options: { readonly path: string } }
  | { readonly name: "repair"; readonly options: InspectJob };

export interface JobData {
  readonly job: Job;
  /** Two words: whether the job is to stop, and whether it has ended. */
  readonly shared: SharedArrayBuffer;
}

export type JobMessage =
  | { readonly progress: UpkeepProgress }
  | { readonly value: unknown }
  | { readonly error: ErrorRecord }
  | { readonly stopped: true };

const { job, shared } = workerData as JobData;
const words = new Int32Array(shared);
const tell = (message: JobMessage): void => parentPort?.postMessage(message);

const steps: Steps = {
  begin(step, done, total) {
    if (Atomics.load(words, STOP) !== 0) throw new Stopped();
    tell({ progress: { step, done, total } });
  },
};

/** Each job loads its own modules alone. */
async function perform(): Promise<unknown> {
  switch (job.name) {
    case "copy":
      return (await import("./copy.js")).copy(job.options, steps);
    case "inspect":
      return (await import("./inspection.js")).inspect(job.options, steps);
    case "contents":
      return (await import("./contents.js")).contentsOf(job.options.path);
    case "repair":
      return (await import("./treatment.js")).treat(job.options, steps);
  }
}

try {
  tell({ value: await perform() });
} catch (error) {
  tell(error instanceof Stopped ? { stopped: true } : { error: toRecord(error) });
} finally {
  Atomics.store(words, ENDED, 1);
  Atomics.notify(words, ENDED);
}
