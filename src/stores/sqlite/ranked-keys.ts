/** Items by score. They are thousands, of which mostly the first hundred are wanted: those are found without sorting. */
import { type Near, Nearest } from "../../retrieval/vectors/nearest.js";

export class RankedKeys {
  readonly #keys: readonly number[];
  readonly #scores: ArrayLike<number>;
  #sorted: readonly Near[] | undefined;

  constructor(keys: readonly number[], scores: ArrayLike<number>) {
    this.#keys = keys;
    this.#scores = scores;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** From one place of the ranking to before another: the best first, ties newest first. */
  slice(from: number, to: number): readonly Near[] {
    if (from === 0) return this.#best(to);
    this.#sorted ??= this.#best(this.size);
    return this.#sorted.slice(from, to);
  }

  #best(count: number): readonly Near[] {
    const best = new Nearest(count);
    for (let place = 0; place < this.size; place++)
      best.offer(this.#keys[place] as number, this.#scores[place] as number);
    return best.best();
  }
}
