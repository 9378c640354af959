/** How high the scores of items can be, of all that are offered. For spaces that are small enough to tell of every item. */
import { type Near, Nearest, type Offered } from "./nearest.js";

export class Bounds implements Offered {
  readonly least = Number.NEGATIVE_INFINITY;
  readonly #keys: Float64Array;
  readonly #most: Float64Array;
  #size = 0;
  /** Those that were asked for last: fewer are their beginning. */
  #nearest: readonly Near[] = [];

  /** Takes so many items. */
  constructor(items: number) {
    this.#keys = new Float64Array(items);
    this.#most = new Float64Array(items);
  }

  offer(key: number, bound: number): void {
    if (!(bound >= this.least)) return; // what is no number
    this.#keys[this.#size] = key;
    this.#most[this.#size++] = bound;
  }

  /** So many with the highest, best first. All are offered by then. */
  nearest(count: number): readonly Near[] {
    if (count > this.#nearest.length && this.#nearest.length < this.#size) {
      const nearest = new Nearest(count);
      for (let at = 0; at < this.#size; at++) nearest.offer(this.#keys[at] as number, this.#most[at] as number);
      this.#nearest = nearest.best();
    }
    return this.#nearest.slice(0, count);
  }

  /** How many may be among so many best, if bounds are half of the slack too high, as most are. */
  contending(count: number, slack: number): number {
    for (let looked = 2 * count + 1; ; looked *= 2) {
      const nearest = this.nearest(looked);
      const least = (nearest[count - 1]?.bound ?? Number.NEGATIVE_INFINITY) - slack / 2;
      const beyond = nearest.findIndex(({ bound }) => bound < least);
      if (beyond >= 0) return beyond;
      if (nearest.length < looked) return nearest.length;
    }
  }

  /** Of all items but these. */
  without(keys: ReadonlySet<number>): { readonly keys: Float64Array; readonly most: Float64Array } {
    let size = this.#size;
    if (keys.size > 0) {
      size = 0;
      for (let at = 0; at < this.#size; at++) {
        if (keys.has(this.#keys[at] as number)) continue;
        this.#keys[size] = this.#keys[at] as number;
        this.#most[size++] = this.#most[at] as number;
      }
    }
    return { keys: this.#keys.subarray(0, size), most: this.#most.subarray(0, size) };
  }
}
