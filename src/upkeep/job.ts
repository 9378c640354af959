/** Runs a job on a file in a thread of its own, with progress reports and one outcome. */
import { fromRecord, HoldfastError } from "../errors.js";
import { startThread } from "../worker-thread.js";
import { ENDED, STOP, type Watch } from "./progress.js";
import type { Job, JobData, JobMessage } from "./worker.js";

/** Longest wait at process exit for a job to reach its next step. */
const EXIT_WAIT_MS = 5_000;

/** Resolves when the thread has ended and holds no lock on any file. */
export function runJob<T>(job: Job, { onProgress, signal }: Watch): Promise<T> {
  signal?.throwIfAborted();
  const shared = new SharedArrayBuffer(8);
  const words = new Int32Array(shared);
  const stop = (): void => void Atomics.store(words, STOP, 1);
  // A process that exits kills its threads, and the driver may abort if one is in a native call. So the exit waits until the
  // job reaches its next step, where it stops and cleans up.
  const stopAndWait = (): void => {
    stop();
    Atomics.wait(words, ENDED, 0, EXIT_WAIT_MS);
  };
  return new Promise<T>((resolve, reject) => {
    const worker = startThread(new URL("./worker.js", import.meta.url), {
      workerData: { job, shared } satisfies JobData,
      name: "holdfast-upkeep",
    });
    let settle = (): void => reject(lost());
    worker.on("message", (message: JobMessage) => {
      if ("progress" in message) onProgress?.(message.progress);
      else if ("value" in message) settle = () => resolve(message.value as T);
      else if ("error" in message) settle = () => reject(fromRecord(message.error));
      else settle = () => reject(signal?.reason);
    });
    worker.on("error", (error) => {
      settle = () => reject(lost(error));
    });
    worker.on("exit", () => {
      signal?.removeEventListener("abort", stop);
      process.removeListener("exit", stopAndWait);
      settle();
    });
    signal?.addEventListener("abort", stop);
    process.on("exit", stopAndWait);
  });
}

const lost = (cause?: unknown): HoldfastError =>
  new HoldfastError("store_failed", "the upkeep thread ended unexpectedly", {
    cause,
    hint: "try again; if it happens again, give the process more memory",
  });
