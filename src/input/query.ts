import { ORDERS, type ResolvedOptions, SORTS, type SortBy } from "../options.js";
import type { RowFilter } from "../stores/store.js";
import { repairText } from "../text.js";
import type { Filter, Order, SpaceRef } from "../types.js";
import { parseChoice } from "./choice.js";
import { fitsBytes } from "./content.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseInteger } from "./integer.js";
import { QUERY_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { objectWith, tooLarge, wrongType } from "./refusal.js";
import { parseSpaces } from "./scope.js";

/** How a query is asked; what is left out comes from the options under `buffer.query`. */
export interface QueryOptions extends Filter {
  /** How many hits at most, 1 to 1000. Left out: 10, or `buffer.query.maxSize` if that is less. */
  readonly topK?: number;
  /** score: the best match first · timestamp: the hits that score best, by the time they occurred. */
  readonly sortBy?: SortBy;
  readonly order?: Order;
  /** user: all of the caller's space (the default; `space` says the same) · session, agent: only the caller's own. */
  readonly within?: "user" | "space" | "session" | "agent";
  /** The spaces to search instead of the caller's own. */
  readonly spaces?: readonly SpaceRef[];
}

export interface ParsedQuery {
  readonly text: string;
  readonly topK: number;
  readonly sortBy: SortBy;
  readonly order: Order;
  readonly within: "space" | "session" | "agent";
  readonly spaces?: readonly SpaceRef[];
  readonly filter: RowFilter;
}

const TOP_K = 10;
const WITHIN = ["user", "space", "session", "agent"] as const;
const OPTION_KEYS: ReadonlySet<string> = new Set(["topK", "sortBy", "order", "within", "spaces", ...FILTER_KEYS]);

export function parseQuery(text: unknown, options: unknown, defaults: ResolvedOptions["buffer"]["query"]): ParsedQuery {
  const fields = objectWith(options ?? {}, OPTION_KEYS, "options");
  const { topK, sortBy, order, within, spaces } = fields;
  const place = within === undefined ? "space" : parseChoice(within, WITHIN, "options.within");
  return {
    text: parseQueryText(text),
    topK: topK === undefined ? Math.min(TOP_K, defaults.maxSize) : parseInteger(topK, "options.topK", 1, RESULTS_MAX),
    sortBy: sortBy === undefined ? defaults.defaultSortBy : parseChoice(sortBy, SORTS, "options.sortBy"),
    order: order === undefined ? defaults.defaultOrder : parseChoice(order, ORDERS, "options.order"),
    within: place === "user" ? "space" : place,
    ...(spaces !== undefined && { spaces: parseSpaces(spaces, "options.spaces") }),
    filter: filterOf(fields, "options"),
  };
}

function parseQueryText(value: unknown): string {
  if (typeof value !== "string") throw wrongType("query", "a string", value);
  const text = repairText(value);
  if (!fitsBytes(text, QUERY_BYTES_MAX)) {
    throw tooLarge("query", `${QUERY_BYTES_MAX / 1024} KiB of text`, "ask with the sentences that matter");
  }
  return text;
}
