/** The rules for points, shared by all stores. */
import { HoldfastError } from "../errors.js";

/** Throws if a vector cannot be compared with those of its collection. */
export function requireDimensions(kept: number, vector: Float32Array): void {
  if (kept === vector.length) return;
  throw new HoldfastError(
    "vector_space",
    `the collection holds vectors of ${kept} dimensions, and was given one of ${vector.length}`,
    {
      hint: "use the model that the collection was filled with, or another collection; nothing was changed",
      details: { kept, given: vector.length },
    },
  );
}

export const otherPoint = (id: string): HoldfastError =>
  new HoldfastError("conflict", "the collection has another point with this id", {
    hint: "forget one of the two first",
    details: { id },
  });

/** The cosine of the angle between two vectors that are not zero. Sums in doubles cannot overflow. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] as number, b[at] as number];
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  return Math.max(-1, Math.min(1, product / (Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB))));
}

/** The vector of length 1 in the same direction. */
export function unitVector(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return vector.map((number) => number / length);
}
