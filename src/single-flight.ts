/**
 * SingleFlight: concurrent calls with the same key share one run. A failure rejects all of them. No result is cached.
 */
export class SingleFlight<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  /** The run in progress for this key, if any. */
  find(key: string): Promise<T> | undefined {
    return this.#underWay.get(key);
  }

  /** Starts a run. It is no longer in progress when its callers continue. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const flight: Promise<T> = work().finally(() => {
      if (this.#underWay.get(key) === flight) this.#underWay.delete(key);
    });
    this.#underWay.set(key, flight);
    return flight;
  }

  /** Prevents later calls from joining the run in progress for this key. */
  leave(key: string): void {
    this.#underWay.delete(key);
  }

  /** Prevents later calls from joining the runs in progress. */
  clear(): void {
    this.#underWay.clear();
  }
}
