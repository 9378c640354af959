/** Exit codes: what a script can tell from how a command ended. They are documented in `holdfast --help`. */
import type { ErrorCode } from "../errors.js";
import type { EndReason } from "./io.js";

export const EXIT = {
  ok: 0,
  /** The answer is no: a check failed, or what was to be changed has changed meanwhile. */
  no: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  tryAgain: 5,
  internal: 70,
} as const;

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, "done; a query that finds nothing is done too"],
  [EXIT.no, "the answer is no: doctor found a problem, or a version has changed meanwhile"],
  [EXIT.usage, "wrong usage, input or configuration; nothing was written"],
  [EXIT.notFound, "what the command names does not exist"],
  [EXIT.refused, "refused: the key is missing, wrong or not for this, or it is read-only"],
  [EXIT.tryAgain, "busy, overloaded or unreachable: try again"],
  [EXIT.internal, "something failed that should not"],
  [130, "interrupted by Ctrl-C (143: by SIGTERM)"],
];

const OF_ERROR: { readonly [code in ErrorCode]: number } = {
  conflict: EXIT.no,
  invalid_input: EXIT.usage,
  too_large: EXIT.usage,
  text_refused: EXIT.usage,
  config: EXIT.usage,
  unsupported: EXIT.usage,
  vector_space: EXIT.usage,
  store_newer: EXIT.usage,
  store_unsafe: EXIT.usage,
  not_found: EXIT.notFound,
  unauthorized: EXIT.refused,
  forbidden: EXIT.refused,
  read_only: EXIT.refused,
  overloaded: EXIT.tryAgain,
  rate_limited: EXIT.tryAgain,
  unreachable: EXIT.tryAgain,
  busy: EXIT.tryAgain,
  loading: EXIT.tryAgain,
  closed: EXIT.tryAgain,
  embedder_failed: EXIT.tryAgain,
  extractor_failed: EXIT.tryAgain,
  index_failed: EXIT.tryAgain,
  store_failed: EXIT.internal,
  outcome_unknown: EXIT.internal,
};

export const exitCodeOf = (code: ErrorCode): number => OF_ERROR[code] ?? EXIT.internal;

/** A pipe that closed is no failure of ours. */
export const exitCodeAt = (reason: EndReason): number => ({ SIGINT: 130, SIGTERM: 143, EPIPE: EXIT.ok })[reason];
