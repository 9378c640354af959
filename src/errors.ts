/** The one error type. `code` is for programs, `message` for people, `hint` says what to do next. */

export type ErrorCode =
  /** The input is not of the documented form; nothing was written. */
  | "invalid_input"
  /** The input is over a documented limit; nothing was written. */
  | "too_large"
  /** What the call names does not exist. */
  | "not_found"
  /** It exists already with other content, or has changed meanwhile; nothing was written. */
  | "conflict"
  /** The call needs an API key, or the one given is not valid (any more); nothing was read or written. */
  | "unauthorized"
  /** The caller was not granted what it asks for; nothing was read or written. */
  | "forbidden"
  /** It may not be changed; nothing was written. */
  | "read_only"
  /** Too much is waiting to be written; nothing was written, try again. */
  | "overloaded"
  /** The caller sends more requests than it may; nothing was done, try again later. */
  | "rate_limited"
  /** The server could not be reached, or its answer did not arrive: whether the call was carried out is not known. */
  | "unreachable"
  /** Another process held the store for longer than the caller's deadline; nothing was written, try again. */
  | "busy"
  /** The memory is closed. */
  | "closed"
  /** A part of the design that this version does not have. */
  | "unsupported"
  /** The configuration is wrong. */
  | "config"
  /** The embedder failed; nothing was embedded, the same call may succeed later. */
  | "embedder_failed"
  /** The embedder cannot take one of the texts; `details.index` says which. */
  | "text_refused"
  /** The extractor failed; nothing was extracted, and the same messages are offered to it again. */
  | "extractor_failed"
  /** The vectors are of another space (model, runtime, dimensions) than those that are there; nothing was changed. */
  | "vector_space"
  /** The external vector index failed; what was to be sent is kept and sent again. */
  | "index_failed"
  /** The store is still making vectors ready for these spaces; ask again. */
  | "loading"
  /** The file was written by a newer version. */
  | "store_newer"
  /** The file, or the place where it lies, cannot keep the promise of durability or privacy. */
  | "store_unsafe"
  /** The store failed; nothing of this call was written. */
  | "store_failed"
  /** The store failed while committing; whether this call was written could not be found out. */
  | "outcome_unknown";

export interface ErrorDetails {
  readonly hint?: string;
  readonly cause?: unknown;
  /** Facts for programs, such as the current version of what conflicts. Never message content. */
  readonly details?: { readonly [key: string]: unknown };
}

export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: { readonly [key: string]: unknown };

  constructor(code: ErrorCode, message: string, { hint, cause, details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.details = details ?? {};
  }

  /** True when the same call may succeed later without a change. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  "overloaded",
  "rate_limited",
  "unreachable",
  "busy",
  "store_failed",
  "embedder_failed",
  "extractor_failed",
  "index_failed",
  "loading",
]);

/** An error in a form that can cross a thread boundary. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: { readonly [key: string]: unknown };
}

export function toRecord(error: unknown): ErrorRecord {
  if (error instanceof HoldfastError) {
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  }
  return {
    code: "store_failed",
    message: error instanceof Error ? error.message : String(error),
    hint: "nothing of this call was written; check the disk and the file, then repeat it",
  };
}

export function fromRecord(record: ErrorRecord): HoldfastError {
  const { code, message, hint, details } = record;
  return new HoldfastError(code, message, { ...(hint && { hint }), ...(details && { details }) });
}
