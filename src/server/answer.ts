/** Answers: the envelope around what a handler gives, and around what it throws. */
import { HoldfastError, toRecord } from "../errors.js";
import { type EnvelopeError, type EnvelopeSuccess, STATUS_OF } from "../schemas/envelope.js";

/** How long a caller should wait that was turned away, in seconds. */
const RETRY_AFTER = "1";

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

export function success<T>(data: T, status: number, message = "OK"): Response {
  const envelope: EnvelopeSuccess<T> = { status: "success", code: status, data, message, errors: null };
  return new Response(JSON.stringify(envelope), { status, headers: HEADERS });
}

/** What is wrong with which field, in `details.fields` of an `invalid_input`. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** `as`: another status than that of the error's code. */
export function failure(error: unknown, as?: number): Response {
  const known = error instanceof HoldfastError ? error : unexpected(error);
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
  if (status === 401) headers["www-authenticate"] = "Bearer";
  return new Response(JSON.stringify(envelope), { status, headers });
}

/** A fault of ours. Its text may hold anything, so it stays here. */
function unexpected(cause: unknown): HoldfastError {
  return new HoldfastError("outcome_unknown", "the server failed; whether the call was carried out is not known", {
    hint: "look whether it was before you repeat it; an add with an Idempotency-Key can be repeated at once",
    cause,
  });
}
