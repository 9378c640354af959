/**
 * One request to an OpenAI-compatible server. Results in an answer, the server's refusal of the request, or an error with a
 * hint. Errors contain nothing that the server wrote, except a plain error code: it may repeat the text or the key.
 */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Endpoint } from "./endpoint.js";

export interface PostOptions {
  readonly clock: Clock;
  /** For the whole request, including its response. */
  readonly timeoutMs: number;
  /** A longer response is refused unread. */
  readonly answerBytesMax: number;
  /** Aborted when the time is up. The call rejects with its reason. */
  readonly controller: AbortController;
}

/** `refused` is the status by which the server rejected the request itself. */
export type Reply = { readonly answer: unknown } | { readonly refused: number };

const REFUSALS: readonly number[] = [400, 413, 422];
const ERROR_BYTES_MAX = 64 * 1024;

export async function post(endpoint: Endpoint, body: object, options: PostOptions): Promise<Reply> {
  const { clock, timeoutMs, controller } = options;
  const cancelTimer = clock.after(timeoutMs, () => controller.abort(timedOut(endpoint, timeoutMs)));
  try {
    return await exchange(endpoint, body, options);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error instanceof HoldfastError ? error : unreachable(endpoint, error);
  } finally {
    cancelTimer();
  }
}

async function exchange(endpoint: Endpoint, body: object, options: PostOptions): Promise<Reply> {
  const response = await fetch(endpoint.url, {
    method: "POST",
    headers: endpoint.headers,
    body: JSON.stringify(body),
    // Following a redirect would send the texts to a host that nobody configured.
    redirect: "manual",
    signal: options.controller.signal,
  });
  if (response.ok) return { answer: parse(await read(response, options.answerBytesMax, endpoint), endpoint) };
  const code = codeOf(await read(response, ERROR_BYTES_MAX, endpoint));
  if (REFUSALS.includes(response.status)) return { refused: response.status };
  throw statusError(endpoint, response, code, options.clock);
}

async function read(response: Response, bytesMax: number, { shown, caller }: Endpoint): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      throw new HoldfastError(caller.failed, `${shown} answered with more than ${bytesMax} bytes`, {
        hint: "check that the base URL points to an OpenAI-compatible server",
        details: { status: response.status },
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string, { shown, caller }: Endpoint): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause, which quotes the response.
    throw new HoldfastError(caller.failed, `the response of ${shown} is not JSON`, {
      hint: "check that the base URL points to an OpenAI-compatible server and that nothing truncates its responses",
    });
  }
}

/** The `error.code` or `error.type` of a response, such as insufficient_quota; undefined if it has none. */
function codeOf(text: string): string | undefined {
  const codes = [...text.matchAll(/"(?:code|type)"\s*:\s*"([a-z_]{1,40})"/g)].map(([, code]) => code);
  return codes.find((code) => code?.includes("_"));
}

function statusError(
  { shown, caller }: Endpoint,
  response: Response,
  code: string | undefined,
  clock: Clock,
): HoldfastError {
  const { status, headers } = response;
  const retryAfterMs = waitOf(headers.get("retry-after"), clock);
  return new HoldfastError(caller.failed, `${shown} answered with status ${status}${code ? ` (${code})` : ""}`, {
    hint: hintOf(status),
    details: { status, ...(code && { code }), ...(retryAfterMs !== undefined && { retryAfterMs }) },
  });
}

function hintOf(status: number): string {
  if (status === 401 || status === 403) return "check the API key and that it may use this model";
  if (status === 404) return "check the model name and the base URL, which usually ends in /v1";
  if (status >= 300 && status < 400) return "the server redirects; use the base URL that it redirects to";
  if (status === 429) return "slow down, or check whether the quota is used up";
  return "the server failed; the same call may succeed later";
}

/** The header contains seconds or a date. */
function waitOf(header: string | null, clock: Clock): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

function unreachable({ shown, caller }: Endpoint, cause: unknown): HoldfastError {
  const reason = (cause as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  const known = typeof reason === "string" ? { reason } : {};
  return new HoldfastError(caller.failed, `${shown} cannot be reached, or closed the connection`, {
    hint: "check that the server is running and that the base URL is right",
    cause,
    details: known,
  });
}

function timedOut({ shown, caller }: Endpoint, timeoutMs: number): HoldfastError {
  return new HoldfastError(caller.failed, `${shown} did not answer within ${timeoutMs} ms`, {
    hint: "the server may be overloaded: send smaller requests or raise the timeout",
  });
}
