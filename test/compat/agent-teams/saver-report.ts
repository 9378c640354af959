/** The protocol between the savers and the test. */

export const TEAM = "team";
/** The agent whose memory all savers save. */
export const SHARED = "shared";
export const SAVES = 100;

export type SaverTask = "count" | "flood" | "hold";
export type SaverOrder = "count" | "last";
export type SaverReport =
  | { readonly say: "ready" | "held" | "last" }
  | { readonly say: "saved"; readonly number: number }
  /** What was wrong, and how often another's save followed its own. */
  | { readonly say: "done"; readonly wrong: readonly string[]; readonly foreign: number };
