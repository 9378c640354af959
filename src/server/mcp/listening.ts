/**
 * Listening (`subscriptions/listen`): the stream that tells a client of changes. Its key is asked for again and again, as
 * that of every stream; one that is revoked, or covers other spaces by now, hears no more.
 *
 * Invariant: however it ends (the reader goes, the server stops, the key does not open it any more, the client asked for
 * nothing), nothing of it is left: no timer, no place at the door, nobody who looks for changes.
 */
import type { Clock } from "../../clock.js";
import type { Caller } from "../caller.js";
import { coversTheSame } from "../validity.js";
import type { BlockBus } from "./block-bus.js";

export interface Standing {
  readonly request: Request;
  /** As it was when the stream was opened. */
  readonly caller: Caller;
  /** Who the caller is by now. Rejects when its key opens nothing any more. */
  readonly confirm: () => Promise<Caller>;
  /** Counts an open stream in until the function that it gives is called. Throws when there are too many. */
  readonly listen: () => () => void;
  /** Has something done when the server stops, unless the function that it gives is called before. */
  readonly whenStopping: WhenStopping;
}

export type WhenStopping = (end: () => void) => () => void;

export const CONFIRM_MS = 15_000;

export const isListening = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen";

/**
 * One listener on the signal for all streams, because a signal warns of many. (`AbortSignal.any` would not do: what it makes
 * of a signal as old as the server is kept for as long as the server runs.)
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

/** `answer` gives the stream; its signal ends it. */
export async function listening(
  standing: Standing,
  clock: Clock,
  bus: BlockBus,
  answer: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const leave = standing.listen();
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const cancel = confirming(standing, clock, end);
  const forget = standing.whenStopping(end);
  const { signal } = standing.request;
  const stop = (): void => {
    cancel();
    leave();
    bus.stop();
    forget();
    signal.removeEventListener("abort", end);
  };
  ending.signal.addEventListener("abort", stop, { once: true });
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    await bus.start();
    const response = await answer(ending.signal);
    if (!response.body || ending.signal.aborted) stop();
    return response.body ? new Response(followed(response.body, stop), response) : response;
  } catch (error) {
    stop();
    throw error;
  }
}

/** Calls `done` when all of it was read, or nobody wants the rest. */
function followed(body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
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

function confirming({ caller, confirm }: Standing, clock: Clock, end: () => void): () => void {
  let isOver = false;
  let cancel = (): void => {};
  const again = (): void => {
    cancel = clock.after(CONFIRM_MS, () => {
      confirm().then((now) => {
        if (isOver) return;
        if (coversTheSame(caller, now)) again();
        else end();
      }, end);
    });
  };
  again();
  return () => {
    isOver = true;
    cancel();
  };
}
