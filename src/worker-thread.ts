/**
 * Starts the threads of this package. The published package contains the code of each thread as a string in place of a URL,
 * because a bundler that puts the package into one file knows nothing of a thread's own file.
 */
import { Worker, type WorkerOptions } from "node:worker_threads";
import { CODE_URL } from "./package-files.js";

export function startThread(code: URL | string, options: Pick<WorkerOptions, "name" | "workerData">): Worker {
  return new Worker(code, {
    ...options,
    eval: typeof code === "string",
    // The flags of a program run by `node -e` or `--input-type` must not reach the thread.
    execArgv: [],
    // Code from a string has no place of its own; it takes this one.
    argv: [CODE_URL],
  });
}
