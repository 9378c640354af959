/** Exit codes, documented in `holdfast --help`. */
import type { ErrorCode } from "../errors.js";
import type { EndReason } from "./io.js";

export const EXIT = {
  ok: 0,
  /** A check failed, or there was a conflict. */
  no: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  tryAgain: 5,
  internal: 70,
} as const;

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, "success, even if a query finds nothing"],
  [EXIT.no, "a problem was found, a version has changed, or a file already exists"],
  [EXIT.usage, "invalid usage, input or configuration; nothing was written"],
  [EXIT.notFound, "not found"],
  [EXIT.refused, "refused: missing, wrong or insufficient key, or read-only"],
  [EXIT.tryAgain, "busy, overloaded or unreachable: try again"],
  [EXIT.internal, "internal error, or the file or the disk failed"],
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
  request_timeout: EXIT.tryAgain,
  unreachable: EXIT.tryAgain,
  busy: EXIT.tryAgain,
  loading: EXIT.tryAgain,
  closed: EXIT.tryAgain,
  embedder_failed: EXIT.tryAgain,
  extractor_failed: EXIT.tryAgain,
  index_failed: EXIT.tryAgain,
  backend_failed: EXIT.tryAgain,
  store_failed: EXIT.internal,
  outcome_unknown: EXIT.internal,
};

export const exitCodeOf = (code: ErrorCode): number => OF_ERROR[code] ?? EXIT.internal;

/** A closed pipe is not a failure. */
export const exitCodeAt = (reason: EndReason): number => ({ SIGINT: 130, SIGTERM: 143, EPIPE: EXIT.ok })[reason];
