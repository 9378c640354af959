/**
 * One embedding thread per process, however many memories are open: the model costs 100 MB or more. The first call
 * starts it, a call after its death starts it again, and it ends when the last embedder that used it is closed.
 */
import type { ModelChoice } from "./choice.js";
import { ModelThread } from "./thread.js";

/** By choice of files and runtime; outside tests there is one. */
const shared = new Map<string, SharedThread>();

export class SharedThread {
  readonly #choice: ModelChoice;
  readonly #key: string;
  #users = 0;
  #thread: ModelThread | undefined;

  private constructor(choice: ModelChoice, key: string) {
    this.#choice = choice;
    this.#key = key;
  }

  /** Registers a user, who calls `release` once. */
  static take(choice: ModelChoice): SharedThread {
    const key = JSON.stringify([choice.folder, choice.runtime]);
    const taken = shared.get(key) ?? new SharedThread(choice, key);
    shared.set(key, taken);
    taken.#users++;
    return taken;
  }

  /** The running thread. */
  get(): ModelThread {
    if (!this.#thread || this.#thread.isDead) this.#thread = new ModelThread(this.#choice);
    return this.#thread;
  }

  /** The last user ends the thread; a later call starts another. */
  async release(): Promise<void> {
    if (--this.#users > 0) return;
    shared.delete(this.#key);
    await this.#thread?.close();
  }
}
