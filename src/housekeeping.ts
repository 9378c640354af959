/** Housekeeping: once a minute, removes expired items and runs the store's maintenance. */
import type { Clock } from "./clock.js";
import { HoldfastError } from "./errors.js";
import type { Store } from "./stores/store.js";

const EVERY_MS = 60_000;

export class Housekeeping {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #forgetExpired: () => Promise<unknown>;
  readonly #stopping = new AbortController();
  #cancel: () => void;
  #sweeping: Promise<void> | undefined;

  constructor(clock: Clock, store: Store, forgetExpired: () => Promise<unknown>) {
    this.#clock = clock;
    this.#store = store;
    this.#forgetExpired = forgetExpired;
    this.#cancel = this.#schedule();
  }

  #schedule(): () => void {
    return this.#clock.after(EVERY_MS, () => {
      this.#cancel = this.#schedule();
      // If the store is busy or fails, the next sweep tries again. Expired items are invisible in the meantime.
      this.sweep().catch((error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error;
      });
    });
  }

  /** Runs a sweep, or joins the current one. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    await this.#forgetExpired();
    await this.#store.maintain(this.#clock.now(), this.#stopping.signal);
  }

  /** Resolves when no sweep is running. */
  async stop(): Promise<void> {
    this.#cancel();
    this.#stopping.abort();
    await this.#sweeping?.catch(() => undefined); // the caller of that sweep gets its error
  }
}
