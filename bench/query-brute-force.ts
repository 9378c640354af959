/** A baseline: an array of floats, scanned in JavaScript on the calling thread. */
import { DIMENSIONS } from "./clustered-embedder.js";
import type { Vectors } from "./query-vectors.js";

export interface Best {
  readonly item: number;
  readonly score: number;
}

/** Compares every vector of the user with the question's, in plain JavaScript. */
export class BruteForce {
  readonly #vectors: Vectors;
  readonly #ranges = new Map<number, { readonly from: number; to: number }>();

  constructor(vectors: Vectors) {
    this.#vectors = vectors;
    for (const [at, user] of vectors.users.entries()) {
      const range = this.#ranges.get(user);
      if (range) range.to = at + 1;
      else this.#ranges.set(user, { from: at, to: at + 1 });
    }
  }

  /** The best items by their best piece. */
  search(user: number, question: Float32Array, limit: number): readonly Best[] {
    const { all, items } = this.#vectors;
    const { from, to } = this.#ranges.get(user) ?? { from: 0, to: 0 };
    const best: Best[] = [];
    for (let row = from; row < to; ) {
      const item = items[row] ?? 0;
      let score = -1;
      for (; row < to && items[row] === item; row++) score = Math.max(score, dot(all, row * DIMENSIONS, question));
      if (best.length === limit && score <= (best[limit - 1]?.score ?? -1)) continue;
      const place = best.findIndex((other) => other.score < score);
      best.splice(place < 0 ? best.length : place, 0, { item, score });
      if (best.length > limit) best.pop();
    }
    return best;
  }
}

function dot(all: Float32Array, from: number, question: Float32Array): number {
  const length = question.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < length; at += 4) {
    a += (all[from + at] as number) * (question[at] as number);
    b += (all[from + at + 1] as number) * (question[at + 1] as number);
    c += (all[from + at + 2] as number) * (question[at + 2] as number);
    d += (all[from + at + 3] as number) * (question[at + 3] as number);
  }
  return a + b + c + d;
}
