/**
 * Turns a server's response into data or a failure. If the response is not an envelope, only its status and type are shown:
 * its author may have repeated the request.
 */
import { type ErrorCode, HoldfastError } from "../errors.js";
import type { EnvelopeError, EnvelopeSuccess } from "../schemas/envelope.js";
import type { Endpoint } from "./endpoint.js";

/**
 * Whether a failed attempt may have had an effect. nothing: it had none and may be repeated · unknown: it may be repeated only
 * if repeating is harmless · final: it would fail again.
 */
export type Effect = "nothing" | "unknown" | "final";

export interface Failure {
  readonly error: unknown;
  readonly effect: Effect;
  /** When the server wants the next attempt. */
  readonly retryAfterMs?: number;
}

export type Outcome<T> = { readonly data: T } | Failure;

/** Codes with which the engine refuses before doing anything, for a transient reason. */
const NOTHING_DONE: ReadonlySet<string> = new Set<ErrorCode>([
  "overloaded",
  "rate_limited",
  "request_timeout",
  "busy",
  "loading",
]);

/** Codes for statuses that may come from a proxy. */
const CODE_OF: { readonly [status: number]: ErrorCode } = {
  401: "unauthorized",
  403: "forbidden",
  413: "too_large",
  429: "rate_limited",
};

export async function readAnswer<T>(response: Response, endpoint: Endpoint): Promise<Outcome<T>> {
  const envelope = parse(await response.text());
  if (isSuccess<T>(envelope) && response.ok) return { data: envelope.data };
  const error = isError(envelope) ? fromEnvelope(envelope) : foreign(response, endpoint);
  const retryAfterMs = retryAfter(response.headers.get("retry-after"), endpoint.clock.now());
  return { error, effect: effectOf(response.status, error), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function effectOf(status: number, { code }: HoldfastError): Effect {
  if (status === 429 || NOTHING_DONE.has(code)) return "nothing";
  return status === 502 || status === 503 || status === 504 || code === "outcome_unknown" ? "unknown" : "final";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null;

const isSuccess = <T>(value: unknown): value is EnvelopeSuccess<T> =>
  isObject(value) && value["status"] === "success" && value["data"] !== undefined;

const isError = (value: unknown): value is EnvelopeError =>
  isObject(value) && value["status"] === "error" && isObject(value["error"]);

/** If the schemas refused several fields, `details.fields` names them all. */
function fromEnvelope({ message, errors, error }: EnvelopeError): HoldfastError {
  const { code, hint, details = {} } = error;
  const fields = errors !== null && details["field"] === undefined ? { fields: errors } : {};
  return new HoldfastError(code as ErrorCode, message, {
    ...(hint !== undefined && { hint }),
    details: { ...details, ...fields },
  });
}

function foreign({ status, headers }: Response, { shown }: Endpoint): HoldfastError {
  const type = headers.get("content-type")?.split(";")[0] ?? "no type";
  return new HoldfastError(
    CODE_OF[status] ?? "unreachable",
    `${shown} answered with status ${status} (${type}); it does not look like a Holdfast server`,
    {
      hint: "check the URL; if there is a proxy in front of the server, check its log",
      details: { status },
    },
  );
}

/** Seconds, or a date. */
function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
