/**
 * Events of a server. A broken connection is reopened, for as long as it takes. The server keeps no events for absent
 * readers, so a `reconnected` event tells the reader that some may be missing.
 */
import { HoldfastError } from "../errors.js";
import type { MemoryEvent, MissedEvents } from "../events/event.js";
import { parseScope } from "../input/scope.js";
import type { Scope } from "../types.js";
import { ServerSentReader } from "./server-sent.js";
import { readStream, StreamBroken } from "./text-stream.js";
import { pause, waitOf } from "./timers.js";
import type { Transport } from "./transport.js";

/** Which events to receive. */
export interface RemoteEventsOptions {
  /** Only events of this scope's space or session. Default: all that the key covers. */
  readonly scope?: Scope;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** The connection was reopened. Events in between are lost. */
export interface ReconnectedEvent {
  readonly type: "reconnected";
  /** Epoch milliseconds, by the client's clock. */
  readonly at: number;
}

/** An event, as a client receives it. */
export type RemoteEvent = MemoryEvent | MissedEvents | ReconnectedEvent;

const EVENT_STREAM = "text/event-stream";
/** The server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 60_000;

export async function* remoteEvents(
  transport: Transport,
  { scope, signal }: RemoteEventsOptions,
): AsyncGenerator<RemoteEvent, void, void> {
  if (scope !== undefined) parseScope(scope, "options.scope"); // an empty scope does not mean everything
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
      if (!(error instanceof StreamBroken)) throw error;
      const mayComeAgain = error.failure.effect !== "final" && (hasConnected || tries < retries);
      if (!mayComeAgain) throw error.failure.error;
    }
    await pause(clock, waitOf(tries, reader.retryMs) ?? SILENCE_MS, [...transport.signals, transport.closing]);
  }
}

function eventIn(data: string, { endpoint }: Transport): MemoryEvent | MissedEvents {
  try {
    return JSON.parse(data) as MemoryEvent | MissedEvents;
  } catch (cause) {
    throw new HoldfastError("unreachable", `${endpoint.shown} sent an event that is not from a Holdfast server`, {
      hint: "check the URL; if there is a proxy in front of the server, check its log",
      cause,
    });
  }
}
