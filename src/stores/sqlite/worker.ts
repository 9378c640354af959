/** The entry of a storage thread: a writer or a reader that answers calls in the order in which they come. */
import { parentPort, workerData } from "node:worker_threads";
import { toRecord } from "../../errors.js";
import { Reader } from "./reader.js";
import { retryBusy, Writer, type WriterOptions } from "./writer.js";

export type ThreadRole = "writer" | "reader";

export interface ThreadData {
  readonly role: ThreadRole;
  readonly options: WriterOptions;
}

export interface Call {
  readonly number: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

const { role, options } = workerData as ThreadData;
const port = parentPort;
if (!port) throw new Error("this module is the entry of a worker thread");

const opened: Promise<Writer | Reader> =
  role === "writer" ? Writer.open(options) : retryBusy(() => new Reader(options.path, "reader"), options.busyTimeoutMs);

/** One call at a time: a writer that waits for another process must not begin a second transaction meanwhile. */
let last: Promise<unknown> = opened.catch(() => undefined);

port.on("message", (call: Call) => {
  last = last.then(() => answer(call));
});

async function answer({ number, method, args }: Call): Promise<void> {
  try {
    const target = (await opened) as unknown as { [method: string]: (...args: readonly unknown[]) => unknown };
    // The retry is for reads that meet a recovering log; the writer waits by itself and never throws BUSY.
    const run = () => target[method]?.(...args);
    const value = role === "reader" ? await retryBusy(run, options.busyTimeoutMs) : await run();
    port?.postMessage({ number, value });
  } catch (error) {
    port?.postMessage({ number, error: toRecord(error) });
  }
  if (method === "close" || method === "leave") port?.close();
}
