/** Builds responses: the JSON envelope around a handler's result or error. */

import { type ErrorCode, HoldfastError, toRecord } from "../errors.js";
import { type EnvelopeError, type EnvelopeSuccess, STATUS_OF } from "../schemas/envelope.js";
import type { FieldError } from "../schemas/validation.js";

/** Seconds that a refused caller should wait before it retries. */
const RETRY_AFTER = "1";

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** `onLength` receives the approximate length of the response. */
export function success<T>(data: T, status: number, onLength: (bytes: number) => void): Response {
  const envelope: EnvelopeSuccess<unknown> = {
    status: "success",
    code: status,
    data,
    message: "OK",
    errors: null,
  };
  const text = JSON.stringify(envelope);
  onLength(text.length);
  return new Response(text, { status, headers: HEADERS });
}

/** `as` overrides the status that belongs to the error's code. */
export function failure(error: unknown, as?: number): Response {
  const known = error instanceof HoldfastError ? shown(error) : unexpected(error);
  const { code, message, hint, details } = toRecord(known);
  const status = as ?? STATUS_OF[code];
  const { fields, field, ...rest } = (details ?? {}) as { fields?: FieldError[]; field?: string };
  const errors = fields ?? (field === undefined ? null : [{ field, message }]);
  const envelope: EnvelopeError = {
    status: "error",
    code: status,
    data: null,
    message,
    errors,
    error: {
      code,
      ...(hint !== undefined && { hint }),
      retryable: known.retryable,
      ...(Object.keys(details ?? {}).length > 0 && { details: field === undefined ? rest : { field, ...rest } }),
    },
  };
  const headers: Record<string, string> = { ...HEADERS };
  if (status === 429 || status === 503) headers["retry-after"] = RETRY_AFTER;
  if (status === 408) headers["connection"] = "close"; // the rest of the body may still arrive; do not parse it as the next request
  if (status === 401) headers["www-authenticate"] = "Bearer";
  return new Response(JSON.stringify(envelope), { status, headers });
}

const OPERATORS: ReadonlySet<ErrorCode> = new Set(["store_failed", "store_newer", "store_unsafe", "config"]);

/** The error as the caller may see it. Errors that only the operator can fix may name files; those details stay in the log. */
export function shown(error: HoldfastError): HoldfastError {
  if (!OPERATORS.has(error.code)) return error;
  return new HoldfastError(error.code, "the server cannot use its store at the moment", {
    hint: "try again later; the server's log has the reason",
    cause: error,
  });
}

/** An internal error. Its message may contain anything, so the caller does not see it. */
function unexpected(cause: unknown): HoldfastError {
  return new HoldfastError("outcome_unknown", "internal server error; the call may or may not have taken effect", {
    hint: "check whether it took effect before retrying; a call with an Idempotency-Key is safe to retry at once",
    cause,
  });
}
