import { ORDERS } from "../options.js";
import type { ListRequest } from "../stores/store.js";
import type { Filter, Order } from "../types.js";
import { parseChoice } from "./choice.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseInteger } from "./integer.js";
import { CURSOR_UNITS_MAX, RESULTS_MAX } from "./limits.js";
import { invalid, objectWith, wrongType } from "./refusal.js";

/** How items are listed. */
export interface ListOptions extends Filter {
  /** How many items a page has at most, 1 to 1000; 20 if left out. */
  readonly limit?: number;
  /** arrival: the order of sequences in a session (the default) · timestamp: by the time they occurred. */
  readonly sortBy?: ListRequest["sortBy"];
  /** desc, the newest first, if left out. */
  readonly order?: Order;
  /** The `next` of the page before. */
  readonly cursor?: string;
  /** True: only what waits in the buffers, not yet embedded and written. */
  readonly bufferOnly?: boolean;
}

export type ParsedList = Omit<ListRequest, "spaces" | "now">;

const LIMIT = 20;
const LIST_SORTS = ["arrival", "timestamp"] as const;
const OPTION_KEYS: ReadonlySet<string> = new Set(["limit", "sortBy", "order", "cursor", "bufferOnly", ...FILTER_KEYS]);

export function parseList(options: unknown): ParsedList {
  const fields = objectWith(options ?? {}, OPTION_KEYS, "options");
  const { limit, sortBy, order, cursor, bufferOnly } = fields;
  if (bufferOnly !== undefined && typeof bufferOnly !== "boolean") {
    throw wrongType("options.bufferOnly", "true or false", bufferOnly);
  }
  return {
    limit: limit === undefined ? LIMIT : parseInteger(limit, "options.limit", 1, RESULTS_MAX),
    sortBy: sortBy === undefined ? "arrival" : parseChoice(sortBy, LIST_SORTS, "options.sortBy"),
    order: order === undefined ? "desc" : parseChoice(order, ORDERS, "options.order"),
    ...(cursor !== undefined && { cursor: parseCursor(cursor) }),
    filter: { ...filterOf(fields, "options"), ...(bufferOnly && { pending: true as const }) },
  };
}

function parseCursor(value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > CURSOR_UNITS_MAX) {
    throw invalid("options.cursor", "is not a cursor", "give back the `next` of the page before, unchanged");
  }
  return value;
}
