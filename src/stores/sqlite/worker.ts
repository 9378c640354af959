/**
 * The entry of a storage thread: a writer, which answers calls in the order in which they come; a reader, at which those
 * that end a search go first; or the reader of vectors, which also answers other calls while it loads.
 */
import { setImmediate as turn } from "node:timers/promises";
import { parentPort, receiveMessageOnPort as receive, workerData } from "node:worker_threads";
import { toRecord } from "../../errors.js";
import type { WordsRequest } from "../store.js";
import { retryBusy } from "./busy.js";
import { buffersOf, type Found, packScored } from "./scored-pack.js";
import { SMALL_ITEMS } from "./small.js";
import type { WriterOptions } from "./writer.js";

export type ThreadRole = "writer" | "reader" | "vectors";

export interface ThreadData {
  readonly role: ThreadRole;
  readonly options: ThreadOptions;
}

export interface ThreadOptions extends WriterOptions {
  /** How much memory the mirrors of vectors may take. */
  readonly mirrorBytes: number;
  /** How much those of items without their text: half for small spaces, on the main thread, half for others, in the reader's. */
  readonly rosterBytes: number;
}

export interface Call {
  readonly number: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Long lists of found items cross over faster when they are packed. */
const PACKED: ReadonlySet<string> = new Set(["searchWords", "searchVectors"]);

/** Each so many-th call is the one that has waited longest, whatever goes first. */
const TURNS = 8;
/** After so long, what is loaded between calls comes on by a page. */
const TURN_MS = 100;

const { role, options } = workerData as ThreadData;
if (!parentPort) throw new Error("this module is the entry of a worker thread");
const port = parentPort;

/** Each role loads its own modules alone: what is not run need not be compiled. */
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
    return () =>
      retryBusy(() => new Reader(path, "reader", { bytes: rosterBytes / 2, itemsMin: SMALL_ITEMS + 1 }), busyTimeoutMs);
  }
  const { VectorReader } = await import("./vector-reader.js");
  return () => retryBusy(() => new VectorReader(options), busyTimeoutMs);
}

/** With the first call: a reading thread may be started before the writer has made the file. */
let opened: Promise<object> | undefined;
let file: Methods | undefined;

/** Calls that wait, in the order in which they came: those that go first, and all others. */
const first: Call[] = [];
const others: Call[] = [];
/** Calls that were begun and are not done. */
const underWay = new Set<Promise<void>>();
let isWorking = false;

port.on("message", (call: Call) => {
  line(call);
  if (!isWorking) work();
});

function line(call: Call): void {
  (goesFirst(call) ? first : others).push(call);
}

/**
 * Searches by words and by vectors take ten milliseconds in a large space; to score what the other has found, one. If
 * that waited in line, every search under way would wait for those that have just begun.
 */
function goesFirst({ method, args }: Call): boolean {
  if (role === "writer") return false;
  const [request] = args as readonly [Partial<WordsRequest>?];
  return method === "leave" || method === "scoreVectors" || (method === "searchWords" && request?.keys !== undefined);
}

/**
 * One call at a time: a writer that waits for another process must not begin a second transaction meanwhile. Only the
 * reader of vectors begins the next while others load, and ends when all have.
 */
async function work(): Promise<void> {
  isWorking = true;
  let turnedAt = performance.now();
  for (let begun = 1; ; begun++) {
    const call = (begun % TURNS === 0 ? others.shift() : undefined) ?? first.shift() ?? others.shift();
    if (!call) break;
    if (call.method === "close") await Promise.all(underWay);
    const answered = answer(call).finally(() => underWay.delete(answered));
    underWay.add(answered);
    await (role === "vectors" ? settled() : answered);
    if (performance.now() - turnedAt > TURN_MS) {
      await turn();
      turnedAt = performance.now();
    }
    for (let next = receive(port); next; next = receive(port)) line(next.message as Call);
  }
  isWorking = false;
}

async function answer({ number, method, args }: Call): Promise<void> {
  const isLast = method === "close" || method === "leave";
  try {
    const value = isLast && !opened ? undefined : await run(method, args);
    if (PACKED.has(method)) {
      const found = packScored(value as Found[]);
      port.postMessage({ number, found }, buffersOf(found));
    } else port.postMessage({ number, value });
  } catch (error) {
    port.postMessage({ number, error: toRecord(error) });
  }
  if (isLast) port.close();
}

/** When all that need not wait has come to its end: a search by vectors is answered by then, unless it loads. */
async function settled(): Promise<void> {
  await undefined; // from here on ticks come after promises
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

type Methods = { readonly [method: string]: (...args: readonly unknown[]) => unknown };

/** If it cannot be opened, the next call tries again. */
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

/** Once the file is open, whatever can be done at once is done when this returns. */
async function run(method: string, args: readonly unknown[]): Promise<unknown> {
  const target = file ?? (await openFile());
  const call = () => target[method]?.(...args);
  // The retry is for reads that meet a recovering log; the others wait by themselves and never throw BUSY.
  return role === "reader" ? retryBusy(call, options.busyTimeoutMs) : call();
}
