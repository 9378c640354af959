/** One request: sent with the key, under a guard; and what it means when it is not answered. */
import { HoldfastError } from "../errors.js";
import type { Address } from "./address.js";
import type { Failure } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import type { Guard } from "./timers.js";

export interface Parcel {
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Blob | ReadableStream<Uint8Array> | undefined;
}

export function send(
  endpoint: Endpoint,
  { method, path }: Address,
  { headers, body }: Parcel,
  guard: Guard,
): Promise<Response> {
  return endpoint.fetch(endpoint.base + path, {
    method,
    headers: { accept: "application/json", ...endpoint.headers, ...headers },
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
    // Followed, a redirect would send what was said where nobody has sent it.
    redirect: "error",
    signal: guard.signal,
  });
}

/** The request came to nothing. If a caller's signal is why, that signal's reason is thrown. */
export function lost(endpoint: Endpoint, guard: Guard, signals: readonly AbortSignal[], cause: unknown): Failure {
  for (const signal of signals) signal.throwIfAborted();
  if (guard.signal.aborted) return { error: guard.signal.reason, trace: "unknown" };
  return { error: unreachable(endpoint, cause), trace: NOT_SENT.has(codeOf(cause)) ? "nothing" : "unknown" };
}

/** There was nobody to send it to. Only Node tells; elsewhere nobody knows. */
const NOT_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

const codeOf = (error: unknown): unknown =>
  (error as { readonly cause?: { readonly code?: unknown } } | undefined)?.cause?.code;

export function unreachable({ shown }: Endpoint, cause?: unknown): HoldfastError {
  return new HoldfastError("unreachable", `${shown} could not be reached, or its answer did not arrive`, {
    hint: "check that the server runs there (`holdfast serve`), and the network between",
    cause,
  });
}

export function tooSlow({ shown }: Endpoint, timeoutMs: number): HoldfastError {
  return new HoldfastError("unreachable", `${shown} did not answer within ${timeoutMs} ms`, {
    hint: "whether the call was carried out is not known; allow more time: connect(url, { timeoutMs })",
  });
}
