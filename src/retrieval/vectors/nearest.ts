/**
 * Nearest: the best of many items by score. Ties are broken newest first.
 *
 * A heap with the worst of the best on top, so that every other item costs one comparison. Sorting all items would cost
 * more than the search itself. The order does not depend on how many items are kept: a shorter result is a prefix of a
 * longer one.
 */

export interface ItemScore {
  readonly key: number;
  readonly score: number;
}

export class Nearest {
  readonly #count: number;
  readonly #heap: ItemScore[] = [];
  /** Items with a lower score are rejected. */
  least: number;

  /** Keeps `count` items. */
  constructor(count: number) {
    this.#count = count;
    this.least = count > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  offer(key: number, score: number): void {
    if (!(score >= this.least)) return; // also rejects NaN
    const heap = this.#heap;
    if (heap.length < this.#count) rise(heap, { key, score });
    else if (isBetter({ key, score }, heap[0] as ItemScore)) sink(heap, { key, score });
    if (heap.length === this.#count) this.least = (heap[0] as ItemScore).score;
  }

  /** Best first. */
  best(): ItemScore[] {
    return this.#heap.slice().sort((a, b) => (isBetter(a, b) ? -1 : 1));
  }
}

const isBetter = (a: ItemScore, b: ItemScore): boolean => a.score > b.score || (a.score === b.score && a.key > b.key);

function rise(heap: ItemScore[], near: ItemScore): void {
  let at = heap.push(near) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBetter(heap[parent] as ItemScore, near)) break;
    heap[at] = heap[parent] as ItemScore;
    at = parent;
  }
  heap[at] = near;
}

/** Replaces the worst item. */
function sink(heap: ItemScore[], near: ItemScore): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBetter(heap[child] as ItemScore, heap[child + 1] as ItemScore)) child++;
    if (!isBetter(near, heap[child] as ItemScore)) break;
    heap[at] = heap[child] as ItemScore;
    at = child;
  }
  heap[at] = near;
}
