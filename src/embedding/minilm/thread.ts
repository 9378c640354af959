/** The embedding thread, as seen from the main thread: sends questions and returns promises. */
import type { Worker } from "node:worker_threads";
import { fromRecord, HoldfastError } from "../../errors.js";
import { startThread } from "../../worker-thread.js";
import type { ModelChoice, ThreadData } from "./choice.js";
import { NativeGate } from "./native-gate.js";
import type { Order, Question, Report } from "./worker.js";

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A pending question. */
export interface PendingAnswer<T> {
  readonly answer: Promise<T>;
  /** Rejects the answer with `reason`, if it is still pending, and cancels its remaining work. */
  drop(reason: unknown): void;
}

export class ModelThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingCall>();
  readonly #ended: Promise<void>;
  #number = 0;
  #dead: HoldfastError | undefined;

  constructor(choice: ModelChoice) {
    const gate = new NativeGate();
    const shut = (): void => gate.shut();
    process.once("exit", shut);
    this.#worker = startThread(new URL("./worker.js", import.meta.url), {
      workerData: { ...choice, gate: gate.shared } satisfies ThreadData,
      name: "holdfast-embedder",
    });
    this.#worker.on("message", (report: Report) => this.#take(report));
    // A thread keeps the process alive only while a caller waits for its answer.
    this.#worker.on("online", () => this.#unrefIfIdle());
    this.#worker.on("error", (cause) => this.#die(lost(cause)));
    this.#ended = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        process.off("exit", shut);
        this.#die(lost());
        resolve();
      });
    });
  }

  /** A dead thread answers nothing; the caller starts another. */
  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  ask<T>(question: Question): PendingAnswer<T> {
    const number = ++this.#number;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      this.#waiting.set(number, { resolve, reject });
      this.#worker.ref();
      this.#tell({ order: "answer", number, question });
    });
    return { answer: answer as Promise<T>, drop: (reason) => this.#drop(number, reason) };
  }

  /** Lets the thread finish its current text, release its memory, and end. */
  async close(): Promise<void> {
    this.#worker.ref();
    this.#tell({ order: "close" });
    await this.#ended;
  }

  #tell(order: Order): void {
    this.#worker.postMessage(order);
  }

  #take(report: Report): void {
    if (report.report === "unusable") {
      this.#die(fromRecord(report.error));
      return;
    }
    const waiting = this.#waiting.get(report.number);
    this.#waiting.delete(report.number);
    this.#unrefIfIdle();
    if (report.report === "failure") waiting?.reject(fromRecord(report.error));
    else waiting?.resolve(report.value);
  }

  #drop(number: number, reason: unknown): void {
    const waiting = this.#waiting.get(number);
    if (!waiting) return;
    this.#waiting.delete(number);
    this.#unrefIfIdle();
    this.#tell({ order: "drop", number });
    waiting.reject(reason);
  }

  #unrefIfIdle(): void {
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #die(error: HoldfastError): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#dead);
    this.#waiting.clear();
  }
}

function lost(cause?: unknown): HoldfastError {
  return new HoldfastError("embedder_failed", "the embedding thread has ended unexpectedly", {
    hint: "nothing was embedded; repeat the call: it starts another thread",
    cause,
  });
}
