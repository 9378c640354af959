/** Opens a store in memory. It runs the same code as a file store, on one connection and without threads. */
import { KeyedMutex } from "../../keyed-mutex.js";
import { connectInMemory } from "./file/connection.js";
import type { Database } from "./file/driver.js";
import { asStoreError } from "./file/failure.js";
import { Reader } from "./reader.js";
import { Searcher } from "./search/searcher.js";
import type { ArgumentsOf, ResultOf, StorageThread } from "./thread.js";
import type { StorageThreads } from "./threads.js";
import type { ThreadOptions } from "./worker.js";
import { Writer } from "./writer.js";

export async function openInMemory(options: ThreadOptions): Promise<StorageThreads> {
  const database = connectInMemory();
  const writer = new InlineThread(await Writer.inMemory(options, database)); // first: it creates the tables
  const shared = withoutClose(database); // the writer closes it, last
  const mainReader = new Reader(shared, options.path);
  const newSearch = (changed: ThreadOptions) => new InlineThread(new Searcher(shared, changed));
  return {
    file: "",
    writer,
    reader: new InlineThread(mainReader),
    search: newSearch(options),
    newSearch,
    mainReader,
  };
}

const withoutClose = (database: Database): Database => ({
  exec: (sql) => database.exec(sql),
  prepare: (sql) => database.prepare(sql),
  close: () => {},
  get isTransaction() {
    return database.isTransaction;
  },
});

/** A StorageThread that runs calls on the calling thread, one at a time. */
class InlineThread<T extends { close(): unknown }> implements StorageThread<T> {
  readonly #target: T;
  readonly #calls = new KeyedMutex();
  #isRunning = true;

  constructor(target: T) {
    this.#target = target;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isAwake(): boolean {
    return this.#isRunning;
  }

  /** Copies arguments and results, as between threads, so that callers share no objects with the store. */
  call<M extends keyof T>(method: M, ...args: ArgumentsOf<T[M]>): Promise<ResultOf<T[M]>> {
    const given = structuredClone(args);
    return this.#calls.run("", async () => {
      try {
        const target = this.#target[method] as (...args: readonly unknown[]) => unknown;
        return structuredClone(await target.apply(this.#target, given)) as ResultOf<T[M]>;
      } catch (error) {
        throw asStoreError(error);
      }
    });
  }

  async warm(): Promise<void> {}

  async close(): Promise<void> {
    await this.end();
  }

  async end(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await this.#calls.run("", async () => {
      await this.#target.close();
    });
  }
}
