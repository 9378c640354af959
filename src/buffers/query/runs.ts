/**
 * Runs: so many at a time, the rest in the order of their coming. The store's reading threads do one thing after the other,
 * so more searches at once would be no faster; their answers would only arrive in heaps, and the event loop would stand
 * still until the whole heap is worked through.
 */
export class Runs {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room; the function that it gives makes room for the next. */
  async enter(): Promise<() => void> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    return () => this.#leave();
  }

  /** The place goes from hand to hand, so that nobody overtakes those who wait. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}
