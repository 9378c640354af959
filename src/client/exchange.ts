/** Sends one request with the key, and interprets a missing response. */
import { HoldfastError } from "../errors.js";
import type { Address } from "./address.js";
import type { Failure } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import type { LinkedAbort } from "./timers.js";

export interface Payload {
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Blob | ReadableStream<Uint8Array> | undefined;
}

export function send(
  endpoint: Endpoint,
  { method, path }: Address,
  { headers, body }: Payload,
  abort: LinkedAbort,
): Promise<Response> {
  return endpoint.fetch(endpoint.base + path, {
    method,
    headers: { accept: "application/json", ...endpoint.headers, ...headers },
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
    // Following a redirect would send messages to another host.
    redirect: "error",
    signal: abort.signal,
  });
}

/** The failure of a request without a response. If a caller's signal caused it, throws that signal's reason. */
export function noResponse(
  endpoint: Endpoint,
  abort: LinkedAbort,
  signals: readonly AbortSignal[],
  cause: unknown,
): Failure {
  for (const signal of signals) signal.throwIfAborted();
  if (abort.signal.aborted) return { error: abort.signal.reason, effect: "unknown" };
  return { error: unreachable(endpoint, cause), effect: NOT_SENT.has(codeOf(cause)) ? "nothing" : "unknown" };
}

/** The request was never sent. Only Node reports these codes. */
const NOT_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

const codeOf = (error: unknown): unknown =>
  (error as { readonly cause?: { readonly code?: unknown } } | undefined)?.cause?.code;

export function unreachable({ shown }: Endpoint, cause?: unknown): HoldfastError {
  return new HoldfastError("unreachable", `${shown} could not be reached, or its response did not arrive`, {
    hint: "check that the server is running (`holdfast serve`), and check the network",
    cause,
  });
}

export function tooSlow({ shown }: Endpoint, timeoutMs: number): HoldfastError {
  return new HoldfastError("unreachable", `${shown} did not answer within ${timeoutMs} ms`, {
    hint: "the call may or may not have taken effect; allow more time: connect(url, { timeoutMs })",
  });
}
