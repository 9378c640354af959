/**
 * The entry point of a storage thread: a writer, a reader or a searcher. Each answers calls in order of arrival; the
 * searcher also answers other calls while it loads vectors.
 */
import { setImmediate as turn } from "node:timers/promises";
import { parentPort, receiveMessageOnPort as receive, workerData } from "node:worker_threads";
import { toRecord } from "../../errors.js";
import { connect, retryBusy } from "./file/connection.js";
import { asStoreError } from "./file/failure.js";
import type { WriterOptions } from "./writer.js";

export type ThreadRole = "writer" | "reader" | "search";

export interface ThreadData {
  readonly role: ThreadRole;
  readonly options: ThreadOptions;
}

export interface ThreadOptions extends WriterOptions {
  /** The memory budget of the vector mirrors, in bytes. */
  readonly mirrorBytes: number;
  /** See `SearcherOptions`. */
  readonly isConstrained?: boolean;
}

export interface Call {
  readonly number: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The id that the file must have, for a thread that was started before the id was known. */
  readonly file?: string | undefined;
}

/**
 * Under continuous calls, the interval at which the event loop gets a turn, in which background loading reads one page.
 */
const TURN_MS = 100;

const { role, options } = workerData as ThreadData;
if (!parentPort) throw new Error("this module is the entry of a worker thread");
const port = parentPort;
/** The id that the file must have, once known. */
let fileId = options.file;

/** Each role imports only its own modules, so that unused code is not compiled. */
const loaded = load();
loaded.catch(() => undefined); // the first call reports the error

async function load(): Promise<() => Promise<object>> {
  const { busyTimeoutMs, path } = options;
  if (role === "writer") {
    const { Writer } = await import("./writer.js");
    return () => Writer.open(options);
  }
  if (role === "reader") {
    const { Reader } = await import("./reader.js");
    return () => retryBusy(() => new Reader(connect(path, "reader", fileId), path), busyTimeoutMs);
  }
  const { Searcher } = await import("./search/searcher.js");
  return () => retryBusy(() => new Searcher(connect(path, "search", fileId), options), busyTimeoutMs);
}

/** Set by the first call: a reading thread may start before the writer has created the file. */
let opened: Promise<object> | undefined;
let file: Methods | undefined;

/** Queued calls, in order of arrival. */
const waiting: Call[] = [];
/** Calls that were started and are not finished. */
const underWay = new Set<Promise<void>>();
let isWorking = false;

port.on("message", (call: Call) => {
  waiting.push(call);
  if (!isWorking) work();
});

/**
 * Runs one call at a time: a writer that waits for another process must not begin a second transaction. Only the
 * searcher starts the next call while earlier ones load vectors; it closes after all of them have finished.
 */
async function work(): Promise<void> {
  isWorking = true;
  let turnedAt = performance.now();
  for (let call = waiting.shift(); call; call = waiting.shift()) {
    if (call.method === "close") await Promise.all(underWay);
    const answered = answer(call).finally(() => underWay.delete(answered));
    underWay.add(answered);
    await (role === "search" ? settled() : answered);
    if (performance.now() - turnedAt > TURN_MS) {
      await turn();
      turnedAt = performance.now();
    }
    for (let next = receive(port); next; next = receive(port)) waiting.push(next.message as Call);
  }
  isWorking = false;
}

async function answer({ number, method, args, file: id }: Call): Promise<void> {
  fileId ??= id;
  const isLast = method === "close" || method === "leave";
  try {
    const value = isLast && !opened ? undefined : await run(method, args);
    port.postMessage({ number, value });
  } catch (error) {
    port.postMessage({ number, error: toRecord(asStoreError(error)) });
  }
  if (isLast) port.close();
}

/**
 * Resolves when all work that need not wait is done. A vector search has been answered by then, unless it loads
 * vectors.
 */
async function settled(): Promise<void> {
  await undefined; // from here on, ticks run after promise callbacks
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

type Methods = { readonly [method: string]: (...args: readonly unknown[]) => unknown };

/** Opens the file. If this fails, the next call tries again. */
async function openFile(): Promise<Methods> {
  opened ??= loaded.then((open) => open());
  try {
    file = (await opened) as Methods;
    return file;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

/** Once the file is open, all synchronous work of the call is done when this returns. */
async function run(method: string, args: readonly unknown[]): Promise<unknown> {
  const target = file ?? (await openFile());
  const call = () => target[method]?.(...args);
  // Readers retry because a read can meet a log in recovery. The other roles handle waiting themselves and never throw
  // BUSY.
  return role === "reader" ? retryBusy(call, options.busyTimeoutMs) : call();
}
