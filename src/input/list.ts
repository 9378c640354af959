import { ORDERS } from "../options.js";
import type { ListRequest } from "../stores/store.js";
import type { Filter, Order } from "../types.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseInteger } from "./integer.js";
import { RESULTS_MAX } from "./limits.js";
import { parseCursor } from "./page.js";
import { objectWith, parseChoice, wrongType } from "./refusal.js";

/** The options of a list call. */
export interface ListOptions extends Filter {
  /** Upper bound on the items of a page, 1 to 1000. Default 20. */
  readonly limit?: number;
  /** arrival: the order of sequence numbers in a session (the default) · timestamp: by the time they occurred. */
  readonly sortBy?: ListRequest["sortBy"];
  /** Default desc, newest first. */
  readonly order?: Order;
  /** The `next` of the previous page. */
  readonly cursor?: string;
  /** If true, lists only items that are still in the buffers, not yet embedded and written. */
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
