/** The nearest items of small spaces as the vectors thread tells them: numbers alone, which whoever asked adds the rest to. */
import type { Estimates } from "../estimates.js";
import type { VectorsRequest } from "../indexing.js";

export type NearestRequest = Pick<VectorsRequest, "spaces" | "vectorSpace" | "vector" | "limit">;

/** Found items without references, best first; each has its number at the same place of every list. */
export interface NearestItems {
  readonly keys: Float64Array;
  readonly scores: Float64Array;
  readonly parts: Float64Array;
  readonly estimates: Estimates | undefined;
  readonly asOf: number;
}
