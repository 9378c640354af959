/** The expected form of a vector. */
import { expect } from "vitest";

/** Services round their numbers; models do not. */
const TOLERANCE = 1e-5;

/** Requires unit length, `dimensions` finite numbers, as floats. */
export function expectVector(vector: Float32Array | undefined, dimensions: number): void {
  expect(vector).toBeInstanceOf(Float32Array);
  expect(vector).toHaveLength(dimensions);
  expect(Math.abs(Math.hypot(...(vector ?? [])) - 1)).toBeLessThan(TOLERANCE);
}

/** Requires the same vectors, in the same order. */
export function expectSame(
  given: readonly (Float32Array | undefined)[],
  expected: readonly (Float32Array | undefined)[],
): void {
  expect(given).toHaveLength(expected.length);
  for (const [at, vector] of expected.entries()) {
    expect(given[at]).toHaveLength(vector?.length ?? -1);
    const apart = vector?.map((value, component) => Math.abs(value - (given[at]?.[component] ?? Number.NaN)));
    expect(Math.max(...(apart ?? [])), `vector ${at} is another one`).toBeLessThan(TOLERANCE);
  }
}
