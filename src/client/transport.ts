/**
 * Transport: calls operations of a server, and retries calls that failed for a transient reason.
 *
 * - Any call is retried if it had no effect: the server says so (429, `overloaded`, `busy`, `loading`), or the connection was
 *   refused. A call of unknown outcome (no response, 502, 503, 504) is retried if a second one returns the first one's
 *   answer (`Retry` in routes.ts). Where that needs an idempotency key, each call has one: the caller's, or a new one.
 * - It waits as long as the server asks for, otherwise with exponential back-off and jitter. If the server asks for
 *   minutes, the call fails.
 * - An aborted signal ends everything, including a wait, with the signal's reason.
 */
import { HoldfastError } from "../errors.js";
import { newId } from "../ids.js";
import type { DataOf } from "../schemas/operation.js";
import type { OperationName, Operations } from "../schemas/operations.js";
import { ROUTES } from "../schemas/routes.js";
import { type Address, addressOf, type RouteName, type Target } from "./address.js";
import { type Failure, type Outcome, readAnswer } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import { noResponse, type Payload, send, tooSlow } from "./exchange.js";
import { jsonOf } from "./outgoing.js";
import { LinkedAbort, pause, waitOf } from "./timers.js";

export interface Call extends Target {
  readonly body?: object;
  /** The caller's. By default one is created where needed. */
  readonly idempotencyKey?: string | undefined;
}

/** Routes that respond when work is done, which may take long: embedding, extraction, purging. */
const SLOW_ROUTES: ReadonlySet<RouteName> = new Set<RouteName>([
  "flush",
  "extractFacts",
  "delete",
  "forget",
  "deleteBlock",
  "deleteEntry",
]);
/** Their time limit is this many times the usual one. */
const SLOW_FACTOR = 10;

export class Transport {
  readonly endpoint: Endpoint;
  readonly signals: readonly AbortSignal[];
  readonly #calls: Calls;

  constructor(endpoint: Endpoint, signals: readonly AbortSignal[] = [], calls: Calls = new Calls()) {
    this.endpoint = endpoint;
    this.signals = signals;
    this.#calls = calls;
  }

  /** The same connection, whose calls another signal can abort as well. */
  under(signal: AbortSignal | undefined): Transport {
    return signal === undefined ? this : new Transport(this.endpoint, [...this.signals, signal], this.#calls);
  }

  async call<N extends OperationName>(name: N, call: Call = {}): Promise<DataOf<Operations[N]>> {
    return this.#calls.during(this.#call(name, call));
  }

  /** Refuses further calls and ends streams. Resolves when the calls in progress are answered. */
  close(): Promise<void> {
    return this.#calls.end();
  }

  /** Aborts when the connection is closed. */
  get closing(): AbortSignal {
    return this.#calls.closing;
  }

  async #call<N extends OperationName>(name: N, call: Call): Promise<DataOf<Operations[N]>> {
    this.closing.throwIfAborted();
    const { retries, clock, timeoutMs } = this.endpoint;
    const { retry } = ROUTES[name];
    const key = retry === "key" ? (call.idempotencyKey ?? (retries > 0 ? newId(clock.now()) : undefined)) : undefined;
    const harmless = retry === "read" || retry === "repeatable" || key !== undefined;
    const factor = SLOW_ROUTES.has(name) ? SLOW_FACTOR : 1;
    const payload = payloadOf(call.body, key);
    const address = addressOf(name, call);
    for (let tries = 0; ; tries++) {
      const outcome = await this.#try<DataOf<Operations[N]>>(address, payload, timeoutMs * factor);
      if ("data" in outcome) return outcome.data;
      const waitMs = tries < retries && mayRepeat(outcome, harmless) ? waitOf(tries, outcome.retryAfterMs) : undefined;
      if (waitMs === undefined) throw outcome.error;
      await pause(clock, waitMs, [...this.signals, this.closing]);
    }
  }

  async #try<T>(address: Address, payload: Payload, timeoutMs: number): Promise<Outcome<T>> {
    const { endpoint, signals } = this;
    const abort = new LinkedAbort(signals);
    const cancelTimer = endpoint.clock.after(timeoutMs, () => abort.abort(tooSlow(endpoint, timeoutMs)));
    try {
      return await readAnswer<T>(await send(endpoint, address, payload, abort), endpoint);
    } catch (error) {
      return noResponse(endpoint, abort, signals, error);
    } finally {
      cancelTimer();
      abort.release();
    }
  }
}

function payloadOf(body: object | undefined, idempotencyKey: string | undefined): Payload {
  return {
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": headerText(idempotencyKey) }),
    },
    ...(body !== undefined && { body: jsonOf(body) }),
  };
}

/** The calls in progress on a connection, and whether it is closing. */
class Calls {
  readonly #end = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  get closing(): AbortSignal {
    return this.#end.signal;
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async end(): Promise<void> {
    this.#end.abort(new HoldfastError("closed", "the connection is closed", { hint: "connect again" }));
    await Promise.allSettled(this.#underWay);
  }
}

const mayRepeat = ({ effect }: Failure, harmless: boolean): boolean =>
  effect === "nothing" || (effect === "unknown" && harmless);

/** A header carries visible ASCII. Other text is encoded as in RFC 8187: UTF-8''%E2%82%AC. */
export const headerText = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) && !/^UTF-8''/i.test(text) ? text : `UTF-8''${encodeURIComponent(text)}`;
