/**
 * One request to an OpenAI-compatible server: an answer, or the server's refusal of what was asked, or an error that says
 * what to do. Nothing that the server writes gets into an error except a plain error code: it may repeat the text, or the
 * key.
 */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Endpoint } from "./endpoint.js";

export interface PostOptions {
  readonly clock: Clock;
  /** For the whole of the request, its answer included. */
  readonly timeoutMs: number;
  /** A longer answer is not read to its end. */
  readonly answerBytesMax: number;
  /** Aborted by us when the time is over; its reason is what the call rejects with. */
  readonly controller: AbortController;
}

/** `refused` is the status with which the server said that something is wrong with the request itself. */
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
    // Followed, a redirect would send the texts where nobody has configured it.
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
        hint: "check that the base URL is that of an OpenAI-compatible server",
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
    // Without the cause, which quotes the answer.
    throw new HoldfastError(caller.failed, `the answer of ${shown} is not JSON`, {
      hint: "check that the base URL is that of an OpenAI-compatible server, and that nothing cuts its answers",
    });
  }
}

/** The `error.code` or `error.type` of an answer, such as insufficient_quota; undefined if there is none of that form. */
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
  if (status === 401 || status === 403) return "check the API key, and that it may use this model";
  if (status === 404) return "check the model's name, and the base URL: it usually ends in /v1";
  if (status >= 300 && status < 400) return "the server has moved: give the base URL that it redirects to";
  if (status === 429) return "the server asks for patience, or the quota is used up";
  return "the server is in trouble; the same call may succeed later";
}

/** The header gives seconds, or a date. */
function waitOf(header: string | null, clock: Clock): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

function unreachable({ shown, caller }: Endpoint, cause: unknown): HoldfastError {
  const reason = (cause as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  const known = typeof reason === "string" ? { reason } : {};
  return new HoldfastError(caller.failed, `${shown} cannot be reached, or broke off`, {
    hint: "check that the server runs and that the base URL is right",
    cause,
    details: known,
  });
}

function timedOut({ shown, caller }: Endpoint, timeoutMs: number): HoldfastError {
  return new HoldfastError(caller.failed, `${shown} did not answer within ${timeoutMs} ms`, {
    hint: "the server may be overloaded: ask it for less at a time, or give it more time",
  });
}
