/**
 * Keeps the process from ending while native code runs in the embedding thread. Node ends a thread whose process exits
 * at once; onnxruntime-node, when it comes back from a run into a thread that is being ended, aborts the whole process:
 * a program that calls `process.exit(0)` while something is embedded would die with a signal. So the thread goes
 * through a gate before each native call, and an exit shuts the gate and waits for whoever is inside: one text, some
 * milliseconds.
 *
 * Two shared words: who is inside, and whether the gate is shut. Each side writes its own before it reads the other's,
 * so that never both go on.
 */
const INSIDE = 0;
const SHUT = 1;

/** Loading takes the longest, about 0.3 s; a native call that hangs must not hold up the exit for ever. */
const EXIT_WAIT_MS = 5_000;

export class NativeGate {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(shared = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.#words = new Int32Array(shared);
  }

  /** In the embedding thread: does native work. Never settles once the gate is shut. One at a time. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    Atomics.store(this.#words, INSIDE, 1);
    try {
      if (Atomics.load(this.#words, SHUT) === 1) return await this.#park();
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** In the main thread, at its exit: lets nobody in any more, and waits until nobody is inside. */
  shut(): void {
    Atomics.store(this.#words, SHUT, 1);
    Atomics.wait(this.#words, INSIDE, 1, EXIT_WAIT_MS);
  }

  #leave(): void {
    Atomics.store(this.#words, INSIDE, 0);
    Atomics.notify(this.#words, INSIDE);
  }

  #park(): Promise<never> {
    this.#leave();
    return new Promise(() => undefined);
  }
}
