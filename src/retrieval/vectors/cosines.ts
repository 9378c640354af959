/**
 * Exact scores of many items at once: what `bestDot` gives for each of them, bit for bit, in less time.
 *
 * The vectors are laid on a desk in the kernel's memory, as many as fit at a time; nothing of them stays there.
 */
import { type Best, bestDot } from "./dot.js";
import { createKernel } from "./kernel/create.js";
import { deskOf } from "./kernel/desk.js";
import type { Kernel } from "./kernel/kernel.js";

/** As much as this is laid down at a time, or one vector if that is longer. */
const DESK_BYTES = 256 * 1024;
/** Room for one vector of ten million dimensions. */
const PAGES_MAX = 2_048;

/** The nearest vector of each item; undefined for items without any. Items lie one after the other, so many numbers each. */
export interface Scoring {
  best(vectors: Float32Array, lengths: readonly number[], query: Float32Array): readonly (Best | undefined)[];
}

export class Cosines implements Scoring {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel = createKernel(PAGES_MAX)) {
    this.#kernel = kernel;
  }

  best(vectors: Float32Array, lengths: readonly number[], query: Float32Array): readonly (Best | undefined)[] {
    const dimensions = query.length;
    if (dimensions === 0 || lengths.some((length) => length % dimensions !== 0))
      return oneByOne(vectors, lengths, query);
    const scores = this.#scores(vectors, query);
    let end = 0;
    return lengths.map((length) => {
      const first = end;
      end += length / dimensions;
      if (end === first) return undefined;
      let score = Number.NEGATIVE_INFINITY;
      let part = 0;
      for (let row = first; row < end; row++) {
        if (!((scores[row] as number) > score)) continue;
        score = scores[row] as number;
        part = row - first;
      }
      return { score, part };
    });
  }

  /** The product of each vector with the query. */
  #scores(vectors: Float32Array, query: Float32Array): Float64Array {
    const dimensions = query.length;
    const count = vectors.length / dimensions;
    const scores = new Float64Array(count);
    const atOnce = Math.max(1, Math.min(count, Math.floor(DESK_BYTES / (dimensions * 4))));
    const out = dimensions * 8; // behind the query
    const rows = out + atOnce * 8;
    const used = rows + atOnce * dimensions * 4;
    const buffer = deskOf(this.#kernel, used);
    const desk = new Float32Array(buffer, rows, atOnce * dimensions);
    new Float64Array(buffer, 0, dimensions).set(query);
    for (let first = 0; first < count; first += atOnce) {
      const laid = Math.min(atOnce, count - first);
      desk.set(vectors.subarray(first * dimensions, (first + laid) * dimensions));
      this.#kernel.products(rows, laid, dimensions, 0, out);
      scores.set(new Float64Array(buffer, out, laid), first);
    }
    new Uint8Array(buffer, 0, used).fill(0);
    return scores;
  }
}

/** Where an item is damaged, the others must not be judged by its numbers. */
function oneByOne(vectors: Float32Array, lengths: readonly number[], query: Float32Array): (Best | undefined)[] {
  let end = 0;
  return lengths.map((length) => {
    const start = end;
    end += length;
    return bestDot(vectors.subarray(start, end), query);
  });
}

/** Without a kernel: for a few items at a time, where the memory that it takes would be for nothing. */
export const PLAIN: Scoring = { best: oneByOne };
