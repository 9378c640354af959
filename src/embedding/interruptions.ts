/** Pending operations that can be rejected early: one by its caller's signal, or all at once. */

export type Interrupt = (reason: unknown) => void;

/** Starts an operation; returns a clean-up function, which is called when it ends for any reason. */
export type Start<T> = (resolve: (value: T) => void, reject: Interrupt) => () => void;

export class Interruptions {
  readonly #running = new Set<Interrupt>();

  /** Rejects with the signal's reason when it is aborted, or if it already is. */
  async run<T>(signal: AbortSignal | undefined, start: Start<T>): Promise<T> {
    signal?.throwIfAborted();
    let finish = (): void => {};
    let interrupt: Interrupt = () => {};
    const abort = (): void => interrupt(signal?.reason);
    try {
      return await new Promise<T>((resolve, reject) => {
        interrupt = reject;
        this.#running.add(interrupt);
        signal?.addEventListener("abort", abort);
        finish = start(resolve, reject);
      });
    } finally {
      this.#running.delete(interrupt);
      signal?.removeEventListener("abort", abort);
      finish();
    }
  }

  /** Rejects all pending operations. */
  interruptAll(reason: unknown): void {
    for (const interrupt of this.#running) interrupt(reason);
  }
}
