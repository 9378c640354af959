/** An answer that comes bit by bit: opened under signals, read as text, and given up when it falls silent. */
import { HoldfastError } from "../errors.js";
import { addressOf, type RouteName, type Target } from "./address.js";
import { type Failure, readAnswer } from "./answer.js";
import { lost, send, tooSlow, unreachable } from "./exchange.js";
import { Guard } from "./timers.js";
import type { Transport } from "./transport.js";

export interface StreamRequest extends Target {
  readonly accept: string;
  readonly headers?: { readonly [name: string]: string };
  /** No byte for so long: the connection is dead, whatever it says. */
  readonly silenceMs: number;
}

/** The stream could not be opened, or broke off: `failure` says whether to come again. */
export class Cut extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super("the stream was cut", { cause: failure.error });
    this.failure = failure;
  }
}

/** The text of the answer in pieces. Fails with a `Cut`, or with the reason of a signal. */
export async function* readStream(
  transport: Transport,
  name: RouteName,
  { accept, headers, silenceMs, ...target }: StreamRequest,
): AsyncGenerator<string, void, void> {
  const { endpoint } = transport;
  const signals = [...transport.signals, transport.closing];
  const guard = new Guard(signals);
  const fail = (error: unknown): Cut => new Cut(lost(endpoint, guard, signals, error));
  let cancelTimer = (): void => {};
  const expect = (ms: number): void => {
    cancelTimer();
    cancelTimer = endpoint.clock.after(ms, () => guard.abort(tooSlow(endpoint, ms)));
  };
  try {
    expect(endpoint.timeoutMs);
    const response = await send(endpoint, addressOf(name, target), { headers: { ...headers, accept } }, guard).catch(
      (error: unknown) => Promise.reject(fail(error)),
    );
    if (!response.ok || !response.headers.get("content-type")?.startsWith(accept))
      throw await refused(response, transport);
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    while (reader) {
      expect(silenceMs);
      const { done, value } = await reader.read().catch((error: unknown) => Promise.reject(fail(error)));
      if (done) return;
      cancelTimer(); // whoever reads may take its time
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    cancelTimer();
    guard.release();
    guard.abort(new HoldfastError("closed", "the stream is no longer read"));
  }
}

/** An answer that is no stream: an envelope with the reason, or something between us and the server. */
async function refused(response: Response, { endpoint }: Transport): Promise<Cut> {
  const outcome = await readAnswer(response, endpoint);
  return new Cut("data" in outcome ? { error: unreachable(endpoint), trace: "final" } : outcome);
}
