/** KeyedMutex: runs work with the same key one at a time, in call order. */
export class KeyedMutex {
  /** For each key, a promise that resolves when all work so far has ended. It never rejects. */
  readonly #ended = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#ended.get(key) ?? Promise.resolve()).then(work);
    const ended = done.then(
      () => {},
      () => {}, // the caller of that work gets the error
    );
    this.#ended.set(key, ended);
    try {
      return await done;
    } finally {
      if (this.#ended.get(key) === ended) this.#ended.delete(key);
    }
  }
}
