/**
 * Delays the exit of the process while native code runs in the embedding thread. Node terminates threads when the
 * process exits; if onnxruntime-node returns from a run into a thread that is being terminated, it aborts the process,
 * so a program that calls `process.exit(0)` during embedding would die with a signal. Therefore the thread passes a
 * gate before each native call, and an exit closes the gate and waits until the current call is done: one text, a few
 * milliseconds.
 *
 * Two shared words hold whether a call is inside and whether the gate is shut. Each side writes its own word before it
 * reads the other's, so that never both proceed.
 */
const INSIDE = 0;
const SHUT = 1;

/** Loading takes longest, about 0.3 s. A native call that hangs must not block the exit for ever. */
const EXIT_WAIT_MS = 5_000;

export class NativeGate {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(shared = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.#words = new Int32Array(shared);
  }

  /** In the embedding thread: runs native work, one at a time. Never settles once the gate is shut. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    Atomics.store(this.#words, INSIDE, 1);
    try {
      if (Atomics.load(this.#words, SHUT) === 1) return await this.#park();
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** In the main thread, at its exit: admits no further work, and waits until none is inside. */
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
