/** Items by their nearness to a question, gathered in any order and handed out best first. */

export interface Near {
  readonly key: number;
  readonly part: number;
  readonly score: number;
  /** The commit that wrote the vectors. */
  readonly commit: number;
}

export class Nearest {
  readonly #all: Near[] = [];

  add(near: Near): void {
    this.#all.push(near);
  }

  get size(): number {
    return this.#all.length;
  }

  /**
   * The best of them, at least one, ties newest first. Keeps a heap with the worst of the best on top, so that all others cost one
   * comparison each; sorting everything would cost more than the search itself.
   */
  best(count: number): Near[] {
    const heap: Near[] = [];
    for (const near of this.#all) {
      if (heap.length < count) rise(heap, near);
      else if (isBetter(near, heap[0] as Near)) sink(heap, near);
    }
    return heap.sort((a, b) => (isBetter(a, b) ? -1 : 1));
  }
}

const isBetter = (a: Near, b: Near): boolean => a.score > b.score || (a.score === b.score && a.key > b.key);

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
