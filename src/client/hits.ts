/** Rebuilds the hits of a query as the engine returns them: an array with extra properties, deeply frozen. */
import type { Explanation, Hit, Hits } from "../types.js";

export interface WireHits {
  readonly hits: readonly Hit[];
  readonly partial: boolean;
  readonly degraded?: string;
  readonly explanation?: Explanation;
}

export function hitsOf({ hits, ...remarks }: WireHits): Hits {
  return freeze(Object.assign([...hits], remarks));
}

/** Requires parsed JSON, which has no cycles. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) freeze(part);
  return Object.freeze(value);
}
