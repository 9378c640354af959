/** What runs or waits for somebody, and can be ended before its time: by the caller's signal, or all at once. */

export type Interrupt = (reason: unknown) => void;

/** Begins something; returns what to do when it is over, for whatever reason. */
export type Start<T> = (resolve: (value: T) => void, reject: Interrupt) => () => void;

export class Interruptions {
  readonly #running = new Set<Interrupt>();

  /** Rejects with the signal's reason when that is aborted, also if it was before. */
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

  /** Rejects everything that runs now. */
  interruptAll(reason: unknown): void {
    for (const interrupt of this.#running) interrupt(reason);
  }
}
