/** The one error type. `code` is for programs, `message` for people, and `hint` says what to do next. */

export type ErrorCode =
  /** The input does not have the documented form; nothing was written. */
  | "invalid_input"
  /** The input exceeds a documented limit; nothing was written. */
  | "too_large"
  /** Something that the call names does not exist. */
  | "not_found"
  /** It already exists with other content, or has changed meanwhile; nothing was written. */
  | "conflict"
  /** The call needs an API key, or the given key is not valid (any more); nothing was read or written. */
  | "unauthorized"
  /** The caller has no permission for this; nothing was read or written. */
  | "forbidden"
  /** It must not be changed; nothing was written. */
  | "read_only"
  /** Too many writes are waiting; nothing was written, try again. */
  | "overloaded"
  /** The caller exceeds its request rate; nothing was done, try again later. */
  | "rate_limited"
  /** The request arrived too slowly; nothing was done, except for lines of an import that had arrived. Try again. */
  | "request_timeout"
  /** The server could not be reached, or its answer did not arrive: whether the call was carried out is unknown. */
  | "unreachable"
  /** Another process held the store's lock past the caller's deadline; nothing was written, try again. */
  | "busy"
  /** The memory is closed. */
  | "closed"
  /** This version does not support it. */
  | "unsupported"
  /** The configuration is invalid. */
  | "config"
  /** The embedder failed; nothing was embedded, and the same call may succeed later. */
  | "embedder_failed"
  /** The embedder cannot embed one of the texts; `details.index` says which. */
  | "text_refused"
  /** The extractor failed; nothing was extracted, and the same messages are offered to it again. */
  | "extractor_failed"
  /** The vectors belong to another space (model, runtime, dimensions) than the existing ones; nothing was changed. */
  | "vector_space"
  /** The external vector index failed; unsent changes are kept and sent again. */
  | "index_failed"
  /** The backend of a context engine failed; episodes that it did not take are kept and delivered again. */
  | "backend_failed"
  /** The store is still loading vectors of these spaces; try again. */
  | "loading"
  /** The file was written by a newer version. */
  | "store_newer"
  /** The file, or its location, cannot guarantee durability or privacy. */
  | "store_unsafe"
  /** The store failed; nothing of this call was written. */
  | "store_failed"
  /** The store failed while committing; whether this call was written could not be determined. */
  | "outcome_unknown";

export interface ErrorDetails {
  /** What to do next; the hint of the code by default. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Data for programs, such as the current version in a conflict. Never message content. */
  readonly details?: { readonly [key: string]: unknown };
}

/**
 * The one error that this package throws. `code` is for programs, `message` and `hint` are for people.
 *
 * @example
 * try {
 *   await session.add(messages);
 * } catch (error) {
 *   if (error instanceof HoldfastError) console.error(error.code, error.message, error.hint, error.retryable);
 *   throw error;
 * }
 */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  /** What went wrong. */
  readonly code: ErrorCode;
  /** What to do next. */
  readonly hint: string;
  /** Data for programs, such as the current version in a conflict. Never message content. */
  readonly details: { readonly [key: string]: unknown };

  constructor(code: ErrorCode, message: string, { hint, cause, details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint || hintOf(code);
    this.details = details ?? {};
  }

  /** True if the same call may succeed later without a change. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  "overloaded",
  "rate_limited",
  "request_timeout",
  "unreachable",
  "busy",
  "store_failed",
  "embedder_failed",
  "extractor_failed",
  "index_failed",
  "backend_failed",
  "loading",
]);

/** Default hints by code. */
const HINTS: { readonly [code in ErrorCode]?: string } = {
  not_found: "check the name or id, and the scope",
  conflict: "read the current state, then decide whether to repeat the call",
  closed: "open the memory again",
  store_failed: "nothing of this call was written; check the disk, run `holdfast doctor`, then repeat the call",
  outcome_unknown: "check whether it was written, or repeat the call with the same ids or idempotency key",
};

const hintOf = (code: ErrorCode): string =>
  HINTS[code] ?? (RETRYABLE.has(code) ? "try again in a moment" : "correct what the message names, then call again");

/** An error in a form that can be sent between threads. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: { readonly [key: string]: unknown };
  /** The stack of its cause, for debugging. It stays in the process. */
  readonly cause?: string;
}

export function toRecord({ code, message, hint, details, cause }: HoldfastError): ErrorRecord {
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : undefined;
  return { code, message, hint, details, ...(stack !== undefined && { cause: stack }) };
}

export function fromRecord({ code, message, hint, details, cause }: ErrorRecord): HoldfastError {
  return new HoldfastError(code, message, {
    ...(hint && { hint }),
    ...(details && { details }),
    ...(cause !== undefined && { cause: causeOf(cause) }),
  });
}

function causeOf(stack: string): Error {
  const [message = ""] = stack.split("\n", 1);
  return Object.assign(new Error(message), { stack });
}
