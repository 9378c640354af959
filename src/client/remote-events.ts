/**
 * What moves through a server's buffers, as it happens. A connection that breaks is made again, for as long as it takes;
 * the server keeps nothing for those who are away, so the reader is told that it was.
 */
import { HoldfastError } from "../errors.js";
import type { MemoryEvent, MissedEvents } from "../events/event.js";
import { parseScope } from "../input/scope.js";
import type { Scope } from "../types.js";
import { ServerSentReader } from "./server-sent.js";
import { Cut, readStream } from "./text-stream.js";
import { pause, waitOf } from "./timers.js";
import type { Transport } from "./transport.js";

export interface RemoteEventsOptions {
  /** Only what happens in this scope's space, or session. Left out: all that the key covers. */
  readonly scope?: Scope;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** The connection was made again. What happened meanwhile is not told. */
export interface ReconnectedEvent {
  readonly type: "reconnected";
  /** Epoch milliseconds, on this side. */
  readonly at: number;
}

export type RemoteEvent = MemoryEvent | MissedEvents | ReconnectedEvent;

const EVENT_STREAM = "text/event-stream";
/** The server shows that it lives every 15 seconds. */
const SILENCE_MS = 60_000;

export async function* remoteEvents(
  transport: Transport,
  { scope, signal }: RemoteEventsOptions,
): AsyncGenerator<RemoteEvent, void, void> {
  if (scope !== undefined) parseScope(scope, "options.scope"); // an empty one is not everyone's
  const listening = transport.under(signal);
  try {
    yield* listen(listening, scope);
  } catch (error) {
    if (!signal?.aborted && !transport.closing.aborted) throw error;
  }
}

async function* listen(transport: Transport, scope: Scope | undefined): AsyncGenerator<RemoteEvent, void, void> {
  const { clock, retries } = transport.endpoint;
  let reader = new ServerSentReader();
  let hasConnected = false;
  for (let tries = 0; ; tries++) {
    const headers = reader.lastId === "" ? {} : { "last-event-id": reader.lastId };
    const { retryMs } = reader;
    reader = new ServerSentReader(reader.lastId);
    reader.retryMs = retryMs;
    let isOpen = false;
    try {
      for await (const text of readStream(transport, "events", {
        scope,
        headers,
        accept: EVENT_STREAM,
        silenceMs: SILENCE_MS,
      })) {
        if (!isOpen && hasConnected) yield { type: "reconnected", at: clock.now() };
        isOpen = true;
        hasConnected = true;
        tries = 0;
        for (const { data } of reader.take(text)) yield eventIn(data, transport);
      }
    } catch (error) {
      if (!(error instanceof Cut)) throw error;
      const mayComeAgain = error.failure.trace !== "final" && (hasConnected || tries < retries);
      if (!mayComeAgain) throw error.failure.error;
    }
    await pause(clock, waitOf(tries, reader.retryMs) ?? SILENCE_MS, [...transport.signals, transport.closing]);
  }
}

function eventIn(data: string, { endpoint }: Transport): MemoryEvent | MissedEvents {
  try {
    return JSON.parse(data) as MemoryEvent | MissedEvents;
  } catch (cause) {
    throw new HoldfastError("unreachable", `${endpoint.shown} sent an event that is not one of a Holdfast server`, {
      hint: "check the URL; if a proxy stands before the server, look into its log",
      cause,
    });
  }
}
