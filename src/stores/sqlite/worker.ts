/**
 * The entry of a storage thread: a writer, which answers calls in the order in which they come; a reader, at which those
 * that end a search go first; or the reader of vectors, which also answers other calls while it loads.
 */
import { setImmediate as othersArrive } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { toRecord } from "../../errors.js";
import type { WordsRequest } from "../store.js";
import { retryBusy } from "./busy.js";
import { type Found, writeScored } from "./scored-text.js";
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

/** Long lists of small objects cross over faster as text than as structures. */
const AS_TEXT: ReadonlySet<string> = new Set(["searchWords", "searchVectors"]);

const { role, options } = workerData as ThreadData;
const port = parentPort;
if (!port) throw new Error("this module is the entry of a worker thread");

/** Each role loads its own modules alone: loading them is most of what it takes to start a thread. */
const loaded = load();
loaded.catch(() => undefined); // the first call tells

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

const waiting: Call[] = [];
/** Whether somebody is at work on what waits. */
let isWorking = false;
/** Calls that were begun and are not done. */
const underWay = new Set<Promise<void>>();

port.on("message", (call: Call) => {
  waiting.push(call);
  if (!isWorking) work();
});

/**
 * One call at a time: a writer that waits for another process must not begin a second transaction meanwhile. Only the
 * reader of vectors begins the next while others load, and ends when all have.
 */
async function work(): Promise<void> {
  isWorking = true;
  for (let call = takeNext(); call; call = takeNext()) {
    if (call.method === "close") await Promise.all(underWay);
    const answered = answer(call).finally(() => underWay.delete(answered));
    underWay.add(answered);
    if (role !== "vectors") await answered;
    if (role !== "writer") await othersArrive(); // among what came meanwhile may be something that goes first
  }
  isWorking = false;
}

/** The first that came; at a reader, the first that ends a search, or that. */
function takeNext(): Call | undefined {
  const ending = role === "writer" ? -1 : waiting.findIndex(endsSearch);
  return ending > 0 ? waiting.splice(ending, 1)[0] : waiting.shift();
}

/**
 * Searches by words and by vectors take ten milliseconds in a large space; to score what the other has found, one. If
 * that waited in line, every search under way would wait for those that have just begun.
 */
const endsSearch = ({ method, args }: Call): boolean =>
  method === "scoreVectors" || (method === "searchWords" && (args[0] as Partial<WordsRequest>).keys !== undefined);

async function answer({ number, method, args }: Call): Promise<void> {
  const isLast = method === "close" || method === "leave";
  try {
    const value = isLast && !opened ? undefined : await run(method, args);
    port?.postMessage(AS_TEXT.has(method) ? { number, text: writeScored(value as Found[]) } : { number, value });
  } catch (error) {
    port?.postMessage({ number, error: toRecord(error) });
  }
  if (isLast) port?.close();
}

/** Whoever could not is not the last to try. */
async function openFile(): Promise<object> {
  opened ??= loaded.then((open) => open());
  try {
    return await opened;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

async function run(method: string, args: readonly unknown[]): Promise<unknown> {
  const target = (await openFile()) as { [method: string]: (...args: readonly unknown[]) => unknown };
  const call = () => target[method]?.(...args);
  // The retry is for reads that meet a recovering log; the others wait by themselves and never throw BUSY.
  return role === "reader" ? retryBusy(call, options.busyTimeoutMs) : call();
}
