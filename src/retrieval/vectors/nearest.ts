/**
 * The best of many items by a number each, ties newest first.
 *
 * A heap with the worst of the best on top, so that all others cost one comparison each; sorting everything would cost
 * more than the search itself. The order is the same however many are kept: fewer are the beginning of more.
 */

export interface Near {
  readonly key: number;
  readonly bound: number;
}

/** Whom items are offered to. */
export interface Offered {
  /** Nothing below this is taken. */
  readonly least: number;
  offer(key: number, bound: number): void;
}

export class Nearest implements Offered {
  readonly #count: number;
  readonly #heap: Near[] = [];
  /** Nothing below this is taken any more. */
  least: number;

  /** Keeps so many. */
  constructor(count: number) {
    this.#count = count;
    this.least = count > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  offer(key: number, bound: number): void {
    if (!(bound >= this.least)) return; // nor what is no number
    const heap = this.#heap;
    if (heap.length < this.#count) rise(heap, { key, bound });
    else if (isBetter({ key, bound }, heap[0] as Near)) sink(heap, { key, bound });
    if (heap.length === this.#count) this.least = (heap[0] as Near).bound;
  }

  /** Best first. */
  best(): Near[] {
    return this.#heap.slice().sort((a, b) => (isBetter(a, b) ? -1 : 1));
  }
}

const isBetter = (a: Near, b: Near): boolean => a.bound > b.bound || (a.bound === b.bound && a.key > b.key);

function rise(heap: Near[], near: Near): void {
  let at = heap.push(near) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBetter(heap[parent] as Near, near)) break;
    heap[at] = heap[parent] as Near;
    at = parent;
  }
  heap[at] = near;
}

/** Takes the place of the worst. */
function sink(heap: Near[], near: Near): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBetter(heap[child] as Near, heap[child + 1] as Near)) child++;
    if (!isBetter(near, heap[child] as Near)) break;
    heap[at] = heap[child] as Near;
    at = child;
  }
  heap[at] = near;
}
