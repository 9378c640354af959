/** The dot product of unit vectors, which is their cosine. */

/** A score, and the index of the item's vector that achieved it. */
export interface Best {
  readonly score: number;
  readonly part: number;
}

/** The nearest of several contiguous vectors; undefined if there are none. */
export function bestDot(vectors: Float32Array, query: Float32Array): Best | undefined {
  const dimensions = query.length;
  const count = dimensions === 0 ? 0 : Math.floor(vectors.length / dimensions);
  if (count === 0) return undefined;
  let score = Number.NEGATIVE_INFINITY;
  let part = 0;
  for (let at = 0; at < count; at++) {
    const sum = dot(vectors, at * dimensions, query);
    if (sum > score) {
      score = sum;
      part = at;
    }
  }
  return { score, part };
}

/** The dot product of `query` with the vector at `offset`. Four partial sums are twice as fast as one (measured). */
export function dot(vectors: Float32Array, offset: number, query: Float32Array | Float64Array): number {
  const length = query.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    a += (vectors[offset + at] as number) * (query[at] as number);
    b += (vectors[offset + at + 1] as number) * (query[at + 1] as number);
    c += (vectors[offset + at + 2] as number) * (query[at + 2] as number);
    d += (vectors[offset + at + 3] as number) * (query[at + 3] as number);
  }
  for (; at < length; at++) a += (vectors[offset + at] as number) * (query[at] as number);
  return a + b + c + d;
}
