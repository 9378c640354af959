/**
 * A sieve of keys: says of most that they are not in it, sooner than a map does. Where a few are looked for among
 * thousands, that is most of the work. Of two keys that share a place it says the same.
 */
const PLACES = 8_192;

export class KeySieve {
  readonly #places = new Uint8Array(PLACES);

  add(key: number): void {
    this.#places[key % PLACES] = 1;
  }

  mayHave(key: number): boolean {
    return this.#places[key % PLACES] === 1;
  }
}
