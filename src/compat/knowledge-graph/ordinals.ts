/** Counts earlier occurrences of the same texts: 0 the first time. */
export class Ordinals {
  readonly #seen = new Map<string, number>();

  next(...texts: readonly string[]): number {
    const key = texts.length === 1 ? (texts[0] ?? "") : JSON.stringify(texts);
    const ordinal = this.#seen.get(key) ?? 0;
    this.#seen.set(key, ordinal + 1);
    return ordinal;
  }
}
