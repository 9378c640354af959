/** Where a server is, and how it is talked to: what `connect` was given, checked once. */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { parseInteger } from "../input/integer.js";
import { invalid, objectWith, wrongType } from "../input/refusal.js";
import { timeOfDay } from "./timers.js";

export interface ConnectOptions {
  /** The API key; left out, the server must be one that asks for none. */
  readonly key?: string;
  /** Used in place of the runtime's own `fetch`. */
  readonly fetch?: Fetch;
  /** Ends all that was asked through this connection: what is under way rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How often a call that may be repeated is repeated, 0 to 20. 3 if left out. */
  readonly retries?: number;
  /** How long one try may take, in milliseconds. 30000 if left out; ten times that for what waits for work to be done. */
  readonly timeoutMs?: number;
  /** For tests: what waits are measured by. */
  readonly clock?: Clock;
}

/** What is needed of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Endpoint {
  /** Ends with /api/v1. */
  readonly base: string;
  /** As errors show it: without a path. */
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
    // Called without its object: a browser's fetch refuses any other `this`.
    fetch: fetch ?? ((address, init) => globalThis.fetch(address, init)),
    retries: retries === undefined ? RETRIES : parseInteger(retries, "options.retries", 0, RETRIES_MAX),
    timeoutMs: timeoutMs === undefined ? TIMEOUT_MS : parseInteger(timeoutMs, "options.timeoutMs", 1, TIMEOUT_MS_MAX),
    clock: clock ?? timeOfDay,
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
    throw invalid("url", "must begin with http:// or https://", URL_HINT);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid("url", "must not contain a password", "give the API key as an option: connect(url, { key })");
  }
  if (parsed.search !== "" || parsed.hash !== "") {
    throw invalid("url", "must not have a query or a fragment", URL_HINT);
  }
  return parsed;
}

/** It is put into a header, so what a header cannot carry is refused here, and never shown. */
function parseKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new HoldfastError("invalid_input", "options.key is not an API key", {
    hint: "give it as `holdfast key create` has shown it, without quotes or line ends",
    details: { field: "options.key" },
  });
}
