/**
 * Server-sent events: what moves through the buffers, to whoever may see it. An open stream is asked for its key again with
 * every heartbeat: one that is revoked or expires sees no more. The stream also ends when the key covers other spaces than
 * before, because one was renamed or forgotten: the name may be another's by now. Whoever listens comes again.
 */

import { HoldfastError } from "../errors.js";
import type { MemoryEvent, MissedEvents } from "../events/event.js";
import { parseScope } from "../input/scope.js";
import type { Memory } from "../memory.js";
import type { Scope, SpaceKind, SpaceRef } from "../types.js";
import type { Caller } from "./caller.js";
import { coversTheSame } from "./validity.js";

const HEARTBEAT_MS = 15_000;
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
  /** Ends the stream: the reader has gone, or the server stops. */
  readonly signal: AbortSignal;
  /** Who the caller is by now. Rejects when its key opens nothing any more. */
  readonly confirm: () => Promise<Caller>;
  /** Counts the stream in until the function that it gives is called. Throws when there are too many. */
  readonly listen: () => () => void;
}

export function eventResponse(request: EventRequest): Response {
  const { memory, signal } = request;
  const spaces = spacesOf(request);
  const leave = request.listen();
  const stream = memory.events.stream({ signal, ...(spaces && { spaces }) });
  let cancelBeat = (): void => {};
  const end = (): void => {
    cancelBeat();
    leave();
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(ENCODER.encode("retry: 1000\n\n"));
      cancelBeat = beating(request, controller, () => stream.end());
    },
    pull: async (controller) => {
      for (;;) {
        const { value: event, done } = await stream.next();
        if (done) break;
        if (!isVisible(event, request)) continue;
        controller.enqueue(ENCODER.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
        return; // the next one when the reader wants it
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

/** Shows that the stream lives, and ends it when the key does not. */
function beating(
  { memory, caller, confirm }: EventRequest,
  controller: ReadableStreamDefaultController<Uint8Array>,
  end: () => void,
): () => void {
  const { clock } = memory.service;
  let cancel = (): void => {};
  let isOver = false;
  const again = (): void => {
    cancel = clock.after(HEARTBEAT_MS, () => {
      confirm().then((now) => {
        if (isOver) return;
        if (!coversTheSame(caller, now)) return end();
        controller.enqueue(ENCODER.encode(": alive\n\n"));
        again();
      }, end);
    });
  };
  again();
  return () => {
    isOver = true;
    cancel();
  };
}

/** The spaces to listen to; undefined: all that this process does, of which the reader is shown what its key covers. */
function spacesOf({ scope, caller }: EventRequest): readonly SpaceRef[] | undefined {
  if (Object.keys(scope).length > 0) return [parseScope(scope).space];
  if (KINDS.some((kind) => caller.coversAll(kind))) return undefined;
  const named = KINDS.flatMap((kind) => caller.named(kind));
  if (named.length > 0) return named;
  throw new HoldfastError("forbidden", "this key covers no space any more", { hint: "use another key" });
}

/** What the scope asks for, as far as the key covers it. A session is shown what belongs to it, and what names none. */
function isVisible(event: MemoryEvent | MissedEvents, { scope, caller }: EventRequest): boolean {
  if (event.type === "missed") return true;
  const isAsked = scope.session === undefined || event.session === undefined || event.session === scope.session;
  return isAsked && caller.covers(event.space);
}
