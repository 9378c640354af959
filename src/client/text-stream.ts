/** A streamed response, read as text. It is aborted by signals, or when no data arrives for too long. */
import { HoldfastError } from "../errors.js";
import { addressOf, type RouteName, type Target } from "./address.js";
import { type Failure, readAnswer } from "./answer.js";
import { noResponse, send, tooSlow, unreachable } from "./exchange.js";
import { LinkedAbort } from "./timers.js";
import type { Transport } from "./transport.js";

/** Lines of JSON. */
export const NDJSON = "application/x-ndjson";

export interface StreamRequest extends Target {
  readonly accept: string;
  readonly headers?: { readonly [name: string]: string };
  /** Without a byte for this long, the connection counts as dead. */
  readonly silenceMs: number;
}

/** The stream could not be opened, or was interrupted. `failure` tells whether to reconnect. */
export class StreamBroken extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super("the stream was cut", { cause: failure.error });
    this.failure = failure;
  }
}

/** The pieces of the response. Fails with the error above, or with the reason of a signal. */
export async function* readStream(
  transport: Transport,
  name: RouteName,
  { accept, headers, silenceMs, ...target }: StreamRequest,
): AsyncGenerator<string, void, void> {
  const { endpoint } = transport;
  const signals = [...transport.signals, transport.closing];
  const abort = new LinkedAbort(signals);
  const fail = (error: unknown): StreamBroken => new StreamBroken(noResponse(endpoint, abort, signals, error));
  let cancelTimer = (): void => {};
  const expect = (ms: number): void => {
    cancelTimer();
    cancelTimer = endpoint.clock.after(ms, () => abort.abort(tooSlow(endpoint, ms)));
  };
  try {
    expect(endpoint.timeoutMs);
    const response = await send(endpoint, addressOf(name, target), { headers: { ...headers, accept } }, abort).catch(
      (error: unknown) => Promise.reject(fail(error)),
    );
    if (!response.ok || !response.headers.get("content-type")?.startsWith(accept))
      throw await refused(response, transport);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const decoded = (bytes: Uint8Array): string => {
      try {
        return decoder.decode(bytes, { stream: true });
      } catch (error) {
        throw fail(error); // not valid UTF-8
      }
    };
    const reader = response.body?.getReader();
    while (reader) {
      expect(silenceMs);
      const { done, value } = await reader.read().catch((error: unknown) => Promise.reject(fail(error)));
      if (done) return;
      cancelTimer(); // the reader may take its time
      yield decoded(value);
    }
  } finally {
    cancelTimer();
    abort.release();
    abort.abort(new HoldfastError("closed", "the stream is no longer read"));
  }
}

/** The lines of a response of JSON lines. A last line without its end is left out. */
export async function* readLines(
  transport: Transport,
  name: RouteName,
  request: Omit<StreamRequest, "accept">,
): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of readStream(transport, name, { ...request, accept: NDJSON })) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** The failure in a response that is not a stream: an envelope, or something from a proxy. */
async function refused(response: Response, { endpoint }: Transport): Promise<StreamBroken> {
  const outcome = await readAnswer(response, endpoint);
  return new StreamBroken("data" in outcome ? { error: unreachable(endpoint), effect: "final" } : outcome);
}
