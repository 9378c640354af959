/** The threads and connections of an open file. */
import { existsSync } from "node:fs";
import { systemClock, within } from "../../clock.js";
import { connect, readBusy } from "./file/connection.js";
import { refuseCutShort, refuseOdd } from "./file/file.js";
import { Reader } from "./reader.js";
import type { Searcher } from "./search/searcher.js";
import { type StorageThread, Thread } from "./thread.js";
import type { ThreadOptions } from "./worker.js";
import type { Writer } from "./writer.js";

/** How long opening waits for vectors to load. A search right after opening would have to wait for them anyway. */
const WARM_MS = 50;

export type ReadingRole = "reader" | "search";

export interface StorageThreads {
  /** The id of the file that the writer opened. The other threads open that file or fail. */
  readonly file: string;
  readonly writer: StorageThread<Writer>;
  readonly reader: StorageThread<Reader>;
  readonly search: StorageThread<Searcher>;
  /** Another search thread, which its first call starts. */
  readonly newSearch: (options: ThreadOptions) => StorageThread<Searcher>;
  /** Reads on the main thread. */
  readonly mainReader: Reader;
}

/**
 * Opens the threads and the main thread's connection. The writer creates, checks and migrates the file that the others
 * read. The search thread and the main thread's connection only read, so they start before the writer is done: an
 * existing file usually has the current schema version. If it does not, their opening fails and is retried after the
 * migration.
 */
export async function openThreads(options: ThreadOptions, warm: readonly ReadingRole[]): Promise<StorageThreads> {
  refuseOdd(options.path); // before a thread opens the file
  refuseCutShort(options.path);
  const writer = new Thread<Writer>("writer", options);
  const opening = writer.call("fileId");
  const isThere = existsSync(options.path);
  const early = isThere && warm.includes("search") ? new Thread<Searcher>("search", options) : undefined;
  const loading = early?.warm().catch(() => undefined); // the first call reports the error
  const earlyReader = isThere ? tried(() => openMainReader(options)) : undefined;
  try {
    const file = await opening;
    const known = { ...options, file };
    const reader = new Thread<Reader>("reader", known);
    const search = early ?? new Thread<Searcher>("search", known);
    const warming = {
      reader: () => reader.warm(file),
      search: () => Promise.resolve(loading).then(() => search.warm(file)),
    };
    for (const role of warm) warming[role]().catch(() => undefined);
    const mainReader = earlyReader ?? (await readBusy(() => openMainReader(known), options.busyTimeoutMs));
    if (loading) await within(systemClock, WARM_MS, loading);
    const newSearch = (changed: ThreadOptions) => new Thread<Searcher>("search", { ...changed, file });
    return { file, writer, reader, search, newSearch, mainReader };
  } catch (error) {
    earlyReader?.close();
    await Promise.all([writer.end(), early?.end()]);
    throw error;
  }
}

export async function endThreads({ writer, reader, search, mainReader }: StorageThreads): Promise<void> {
  for (const thread of [writer, reader, search]) await thread.end();
  mainReader.close();
}

/**
 * Closes the threads, the writer last, because closing it copies the log into the file. If the file was replaced, no
 * connection may copy the log. Only the last connection to close copies it, so all others end while the one that cannot
 * write is still open.
 */
export async function closeThreads(threads: StorageThreads): Promise<void> {
  const { writer, reader, search, mainReader } = threads;
  try {
    await writer.call("assertInPlace");
  } catch (error) {
    await endThreads(threads);
    throw error;
  }
  mainReader.close();
  const readers = await Promise.allSettled([reader.close(), search.close()]);
  await writer.close(); // last, so that it can remove the log
  for (const closed of readers) if (closed.status === "rejected") throw closed.reason;
}

const openMainReader = ({ path, file }: ThreadOptions): Reader => new Reader(connect(path, "main", file), path);

/** Returns undefined on failure. A later attempt reports the error. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
