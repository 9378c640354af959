/**
 * Attend: what is done with every request, whatever it asks: it passes the door, is counted, answered, and noted. Failures
 * become answers here.
 */
import type { Context } from "hono";
import { failure } from "./answer.js";
import type { Caller } from "./caller.js";
import type { Door, Knock } from "./door.js";
import type { ServerLog } from "./log.js";
import type { Traffic } from "./traffic.js";

export interface AttendParts {
  readonly door: Door;
  readonly log: ServerLog;
  readonly traffic: Traffic;
}

export interface Visit {
  /** As it is written, never a path with names in it. */
  readonly route: string;
  /** How much of its body may come to be held. */
  readonly bytes: number;
  /** True: no key is asked for, and there is no caller. */
  readonly isOpen?: boolean;
}

export async function attend(
  { door, log, traffic }: AttendParts,
  c: Context,
  { route, bytes, isOpen }: Visit,
  work: (caller: Caller | undefined) => Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  const knock = knockOf(c);
  let response: Response;
  let caller: Caller | undefined;
  let origin: string | undefined;
  try {
    origin = door.greet(knock);
    door.enter(bytes);
    try {
      if (!isOpen) caller = await door.admit(knock);
      response = await work(caller);
    } finally {
      door.leave(bytes);
    }
  } catch (error) {
    if (!hasLeft(c)) log.failed(route, error);
    response = hasLeft(c) ? new Response(null, { status: LEFT }) : failure(error);
  }
  if (origin !== undefined) allowReading(response, origin);
  if (c.req.method === "HEAD") await response.body?.cancel(); // nobody will read it; a stream would stay open
  const ms = performance.now() - started;
  traffic.answered(route, response.status, ms);
  log.answered(route, response.status, ms, caller?.key?.id);
  return response;
}

/** How much of a body may come to be held. What does not say its length may have any. */
export function bytesToCome(c: Context, max: number): number {
  const length = Number(c.req.header("content-length") ?? max);
  return Math.min(Number.isNaN(length) ? max : length, max);
}

/** Nobody reads this answer; it is for the numbers. As other servers count it. */
const LEFT = 499;

/** The caller has gone before its request was whole: no failure of the server's. */
function hasLeft(c: Context): boolean {
  const { incoming } = (c.env ?? {}) as { incoming?: { readonly destroyed: boolean; readonly complete: boolean } };
  return incoming?.destroyed === true && !incoming.complete;
}

/** A page that is allowed may read the answer. */
export function allowReading(response: Response, origin: string): void {
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", "Retry-After");
  response.headers.set("vary", "Origin");
}

export function knockOf(c: Context): Knock {
  const incoming = (c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming;
  return {
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    authorization: c.req.header("authorization"),
    address: incoming?.socket?.remoteAddress ?? "",
  };
}
