/** The validated options of `connect`. */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { parseInteger } from "../input/integer.js";
import { invalid, objectWith, wrongType } from "../input/refusal.js";
import { systemClock } from "./timers.js";

/** The options of `connect`. */
export interface ConnectOptions {
  /** The API key. Without it, the server must be one that requires none. */
  readonly key?: string;
  /** Replaces the runtime's `fetch`. */
  readonly fetch?: Fetch;
  /** Aborts everything on this connection; calls in progress reject with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Number of retries of a call that may be repeated, 0 to 20. Default: 3. */
  readonly retries?: number;
  /** Timeout of one attempt in milliseconds. Default: 30000, and ten times that for calls that wait for work to finish. */
  readonly timeoutMs?: number;
  /** For tests: replaces the system clock. */
  readonly clock?: Clock;
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Endpoint {
  /** Ends with /api/v1. */
  readonly base: string;
  /** For error messages: without the path. */
  readonly shown: string;
  readonly headers: { readonly [name: string]: string };
  readonly fetch: Fetch;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const KEYS: ReadonlySet<string> = new Set(["key", "fetch", "signal", "retries", "timeoutMs", "clock"]);
const ROOT = "/api/v1";
const RETRIES = 3;
const RETRIES_MAX = 20;
const TIMEOUT_MS = 30_000;
const TIMEOUT_MS_MAX = 3_600_000;
const URL_HINT = 'for example "http://127.0.0.1:8000"';

export function parseEndpoint(url: string | URL, options: ConnectOptions): Endpoint {
  const { key, fetch, retries, timeoutMs, clock } = objectWith(options ?? {}, KEYS, "options") as ConnectOptions;
  if (fetch !== undefined && typeof fetch !== "function") throw wrongType("options.fetch", "a function", fetch);
  const { origin, pathname } = parseUrl(url);
  const path = pathname.replace(/\/+$/, "");
  return {
    base: `${origin}${path.endsWith(ROOT) ? path : path + ROOT}`,
    shown: origin,
    headers: key === undefined ? {} : { authorization: `Bearer ${parseKey(key)}` },
    // Called as a plain function: a browser's fetch refuses any other `this`.
    fetch: fetch ?? ((address, init) => globalThis.fetch(address, init)),
    retries: retries === undefined ? RETRIES : parseInteger(retries, "options.retries", 0, RETRIES_MAX),
    timeoutMs: timeoutMs === undefined ? TIMEOUT_MS : parseInteger(timeoutMs, "options.timeoutMs", 1, TIMEOUT_MS_MAX),
    clock: clock ?? systemClock,
  };
}

function parseUrl(url: string | URL): URL {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw invalid("url", "is not a URL", URL_HINT);
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw invalid("url", "must start with http:// or https://", URL_HINT);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid("url", "must not contain a password", "pass the API key as an option: connect(url, { key })");
  }
  if (parsed.search !== "" || parsed.hash !== "") {
    throw invalid("url", "must not have a query or a fragment", URL_HINT);
  }
  return parsed;
}

/** The key goes into a header. Characters that a header cannot carry are refused, and the key is never shown. */
function parseKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new HoldfastError("invalid_input", "options.key is not an API key", {
    hint: "pass it exactly as `holdfast key create` printed it, without quotes or line breaks",
    details: { field: "options.key" },
  });
}
