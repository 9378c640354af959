/** A job on a file as its caller sees it: a thread of its own, news on the way, one outcome. */
import { Worker } from "node:worker_threads";
import { fromRecord, HoldfastError } from "../errors.js";
import { ENDED, STOP, type Watch } from "./progress.js";
import type { Job, JobData, JobMessage } from "./worker.js";

/** A step that takes longer must not hold up the end of the process for ever. */
const EXIT_WAIT_MS = 5_000;

/** Resolves when the thread has ended: from then on it holds no lock on any file. */
export function runJob<T>(job: Job, { onProgress, signal }: Watch): Promise<T> {
  signal?.throwIfAborted();
  const shared = new SharedArrayBuffer(8);
  const words = new Int32Array(shared);
  const stop = (): void => void Atomics.store(words, STOP, 1);
  // A process that ends ends its threads where they are, and the driver may abort it if that is in a native call. So the
  // job is let come to its next step, where it stops and tidies up.
  const stopAndWait = (): void => {
    stop();
    Atomics.wait(words, ENDED, 0, EXIT_WAIT_MS);
  };
  return new Promise<T>((resolve, reject) => {
    // execArgv: a program given by `node -e` must not hand its flags to a thread that is a file.
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      execArgv: [],
      workerData: { job, shared } satisfies JobData,
      name: "holdfast-upkeep",
    });
    let settle = (): void => reject(new HoldfastError("store_failed", "the upkeep thread has ended unexpectedly"));
    worker.on("message", (message: JobMessage) => {
      if ("progress" in message) onProgress?.(message.progress);
      else if ("value" in message) settle = () => resolve(message.value as T);
      else if ("error" in message) settle = () => reject(fromRecord(message.error));
      else settle = () => reject(signal?.reason);
    });
    worker.on("error", (error) => {
      settle = () => reject(error);
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
