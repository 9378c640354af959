import { ORDERS } from "../options.js";
import type { ListRequest } from "../stores/store.js";
import type { Filter, Order } from "../types.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseIdentity } from "./identity.js";
import { parseInteger } from "./integer.js";
import { RESULTS_MAX } from "./limits.js";
import { parseCursor } from "./page.js";
import { type Fields, invalid, objectWith, parseChoice, wrongType } from "./refusal.js";

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
  /** The id of an item of this list, with which the page begins; instead of a cursor. `not_found` if it is not there. */
  readonly start?: string;
  /** If true, each item says whether it is embedded, and of a parked one, why not. */
  readonly embedding?: boolean;
}

export type ParsedList = Omit<ListRequest, "spaces" | "now">;

const LIMIT = 20;
const LIST_SORTS = ["arrival", "timestamp"] as const;
const OPTION_KEYS: ReadonlySet<string> = new Set([
  ..."limit sortBy order cursor bufferOnly start embedding".split(" "),
  ...FILTER_KEYS,
]);

export function parseList(options: unknown): ParsedList {
  const fields = objectWith(options ?? {}, OPTION_KEYS, "options");
  const { limit, sortBy, order, cursor, start } = fields;
  const bufferOnly = parseFlag(fields, "bufferOnly");
  const embedding = parseFlag(fields, "embedding");
  if (start !== undefined && cursor !== undefined) {
    throw invalid("options.start", "cannot be combined with a cursor", "give it for the first page only");
  }
  return {
    limit: limit === undefined ? LIMIT : parseInteger(limit, "options.limit", 1, RESULTS_MAX),
    sortBy: sortBy === undefined ? "arrival" : parseChoice(sortBy, LIST_SORTS, "options.sortBy"),
    order: order === undefined ? "desc" : parseChoice(order, ORDERS, "options.order"),
    ...(cursor !== undefined && { cursor: parseCursor(cursor) }),
    ...(start !== undefined && { start: parseIdentity(start, "options.start") }),
    ...(embedding && { embedding: true as const }),
    filter: { ...filterOf(fields, "options"), ...(bufferOnly && { pending: true as const }) },
  };
}

function parseFlag(fields: Fields, name: string): boolean {
  const { [name]: flag = false } = fields;
  if (typeof flag !== "boolean") throw wrongType(`options.${name}`, "true or false", flag);
  return flag;
}
