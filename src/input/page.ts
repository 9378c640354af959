import { parseInteger } from "./integer.js";
import { RESULTS_MAX } from "./limits.js";

/** Which page of a list. */
export interface PageOptions {
  /** 1 to 1000; 100 if left out. */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly cursor?: string;
}

const PAGE = 100;

export function parsePage({ limit, cursor }: PageOptions): { limit: number; cursor?: string } {
  return {
    limit: limit === undefined ? PAGE : parseInteger(limit, "options.limit", 1, RESULTS_MAX),
    ...(cursor !== undefined && { cursor }),
  };
}
