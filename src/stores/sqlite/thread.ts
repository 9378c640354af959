/** A storage thread as the main thread sees it: calls out, promises back. */
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type ErrorRecord, fromRecord, HoldfastError } from "../../errors.js";
import { type PackedFound, unpackScored } from "./scored-pack.js";
import type { Call, ThreadData } from "./worker.js";

const LEAVE_MS = 2_000;

interface Answer {
  readonly number: number;
  readonly value?: unknown;
  readonly found?: PackedFound;
  readonly error?: ErrorRecord;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #isEnding = false;
  #isAwake = false;
  #dead: Error | undefined;

  constructor(data: ThreadData) {
    // execArgv: a program given by `node -e` or `--input-type` must not hand those flags to a thread that is a file.
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      execArgv: [],
      workerData: data,
      name: `holdfast-${data.role}`,
    });
    this.#worker.on("message", (answer: Answer) => {
      this.#isAwake = true;
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      this.#unrefIfIdle();
      if (answer.error) waiting?.reject(fromRecord(answer.error));
      else waiting?.resolve(answer.found ? unpackScored(answer.found) : answer.value);
    });
    // A thread keeps the process alive only while someone waits for its answer.
    this.#worker.on("online", () => this.#unrefIfIdle());
    this.#worker.on("error", (error) => this.#die(error));
    this.#worker.on("exit", () => this.#die(new Error("the storage thread has ended")));
  }

  /** Whether it has started and answered; that takes a while. */
  get isAwake(): boolean {
    return this.#isAwake && !this.isDead;
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  call<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    if (this.#dead) return Promise.reject(this.#lost());
    const number = ++this.#number;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.ref();
      this.#worker.postMessage({ number, method, args } satisfies Call);
    });
  }

  #unrefIfIdle(): void {
    if (this.#waiting.size === 0 && !this.#isEnding) this.#worker.unref();
  }

  /** Lets the thread finish what it was given, close its connection, and end. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once("exit", resolve));
    await this.call("close");
    this.#worker.ref();
    await ended;
  }

  /**
   * Ends the thread, cleaning nothing up: it is asked to leave, and if it does not within a moment it is ended whatever
   * it does. (Asked first, because the driver can abort the whole process when its thread is ended in a native call.)
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#worker.ref(); // else a process that waits for nothing else would end here, in the middle of an add
    if (!this.#dead) {
      const left = new Promise((resolve) => this.#worker.once("exit", resolve));
      this.call("leave").catch(() => undefined); // it leaves all the same
      await Promise.race([left, sleep(LEAVE_MS, undefined, { ref: false })]);
    }
    await this.#worker.terminate();
  }

  #die(cause: Error): void {
    this.#dead ??= cause;
    const lost = this.#lost();
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
  }

  /** Nobody knows how far the thread came with what it was doing. */
  #lost(): HoldfastError {
    return new HoldfastError("outcome_unknown", "the storage thread has ended unexpectedly", { cause: this.#dead });
  }
}
