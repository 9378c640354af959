/** Compares and names vector spaces. */
import type { VectorSpace } from "../types.js";

/** Only vectors of the same space can be compared. */
export const isSameSpace = (a: VectorSpace, b: VectorSpace): boolean =>
  a.model === b.model && a.runtime === b.runtime && a.dimensions === b.dimensions;

export const nameOfSpace = ({ model, runtime, dimensions }: VectorSpace): string =>
  `${model} (${runtime}, ${dimensions} dimensions)`;
