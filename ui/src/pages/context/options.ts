/** The context call that the URL describes. */
import type { ContextOptions } from "holdfast/client";
import type { Params } from "../../app/place.js";

/** In the order in which a prompt has them. */
export const PARTS = ["blocks", "facts", "recall", "turns"] as const;
export type Part = (typeof PARTS)[number];

export const PART_NAMES: { readonly [part in Part]: string } = {
  blocks: "Blocks",
  facts: "Facts",
  recall: "Recall",
  turns: "Turns",
};

export const SHARES: { readonly [part in Part]: number } = { blocks: 0.3, facts: 0.1, recall: 0.4, turns: 0.2 };
export const BUDGET = 2_000;
export const COUNTERS = ["chars4", "gpt-4o-mini", "estimate"] as const;

/** The name of a share in the URL: "turns" is how many are recent. */
export const shareParam = (part: Part): string => `share.${part}`;

export function optionsIn(params: Params): ContextOptions {
  const { q, budget, turns, counter, as_of: asOf, fresh } = params;
  const shares = Object.fromEntries(
    PARTS.flatMap((part) => {
      const share = params[shareParam(part)];
      return share === undefined ? [] : [[part, Number(share)]];
    }),
  );
  return {
    budgetTokens: Number(budget ?? BUDGET),
    ...(q !== undefined && q !== "" && { query: q }),
    ...(turns !== undefined && { turns: Number(turns) }),
    ...(counter !== undefined && { counter }),
    ...(asOf !== undefined && { asOf }),
    ...(Object.keys(shares).length > 0 && { shares }),
    ...(fresh === "1" && { fresh: true }),
  };
}
