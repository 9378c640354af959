/** The envelope of JSON responses, and the HTTP status of each error code. */
import { z } from "zod";
import type { ErrorCode } from "../errors.js";

export const EnvelopeErrorSchema = z
  .object({
    status: z.literal("error"),
    code: z.number().int().meta({ description: "The HTTP status." }),
    data: z.null(),
    message: z.string(),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .nullable()
      .meta({ description: "The fields that are wrong." }),
    error: z
      .object({
        code: z.string().meta({ description: "Machine-readable: invalid_input, not_found, conflict, …" }),
        hint: z.string().exactOptional().meta({ description: "What to do next." }),
        retryable: z.boolean(),
        details: z.record(z.string(), z.unknown()).exactOptional(),
      })
      .meta({ description: "The error, for programs." }),
  })
  .meta({ id: "Error" });
export type EnvelopeError = z.output<typeof EnvelopeErrorSchema>;

export interface EnvelopeSuccess<T> {
  readonly status: "success";
  readonly code: number;
  readonly data: T;
  readonly message: string;
  readonly errors: null;
}

/** The envelope with the schema of its data, for the OpenAPI document. */
export const successOf = (data: z.ZodType) =>
  z.object({
    status: z.literal("success"),
    code: z.number().int(),
    data,
    message: z.string(),
    errors: z.null(),
  });

/** The HTTP status of each error code. */
export const STATUS_OF: { readonly [code in ErrorCode]: number } = {
  invalid_input: 422,
  too_large: 413,
  unauthorized: 401,
  forbidden: 403,
  read_only: 403,
  not_found: 404,
  request_timeout: 408,
  conflict: 409,
  vector_space: 409,
  text_refused: 422,
  rate_limited: 429,
  unsupported: 501,
  extractor_failed: 502,
  overloaded: 503,
  busy: 503,
  closed: 503,
  loading: 503,
  embedder_failed: 503,
  index_failed: 503,
  backend_failed: 503,
  store_failed: 503,
  unreachable: 503,
  outcome_unknown: 500,
  config: 500,
  store_newer: 500,
  store_unsafe: 500,
};
