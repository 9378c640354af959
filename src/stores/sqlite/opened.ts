/** The threads and connections of an open file. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../errors.js";
import { retryBusy } from "./busy.js";
import { Reader } from "./reader.js";
import { SMALL_ITEMS } from "./small.js";
import { Thread } from "./thread.js";
import type { ThreadOptions } from "./worker.js";

/** How long opening waits for vectors that are being loaded: a question right after it would have to. */
const WARM_MS = 50;

export type ReadingRole = "reader" | "vectors";

/** Reading threads that are there already; the others start with their first call. */
type Reading = { readonly [role in ReadingRole]?: Thread };

/** The connections. The readers' threads start with their first call: a process that only adds does not pay for them. */
export class Opened {
  readonly writer: Thread;
  readonly peek: Reader;
  readonly #options: ThreadOptions;
  #reader: Thread | undefined;
  #vectors: Thread | undefined;
  #waking: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;
  #isOver = false;

  constructor(writer: Thread, peek: Reader, options: ThreadOptions, reading: Reading) {
    this.writer = writer;
    this.peek = peek;
    this.#options = options;
    this.#reader = reading.reader;
    this.#vectors = reading.vectors;
  }

  /** If a reading thread has ended, for want of memory perhaps, another takes its place: all that it knew is in the file. */
  get reader(): Thread {
    this.#reader = this.livingReader ?? this.#start("reader", this.#reader);
    return this.#reader;
  }

  get livingReader(): Thread | undefined {
    return this.#reader?.isDead === false ? this.#reader : undefined;
  }

  /** The reader's thread, once it has started. */
  get awakeReader(): Thread | undefined {
    return this.#reader?.isAwake ? this.#reader : undefined;
  }

  /** Starts the reader's thread in a while, if it has not been needed by then: as long as it starts, all else is slower. */
  wakeReader(ms: number): void {
    const at = performance.now() + ms;
    if (this.#reader || this.#isOver || at >= (this.#waking?.at ?? Infinity)) return;
    clearTimeout(this.#waking?.timer);
    const wake = () => this.reader.call("warm").catch(() => undefined); // whatever it is, the first call will tell
    this.#waking = { at, timer: setTimeout(wake, ms).unref() };
  }

  get vectors(): Thread {
    this.#vectors = this.livingVectors ?? this.#start("vectors", this.#vectors);
    return this.#vectors;
  }

  /** Whoever still asks when all is over gets the one that has ended, which says so; nothing is started any more. */
  #start(role: ReadingRole, before: Thread | undefined): Thread {
    if (this.#isOver && before) return before;
    if (this.#isOver) throw new HoldfastError("closed", "the store is closed", { hint: "open it again" });
    return new Thread({ role, options: this.#options });
  }

  get livingVectors(): Thread | undefined {
    return this.#vectors?.isDead === false ? this.#vectors : undefined;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#waking?.timer);
    await this.writer.end();
    await this.#reader?.end();
    await this.#vectors?.end();
    this.peek.close();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#waking?.timer);
    this.peek.close();
    await this.livingReader?.close();
    await this.livingVectors?.close();
    await this.writer.close();
  }
}

/**
 * The writer makes, checks and migrates the file that the others read. Those that change nothing, the vectors thread and the
 * connection of the main thread, begin before it is done: a file that is there is mostly one of this version. If it is not,
 * that fails, and is tried again in its turn.
 */
export async function openThreads(options: ThreadOptions, warm: readonly ReadingRole[]): Promise<Opened> {
  const writer = new Thread({ role: "writer", options });
  const reading: Reading = Object.fromEntries(warm.map((role) => [role, new Thread({ role, options })]));
  const isThere = existsSync(options.path);
  const early = isThere ? reading.vectors?.call("warm") : undefined;
  const loading = early?.catch(() => undefined); // nobody may come to ask
  const earlyPeek = isThere ? tried(() => openPeek(options, warm.length > 0)) : undefined;
  try {
    await writer.call("stats");
    for (const thread of Object.values(reading)) {
      const isUnderWay = early && thread === reading.vectors;
      const warming = isUnderWay ? early.catch(() => thread.call("warm")) : thread.call("warm");
      warming.catch(() => undefined); // the first call will tell
    }
    const peek = earlyPeek ?? (await retryBusy(() => openPeek(options, warm.length > 0), options.busyTimeoutMs));
    await within(WARM_MS, loading);
    return new Opened(writer, peek, options, reading);
  } catch (error) {
    earlyPeek?.close();
    await Promise.all([writer, ...Object.values(reading)].map((thread) => thread.end()));
    throw error;
  }
}

function openPeek({ path, rosterBytes }: ThreadOptions, isWarm: boolean): Reader {
  const peek = new Reader(path, "peek", { bytes: rosterBytes / 2, itemsMax: SMALL_ITEMS });
  if (isWarm) peek.warm();
  return peek;
}

/** Waits no longer than this. */
async function within(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  if (!work) return;
  const done = new AbortController();
  const tooLong = sleep(ms, undefined, { signal: done.signal }).catch(() => undefined);
  await Promise.race([work, tooLong]);
  done.abort();
}

/** Undefined if it fails: it is tried again, and tells then. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
