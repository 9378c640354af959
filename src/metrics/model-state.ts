/** The state of the embedding model, in one word. */
import type { ServiceStats } from "../reports.js";

/**
 * none: words only · not loaded: nothing was embedded yet · loaded: it answers · failing: its last calls have failed, it is
 * left alone for a while, or it does not fit the file. Words find everything in each of them.
 */
export type ModelState = "none" | "not loaded" | "loaded" | "failing";

export function modelStateOf({ meaning }: ServiceStats): ModelState {
  if (!meaning) return "none";
  const { circuit, failures, loaded } = meaning.embedder;
  if (meaning.fault !== undefined || circuit !== "closed" || failures > 0) return "failing";
  return loaded ? "loaded" : "not loaded";
}
