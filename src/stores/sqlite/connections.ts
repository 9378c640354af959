/**
 * The threads and connections of a file, across reopens. A thread that ended is replaced. All errors are
 * HoldfastErrors.
 */
import { HoldfastError } from "../../errors.js";
import { readBusy } from "./file/connection.js";
import { IN_MEMORY } from "./file/driver.js";
import { asStoreError } from "./file/failure.js";
import { openInMemory } from "./in-memory.js";
import type { Reader } from "./reader.js";
import type { Searcher } from "./search/searcher.js";
import { type ArgumentsOf, LostThread, type ResultOf, type StorageThread } from "./thread.js";
import { closeThreads, endThreads, openThreads, type ReadingRole, type StorageThreads } from "./threads.js";
import type { ThreadOptions } from "./worker.js";
import type { Writer } from "./writer.js";

/** If a read on the main thread takes longer than this, the reader thread is started for the reads that follow. */
const BRIEF_MS = 5;

/** The part of the mirrors' memory that remains when memory is short. */
const CONSTRAINED_PART = 1 / 16;

export class Connections {
  readonly options: ThreadOptions;
  #threads: StorageThreads;
  #reopening: Promise<void> | undefined;
  /** The search thread that is being replaced. */
  #replaced: Promise<void> | undefined;
  #isConstrained = false;
  /** Why all reads and writes fail: the file was lost while it was open, or could not be reopened. */
  #failure: HoldfastError | undefined;
  #hasEnded = false;
  #isClosing = false;

  private constructor(options: ThreadOptions, threads: StorageThreads) {
    this.options = options;
    this.#threads = threads;
  }

  static async open(options: ThreadOptions, warm: readonly ReadingRole[]): Promise<Connections> {
    const threads = options.path === IN_MEMORY ? openInMemory(options) : openThreads(options, warm);
    return new Connections(options, await threads);
  }

  /** Waits for a reopen in progress. */
  async ready(): Promise<StorageThreads> {
    await this.#reopening;
    if (this.#isClosing) throw closed();
    if (this.#failure) throw this.#failure;
    return this.#threads;
  }

  /** Reads on the main thread. */
  async onMain<T>(read: (reader: Reader) => T): Promise<T> {
    const { mainReader } = await this.ready();
    return readBusy(() => read(mainReader), this.options.busyTimeoutMs);
  }

  /**
   * Reads on the main thread until the reader thread runs, so that a program that reads one page and exits starts no
   * thread. A slow read starts the thread for the reads that follow.
   */
  async brief<M extends keyof Reader>(method: M, ...args: ArgumentsOf<Reader[M]>): Promise<ResultOf<Reader[M]>> {
    const { reader } = await this.ready();
    if (reader.isAwake) return this.read(method, ...args);
    const started = performance.now();
    const value = await this.onMain((main) => Reflect.apply(main[method] as () => ResultOf<Reader[M]>, main, args));
    if (performance.now() - started > BRIEF_MS) reader.warm().catch(() => undefined); // the next call reports the error
    return value;
  }

  /** Reads in the reader thread. */
  read<M extends keyof Reader>(method: M, ...args: ArgumentsOf<Reader[M]>): Promise<ResultOf<Reader[M]>> {
    return repeated(async () => this.#call((await this.ready()).reader, method, args));
  }

  search<M extends keyof Searcher>(method: M, ...args: ArgumentsOf<Searcher[M]>): Promise<ResultOf<Searcher[M]>> {
    return repeated(async () => this.#call((await this.ready()).search, method, args));
  }

  /**
   * Replaces the search thread by one with less memory for mirrors, or with all of it. Only a thread that ends returns
   * its memory to the system. The next search starts the new one; searches in progress are finished by the old one.
   */
  async constrain(isConstrained: boolean): Promise<void> {
    await this.ready();
    if (isConstrained === this.#isConstrained) return this.#replaced;
    this.#isConstrained = isConstrained;
    const { search, newSearch } = this.#threads;
    this.#threads = { ...this.#threads, search: newSearch(this.searchOptions) };
    this.#replaced = Promise.allSettled([this.#replaced, search.close()]).then(() => undefined);
    await this.#replaced;
  }

  /** The options of the search thread at present. */
  get searchOptions(): ThreadOptions {
    const { mirrorBytes } = this.options;
    if (!this.#isConstrained) return this.options;
    return { ...this.options, mirrorBytes: Math.floor(mirrorBytes * CONSTRAINED_PART), isConstrained: true };
  }

  /** Reads in the writer thread. */
  readWriter<M extends keyof Writer>(method: M, ...args: ArgumentsOf<Writer[M]>): Promise<ResultOf<Writer[M]>> {
    return repeated(() => this.write(method, ...args));
  }

  /** Calls the writer. Never retried, because a writer that was lost may already have written. */
  async write<M extends keyof Writer>(method: M, ...args: ArgumentsOf<Writer[M]>): Promise<ResultOf<Writer[M]>> {
    if (!(await this.ready()).writer.isRunning) await this.reopen();
    return this.#call((await this.ready()).writer, method, args);
  }

  async #call<T, M extends keyof T>(thread: StorageThread<T>, method: M, args: ArgumentsOf<T[M]>) {
    try {
      return await thread.call(method, ...args);
    } catch (error) {
      if (isUnsafe(error)) this.#failure ??= error;
      throw error;
    }
  }

  /**
   * Reopens the file. A write in progress ends with an unknown outcome. Calls wait until the reopen is done; concurrent
   * reopens share one.
   */
  reopen(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #reopen(): Promise<void> {
    if (this.#isClosing) throw closed();
    if (isUnsafe(this.#failure)) throw this.#failure;
    if (this.options.path === IN_MEMORY) return; // nothing to reopen
    const { file } = this.#threads;
    await this.#end();
    try {
      const threads = await openThreads({ ...this.options, file }, []);
      this.#threads = { ...threads, search: threads.newSearch(this.searchOptions) };
      this.#hasEnded = false;
      this.#failure = undefined;
    } catch (cause) {
      this.#failure = isUnsafe(cause) ? cause : notReopened(cause);
      throw this.#failure;
    }
  }

  async #end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await endThreads(this.#threads);
  }

  /** Must be called at most once. Rejects if the file was lost: the last writes may not be in the file at this path. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#replaced;
    if (!this.#failure) return closeThreads(this.#threads);
    await this.#end();
    if (isUnsafe(this.#failure)) throw this.#failure;
  }
}

/** Retries the read once, in a new thread, if its thread is lost before it answers. */
async function repeated<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof LostThread)) throw error;
    return read();
  }
}

const isUnsafe = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code === "store_unsafe";

const closed = (): HoldfastError => new HoldfastError("closed", "the store is closed", { hint: "open it again" });

function notReopened(cause: unknown): HoldfastError {
  const { hint } = asStoreError(cause);
  return new HoldfastError("store_failed", "the memory's file could not be opened again", { cause, hint });
}
