/**
 * The entry of a storage thread: a writer or a reader that answers calls in the order in which they come, or the reader
 * of vectors, which answers other calls while it loads.
 */
import { parentPort, workerData } from "node:worker_threads";
import { toRecord } from "../../errors.js";
import { retryBusy } from "./busy.js";
import type { WriterOptions } from "./writer.js";

export type ThreadRole = "writer" | "reader" | "vectors";

export interface ThreadData {
  readonly role: ThreadRole;
  readonly options: ThreadOptions;
}

export interface ThreadOptions extends WriterOptions {
  /** How much memory the mirrors of vectors may take. */
  readonly mirrorBytes: number;
  /** How much those of items without their text. */
  readonly rosterBytes: number;
}

export interface Call {
  readonly number: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Long lists of small objects cross over faster as text than as structures. They hold nothing that JSON cannot say. */
const AS_TEXT: ReadonlySet<string> = new Set(["searchWords", "searchVectors"]);

const { role, options } = workerData as ThreadData;
const port = parentPort;
if (!port) throw new Error("this module is the entry of a worker thread");

/** Each role loads its own modules alone: loading them is most of what it takes to start a thread. */
const loaded = load();

async function load(): Promise<() => Promise<object>> {
  const { busyTimeoutMs, path, rosterBytes } = options;
  if (role === "writer") {
    const { Writer } = await import("./writer.js");
    return () => Writer.open(options);
  }
  if (role === "reader") {
    const { Reader } = await import("./reader.js");
    return () => retryBusy(() => new Reader(path, "reader", rosterBytes), busyTimeoutMs);
  }
  const { VectorReader } = await import("./vector-reader.js");
  return () => retryBusy(() => new VectorReader(options), busyTimeoutMs);
}

/** With the first call: a reading thread may be started before the writer has made the file. */
let opened: Promise<object> | undefined;

/** One call at a time: a writer that waits for another process must not begin a second transaction meanwhile. */
let last: Promise<unknown> = loaded.catch(() => undefined);

port.on("message", (call: Call) => {
  const waitsForOthers = role !== "vectors" || call.method === "close";
  const answered = waitsForOthers ? last.then(() => answer(call)) : answer(call);
  last = Promise.all([last, answered]);
});

async function answer({ number, method, args }: Call): Promise<void> {
  const isLast = method === "close" || method === "leave";
  try {
    const value = isLast && !opened ? undefined : await run(method, args);
    port?.postMessage(AS_TEXT.has(method) ? { number, text: JSON.stringify(value) } : { number, value });
  } catch (error) {
    port?.postMessage({ number, error: toRecord(error) });
  }
  if (isLast) port?.close();
}

async function run(method: string, args: readonly unknown[]): Promise<unknown> {
  opened ??= loaded.then((open) => open());
  const target = (await opened) as { [method: string]: (...args: readonly unknown[]) => unknown };
  const call = () => target[method]?.(...args);
  // The retry is for reads that meet a recovering log; the others wait by themselves and never throw BUSY.
  return role === "reader" ? retryBusy(call, options.busyTimeoutMs) : call();
}
