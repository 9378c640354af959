/**
 * Server-sent events: what moves through the buffers, filtered by the caller's key. Every heartbeat checks the key again; a
 * stream ends when its key is revoked, expires, or covers other spaces than before. Clients reconnect.
 */

import type { Caller } from "../calls/caller.js";
import { HoldfastError } from "../errors.js";
import type { MemoryEvent, MissedEvents } from "../events/event.js";
import { parseScope } from "../input/scope.js";
import type { Memory } from "../memory.js";
import type { Scope, SpaceKind, SpaceRef } from "../types.js";
import { recheck } from "./validity.js";

const KINDS: readonly SpaceKind[] = ["user", "agent", "team"];
const ENCODER = new TextEncoder();
const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

export interface EventRequest {
  readonly memory: Memory;
  readonly scope: Scope;
  readonly caller: Caller;
  /** Ends the stream: the client disconnected, or the server stops. */
  readonly signal: AbortSignal;
  /** Authenticates the caller again. Rejects when its key is no longer valid. */
  readonly confirm: () => Promise<Caller>;
  /** Counts the stream as open until the returned function is called. Throws when too many are open. */
  readonly listen: () => () => void;
}

export function eventResponse(request: EventRequest): Response {
  const { memory, signal } = request;
  const spaces = spacesOf(request);
  const leave = request.listen();
  const stream = memory.events.stream({ signal, ...(spaces && { spaces }) });
  let stopChecks = (): void => {};
  const end = (): void => {
    stopChecks();
    leave();
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(ENCODER.encode("retry: 1000\n\n"));
      const { caller, confirm } = request;
      const beat = (): void => controller.enqueue(ENCODER.encode(": alive\n\n"));
      stopChecks = recheck({ clock: memory.service.clock, caller, confirm }, () => stream.end(), beat);
    },
    pull: async (controller) => {
      for (;;) {
        const { value: event, done } = await stream.next();
        if (done) break;
        if (!isVisible(event, request)) continue;
        controller.enqueue(ENCODER.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
        return; // until the reader pulls again
      }
      end();
      controller.close();
    },
    cancel: () => {
      end();
      stream.end();
    },
  });
  return new Response(body, { headers: HEADERS });
}

/** The spaces to subscribe to. Undefined means all; `isVisible` then filters by the caller's key. */
function spacesOf({ scope, caller }: EventRequest): readonly SpaceRef[] | undefined {
  if (Object.keys(scope).length > 0) return [parseScope(scope).space];
  if (KINDS.some((kind) => caller.coversAll(kind))) return undefined;
  const named = KINDS.flatMap((kind) => caller.named(kind));
  if (named.length > 0) return named;
  throw new HoldfastError("forbidden", "this key no longer covers any space", { hint: "use another key" });
}

/** Whether the scope selects the event and the key covers it. A session also sees events that belong to no session. */
function isVisible(event: MemoryEvent | MissedEvents, { scope, caller }: EventRequest): boolean {
  if (event.type === "missed") return true;
  const isAsked = scope.session === undefined || event.session === undefined || event.session === scope.session;
  return isAsked && caller.covers(event.space);
}
