/**
 * Entry of an upkeep thread, which runs one job and ends. All work on the file is synchronous and may take long, so it must
 * not block an event loop; and when the thread has ended, its connections have certainly released their locks.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorRecord, toRecord } from "../errors.js";
import { asStoreError } from "../stores/sqlite/file/failure.js";
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
  /** Two flags: whether the job should stop, and whether it has ended. */
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

/** Loads only the modules of its job. */
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

perform()
  .then((value) => tell({ value }))
  .catch((error: unknown) =>
    tell(error instanceof Stopped ? { stopped: true } : { error: toRecord(asStoreError(error)) }),
  )
  .finally(() => {
    Atomics.store(words, ENDED, 1);
    Atomics.notify(words, ENDED);
  });
