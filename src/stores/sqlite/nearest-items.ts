/** The nearest items of small spaces as the vectors thread tells them: numbers alone, which whoever asked adds the rest to. */
import type { Estimates, FoundItems } from "../estimates.js";
import type { VectorsRequest } from "../indexing.js";
import type { ItemScore } from "./vector-file.js";

export type NearestRequest = Pick<VectorsRequest, "spaces" | "vectorSpace" | "vector" | "limit">;

/** Found items without references, best first; each has its number at the same place of every list. */
export interface NearestItems {
  readonly keys: Float64Array;
  readonly scores: Float64Array;
  readonly parts: Float64Array;
  readonly estimates: Estimates | undefined;
  readonly asOf: number;
}

export const numbersOf = (found: FoundItems<ItemScore>, asOf: number): NearestItems => ({
  keys: Float64Array.from(found, ({ key }) => key),
  scores: Float64Array.from(found, ({ score }) => score),
  parts: Float64Array.from(found, ({ part }) => part),
  estimates: found.estimates,
  asOf,
});
