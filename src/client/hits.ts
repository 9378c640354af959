/** The hits of a query as the engine gives them: a list with remarks on it, frozen down to the last object in it. */
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

/** It was parsed from JSON, so it is a tree. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) freeze(part);
  return Object.freeze(value);
}
