/** Keeper: what has to happen by itself, once a minute: expired items go, and the store does its housekeeping. */
import type { Clock } from "./clock.js";
import { HoldfastError } from "./errors.js";
import type { Store } from "./stores/store.js";

const EVERY_MS = 60_000;

export class Keeper {
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
      // A busy or failing store is met again in a minute; expired items are invisible meanwhile.
      this.sweep().catch((error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error;
      });
    });
  }

  /** One sweep at a time. */
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

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#cancel();
    this.#stopping.abort();
    await this.#sweeping?.catch(() => undefined); // whoever asked for that sweep has its error
  }
}
