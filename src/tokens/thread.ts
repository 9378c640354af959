/**
 * The counting threads of this process: one per encoding, shared by all its counters. A thread is started by the first
 * call, keeps the process alive only while a caller waits for its answer, and ends when it has been idle for a minute
 * (it holds up to 100 MB) or when its last user is gone.
 */
import type { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { startThread } from "../worker-thread.js";
import type { EncodingName } from "./models.js";
import type { CountingAnswer, CountingCall } from "./worker.js";

export const IDLE_MS = 60_000;

interface PendingCall {
  readonly resolve: (counts: readonly number[]) => void;
  readonly reject: (error: Error) => void;
}

const threads = new Map<EncodingName, CountingThread>();

export class CountingThread {
  readonly #encoding: EncodingName;
  readonly #waiting = new Map<number, PendingCall>();
  #users = 0;
  #number = 0;
  #worker: Worker | undefined;
  /** The clock of the last caller. */
  #clock: Clock = systemClock;
  #cancelIdle: () => void = () => {};

  private constructor(encoding: EncodingName) {
    this.#encoding = encoding;
  }

  /** The process's thread for this encoding, to be returned with `release`. Starts nothing yet. */
  static acquire(encoding: EncodingName): CountingThread {
    const thread = threads.get(encoding) ?? new CountingThread(encoding);
    threads.set(encoding, thread);
    thread.#users++;
    return thread;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  count(texts: readonly string[], clock: Clock): Promise<readonly number[]> {
    this.#cancelIdle();
    this.#clock = clock;
    const worker = this.#worker ?? this.#start();
    const number = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      worker.ref();
      worker.postMessage({ number, texts } satisfies CountingCall);
    });
  }

  /** Requires that the user has no pending calls. */
  async release(): Promise<void> {
    if (--this.#users > 0) return;
    threads.delete(this.#encoding);
    await this.#end();
  }

  #start(): Worker {
    const worker = startThread(new URL("./worker.js", import.meta.url), {
      workerData: this.#encoding,
      name: "holdfast-tokens",
    });
    worker.on("message", ({ number, counts }: CountingAnswer) => {
      this.#waiting.get(number)?.resolve(counts);
      this.#waiting.delete(number);
      if (this.#waiting.size === 0) this.#rest(worker);
    });
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", () => this.#lose(worker));
    this.#worker = worker;
    return worker;
  }

  #rest(worker: Worker): void {
    worker.unref();
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => void this.#end());
  }

  async #end(): Promise<void> {
    this.#cancelIdle();
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** The thread has died: pending calls are rejected, and the next call starts another thread. */
  #lose(worker: Worker, cause?: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const lost = new HoldfastError("embedder_failed", "the token counting thread has ended unexpectedly", {
      hint: "repeat the call: it starts another thread",
      cause,
    });
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
  }
}
