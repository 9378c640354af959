/**
 * Handles what is common to every request: admission, metrics, logging, and turning errors into responses.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { Slot } from "../calls/call.js";
import type { Caller } from "../calls/caller.js";
import type { AdmissionControl, Sender } from "./admission-control.js";
import { failure } from "./answer.js";
import type { ServerLog } from "./log.js";
import { checkTarget } from "./request.js";
import type { Traffic } from "./traffic.js";

export interface AttendParts {
  readonly admission: AdmissionControl;
  readonly log: ServerLog;
  readonly traffic: Traffic;
}

export interface RouteAccess {
  /** The route pattern, never a path with names in it. */
  readonly route: string;
  /** If true, the route needs no key and has no caller. */
  readonly isOpen?: boolean;
}

export async function attend(
  { admission, log, traffic }: AttendParts,
  c: Context,
  { route, isOpen }: RouteAccess,
  work: (caller: Caller | undefined, slot: Slot) => Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  const sender = senderOf(c);
  let response: Response;
  let caller: Caller | undefined;
  let origin: string | undefined;
  try {
    origin = admission.checkOrigin(sender);
    checkTarget(c);
    if (!isOpen) caller = await admission.admit(sender);
    const slot = admission.enter(sender, caller);
    try {
      response = await work(caller, slot);
      leaveWhenRead(slot, c);
    } catch (error) {
      slot.leave();
      throw error;
    }
  } catch (error) {
    if (!hasLeft(c)) log.failed(route, error);
    response = hasLeft(c) ? new Response(null, { status: LEFT }) : failure(error);
  }
  if (origin !== undefined) allowReading(response, origin);
  if (c.req.method === "HEAD") await response.body?.cancel(); // an unread stream would stay open
  const ms = performance.now() - started;
  traffic.answered(route, response.status, ms);
  log.answered(route, response.status, ms, caller?.key?.id);
  return response;
}

/**
 * A request holds its slot until its response has been read, so a slow reader leaves fewer slots to itself. Node emits no
 * event for responses queued behind another one when their connection ends, so the socket's own `close` counts as well.
 */
function leaveWhenRead(slot: Slot, c: Context): void {
  const { incoming, outgoing } = (c.env ?? {}) as {
    readonly incoming?: IncomingMessage;
    readonly outgoing?: ServerResponse;
  };
  if (!outgoing || outgoing.closed || incoming?.socket.destroyed) {
    slot.leave();
    return;
  }
  const leave = (): void => {
    outgoing.off("close", leave);
    incoming?.socket.off("close", leave);
    slot.leave();
  };
  outgoing.once("close", leave);
  incoming?.socket.setMaxListeners(0); // one connection may pipeline any number of requests
  incoming?.socket.once("close", leave);
}

/** Client closed the request: recorded in metrics only, as nginx does. */
const LEFT = 499;

/** Whether the client disconnected before it had sent the whole request. This is not a server failure. */
function hasLeft(c: Context): boolean {
  const { incoming } = (c.env ?? {}) as { incoming?: { readonly destroyed: boolean; readonly complete: boolean } };
  return incoming?.destroyed === true && !incoming.complete;
}

/** Lets a page from an allowed origin read the response. */
export function allowReading(response: Response, origin: string): void {
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", "Retry-After");
  response.headers.set("vary", "Origin");
}

export function senderOf(c: Context): Sender {
  const incoming = (c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming;
  return {
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    authorization: c.req.header("authorization"),
    address: incoming?.socket?.remoteAddress ?? "",
  };
}
