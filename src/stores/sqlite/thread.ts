/** The main thread's proxy of a storage thread: it posts calls and returns promises. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { type ErrorRecord, fromRecord, HoldfastError } from "../../errors.js";
import { startThread } from "../../worker-thread.js";
import type { Call, ThreadData, ThreadOptions, ThreadRole } from "./worker.js";

/** How long a thread that was told to leave may take before it is terminated. */
const LEAVE_MS = 2_000;

interface Answer {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: ErrorRecord;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The thread ended before it answered. Its work may or may not be done; a read can be retried in another thread. */
export class LostThread extends HoldfastError {
  constructor(cause: unknown) {
    super("store_failed", "a storage thread has ended unexpectedly", {
      cause,
      hint: "try again; if it happens again, give the process more memory",
    });
  }
}

export type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never;
export type ResultOf<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

/** Runs calls of the methods of `T`. */
export interface StorageThread<T> {
  /** Whether the thread was started and has not ended. */
  readonly isRunning: boolean;
  /** Whether the thread has answered a call since it was started. */
  readonly isAwake: boolean;
  call<M extends keyof T>(method: M, ...args: ArgumentsOf<T[M]>): Promise<ResultOf<T[M]>>;
  /** Opens the file, if it still has this id, and preloads data. */
  warm(file?: string): Promise<void>;
  /** Finishes the calls in its queue, closes its connection, and ends. */
  close(): Promise<void>;
  /** Ends without cleaning up. */
  end(): Promise<void>;
}

/**
 * A worker thread. The first call starts it, so a process that only adds does not pay for reading threads. A thread
 * that ended unexpectedly is restarted by the next call, except the writer: its file must be reopened, because it may
 * have been writing.
 */
export class Thread<T> implements StorageThread<T> {
  readonly #role: ThreadRole;
  #options: ThreadOptions;
  readonly #waiting = new Map<number, PendingCall>();
  #worker: Worker | undefined;
  #number = 0;
  #isAwake = false;
  #isEnding = false;
  /** Why the thread ended. */
  #cause: Error | undefined;

  constructor(role: ThreadRole, options: ThreadOptions) {
    this.#role = role;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  get isAwake(): boolean {
    return this.#isAwake;
  }

  call<M extends keyof T>(method: M, ...args: ArgumentsOf<T[M]>): Promise<ResultOf<T[M]>> {
    return this.#post(method as string, args);
  }

  warm(file?: string): Promise<void> {
    if (file !== undefined) this.#options = { ...this.#options, file };
    return this.#post("warm", [], file);
  }

  #post<R>(method: string, args: readonly unknown[], file?: string): Promise<R> {
    if (this.#isEnding || (this.#cause && this.#role === "writer")) return Promise.reject(new LostThread(this.#cause));
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const number = ++this.#number;
    return new Promise<R>((resolve, reject) => {
      this.#waiting.set(number, { resolve: resolve as (value: unknown) => void, reject });
      worker.ref();
      worker.postMessage({ number, method, args, file } satisfies Call);
    });
  }

  #start(): Worker {
    const workerData: ThreadData = { role: this.#role, options: this.#options };
    const worker = startThread(new URL("./worker.js", import.meta.url), {
      workerData,
      name: `holdfast-${this.#role}`,
    });
    worker.on("message", (answer: Answer) => {
      this.#isAwake = true;
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      this.#unrefIfIdle(worker);
      if (answer.error) waiting?.reject(fromRecord(answer.error));
      else waiting?.resolve(answer.value);
    });
    // A thread keeps the process alive only while a call waits for its answer.
    worker.on("online", () => this.#unrefIfIdle(worker));
    worker.on("error", (error) => this.#die(worker, error));
    worker.on("exit", () => this.#die(worker, new Error("the storage thread has ended")));
    return worker;
  }

  #unrefIfIdle(worker: Worker): void {
    if (this.#waiting.size === 0 && !this.#isEnding) worker.unref();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) {
      this.#isEnding = true;
      return;
    }
    const ended = exitOf(worker);
    try {
      const closed = this.#post("close", []);
      this.#isEnding = true;
      await closed;
    } finally {
      worker.ref();
      if (this.#worker) await ended;
    }
  }

  /**
   * Tells the thread to leave, and terminates it if it does not leave in time. Terminating at once is unsafe: the
   * driver can abort the whole process if its thread is terminated during a native call.
   */
  async end(): Promise<void> {
    const worker = this.#worker;
    if (!worker) {
      this.#isEnding = true;
      return;
    }
    const left = exitOf(worker);
    this.#post("leave", []).catch(() => undefined); // the thread leaves anyway
    this.#isEnding = true;
    worker.ref(); // otherwise a process with nothing else to wait for would exit here, in the middle of an add
    await Promise.race([left, sleep(LEAVE_MS, undefined, { ref: false })]);
    await worker.terminate();
  }

  #die(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#isAwake = false;
    this.#cause = cause;
    for (const { reject } of this.#waiting.values()) reject(new LostThread(cause));
    this.#waiting.clear();
  }
}

const exitOf = (worker: Worker): Promise<unknown> => new Promise((resolve) => worker.once("exit", resolve));
