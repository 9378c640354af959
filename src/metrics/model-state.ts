/** The state of the embedding model. */
import type { ServiceStats } from "../stats.js";

/**
 * none: words only · not loaded: nothing was embedded yet · loaded: it works · failing: its last calls failed, its circuit
 * breaker is open, or it does not fit the file. Search by words works in every state.
 */
export type ModelState = "none" | "not loaded" | "loaded" | "failing";

export function modelStateOf({ meaning }: ServiceStats): ModelState {
  if (!meaning) return "none";
  const { circuit, failures, loaded } = meaning.embedder;
  if (meaning.fault !== undefined || circuit !== "closed" || failures > 0) return "failing";
  return loaded ? "loaded" : "not loaded";
}
