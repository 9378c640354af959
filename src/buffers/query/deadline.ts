/** A deadline that several steps share. Work that is not done by then goes on, but nobody waits for it. */
import type { Clock } from "../../clock.js";

export class Deadline {
  readonly #passed: Promise<undefined> | undefined;
  #cancel: () => void = () => {};

  /** Without a time there is no end to waiting. */
  constructor(clock: Clock, ms: number | undefined) {
    if (ms === undefined) return;
    this.#passed = new Promise((resolve) => {
      this.#cancel = clock.after(ms, () => resolve(undefined));
    });
  }

  /** The result, or undefined if it is not there in time. A failure after that is nobody's. */
  within<T>(work: Promise<T>): Promise<T | undefined> {
    if (!this.#passed) return work;
    work.catch(() => undefined); // whoever is still waiting gets it through the race
    return Promise.race([work, this.#passed]);
  }

  clear(): void {
    this.#cancel();
  }
}
