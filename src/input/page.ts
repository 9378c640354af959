import { parseInteger } from "./integer.js";
import { CURSOR_UNITS_MAX, RESULTS_MAX } from "./limits.js";
import { invalid, objectWith } from "./refusal.js";

/** The options that select a page of a list. */
export interface PageOptions {
  /** 1 to 1000. Default 100. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly cursor?: string;
}

const PAGE = 100;

export function parsePage(options: PageOptions): { limit: number; cursor?: string } {
  const { limit, cursor } = objectWith(options, PAGE_KEYS, "options");
  return {
    limit: limit === undefined ? PAGE : parseInteger(limit, "options.limit", 1, RESULTS_MAX),
    ...(cursor !== undefined && { cursor: parseCursor(cursor) }),
  };
}

const PAGE_KEYS = new Set(["limit", "cursor"]);

export function parseCursor(value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > CURSOR_UNITS_MAX) {
    throw invalid("options.cursor", "is not a cursor", "give back the `next` of the page before, unchanged");
  }
  return value;
}
