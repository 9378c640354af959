/** Work that is done one after the other where it has the same key, in the order it was asked for; none at once. */
export class OneByOne {
  /** Resolves when all work of the key that was asked for so far has ended; never rejects. */
  readonly #ended = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#ended.get(key) ?? Promise.resolve()).then(work);
    const ended = done.then(
      () => {},
      () => {}, // its own caller is told
    );
    this.#ended.set(key, ended);
    try {
      return await done;
    } finally {
      if (this.#ended.get(key) === ended) this.#ended.delete(key);
    }
  }
}
