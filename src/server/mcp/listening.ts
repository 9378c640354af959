/**
 * The stream of change notifications (`subscriptions/listen`). As for every stream, the key is checked again regularly; the
 * stream ends when the key is revoked or covers other spaces than before.
 *
 * Invariant: however the stream ends (client disconnects, server stops, key becomes invalid, nothing was subscribed to), its
 * timer, its slot and its polling for changes are released.
 */

import type { Caller } from "../../calls/caller.js";
import type { Clock } from "../../clock.js";
import { recheck } from "../validity.js";
import type { BlockBus } from "./block-bus.js";

export interface StreamRequest {
  readonly request: Request;
  /** The caller when the stream was opened. */
  readonly caller: Caller;
  /** Authenticates the caller again. Rejects when its key is no longer valid. */
  readonly confirm: () => Promise<Caller>;
  /** Counts the stream as open until the returned function is called. Throws when too many are open. */
  readonly listen: () => () => void;
  /** Registers a callback for when the server stops. The returned function removes it. */
  readonly whenStopping: WhenStopping;
}

export type WhenStopping = (end: () => void) => () => void;

export const isListening = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen";

/**
 * One listener on the signal serves all streams, because Node warns about many listeners. `AbortSignal.any` would leak: the
 * signals it derives are kept alive for as long as the server's own signal.
 */
export function whenStopping(stopping: AbortSignal): WhenStopping {
  const ends = new Set<() => void>();
  const endAll = (): void => {
    for (const end of [...ends]) end();
  };
  stopping.addEventListener("abort", endAll, { once: true });
  return (end) => {
    if (stopping.aborted) end();
    else ends.add(end);
    return () => void ends.delete(end);
  };
}

/** `answer` opens the stream; aborting its signal ends it. */
export async function listening(
  request: StreamRequest,
  clock: Clock,
  bus: BlockBus,
  answer: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const leave = request.listen();
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const { caller, confirm } = request;
  const cancel = recheck({ clock, caller, confirm }, end);
  const unregister = request.whenStopping(end);
  const { signal } = request.request;
  const stop = (): void => {
    cancel();
    leave();
    bus.stop();
    unregister();
    signal.removeEventListener("abort", end);
  };
  ending.signal.addEventListener("abort", stop, { once: true });
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    await bus.start();
    const response = await answer(ending.signal);
    if (!response.body || ending.signal.aborted) stop();
    return response.body ? new Response(notifyEnd(response.body, stop), response) : response;
  } catch (error) {
    stop();
    throw error;
  }
}

/** Calls `done` when the body has been read to its end or is cancelled. */
function notifyEnd(body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      const { value, done: isOver } = await reader.read();
      if (!isOver) return controller.enqueue(value);
      done();
      controller.close();
    },
    cancel: (reason) => {
      done();
      return reader.cancel(reason);
    },
  });
}
