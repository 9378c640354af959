/**
 * Transport: calls operations of a server, and calls again what failed for a passing reason.
 *
 * - A call is repeated if nothing was done, whatever it is: the server says so (429, `overloaded`, `busy`, `loading`), or
 *   there was none to hear it; or if its outcome is unknown (no answer, 502, 503, 504) and doing it twice does no harm (repeatable.ts).
 * - It waits as long as the server asks for, else longer each time, with jitter. It does not wait for minutes: then the
 *   caller is told.
 * - A signal that aborts ends everything, also a wait, with its own reason.
 */
import { HoldfastError } from "../errors.js";
import type { DataOf } from "../schemas/operation.js";
import type { OperationName, Operations } from "../schemas/operations.js";
import { type Address, addressOf, type Target } from "./address.js";
import { type Failure, type Outcome, readAnswer } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import { lost, type Parcel, send, tooSlow } from "./exchange.js";
import { jsonOf } from "./outgoing.js";
import { isPatient, isRepeatable } from "./repeatable.js";
import { Guard, pause, waitOf } from "./timers.js";

export interface Call extends Target {
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** True: doing this one twice does no harm, although that is not so of all calls of the operation. */
  readonly repeatable?: boolean;
}

const PATIENCE = 10;

export class Transport {
  readonly endpoint: Endpoint;
  readonly signals: readonly AbortSignal[];
  readonly #life: Life;

  constructor(endpoint: Endpoint, signals: readonly AbortSignal[] = [], life: Life = new Life()) {
    this.endpoint = endpoint;
    this.signals = signals;
    this.#life = life;
  }

  /** The same connection, whose calls another signal ends too. */
  under(signal: AbortSignal | undefined): Transport {
    return signal === undefined ? this : new Transport(this.endpoint, [...this.signals, signal], this.#life);
  }

  async call<N extends OperationName>(name: N, call: Call = {}): Promise<DataOf<Operations[N]>> {
    return this.#life.during(this.#call(name, call));
  }

  /** Refuses further calls and ends streams. Resolves when the calls under way have been answered. */
  close(): Promise<void> {
    return this.#life.end();
  }

  /** Aborts when the connection is closed. */
  get closing(): AbortSignal {
    return this.#life.closing;
  }

  async #call<N extends OperationName>(name: N, call: Call): Promise<DataOf<Operations[N]>> {
    this.closing.throwIfAborted();
    const { retries, clock, timeoutMs } = this.endpoint;
    const harmless = call.repeatable ?? (isRepeatable(name) || call.idempotencyKey !== undefined);
    const patience = isPatient(name) ? PATIENCE : 1;
    const parcel = parcelOf(call);
    const address = addressOf(name, call);
    for (let tries = 0; ; tries++) {
      const outcome = await this.#try<DataOf<Operations[N]>>(address, parcel, timeoutMs * patience);
      if ("data" in outcome) return outcome.data;
      const waitMs = tries < retries && mayRepeat(outcome, harmless) ? waitOf(tries, outcome.retryAfterMs) : undefined;
      if (waitMs === undefined) throw outcome.error;
      await pause(clock, waitMs, [...this.signals, this.closing]);
    }
  }

  async #try<T>(address: Address, parcel: Parcel, timeoutMs: number): Promise<Outcome<T>> {
    const { endpoint, signals } = this;
    const guard = new Guard(signals);
    const cancelTimer = endpoint.clock.after(timeoutMs, () => guard.abort(tooSlow(endpoint, timeoutMs)));
    try {
      return await readAnswer<T>(await send(endpoint, address, parcel, guard), endpoint);
    } catch (error) {
      return lost(endpoint, guard, signals, error);
    } finally {
      cancelTimer();
      guard.release();
    }
  }
}

function parcelOf({ body, idempotencyKey }: Call): Parcel {
  return {
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": headerText(idempotencyKey) }),
    },
    ...(body !== undefined && { body: jsonOf(body) }),
  };
}

/** The calls under way over one connection, and its end. */
class Life {
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

const mayRepeat = ({ trace }: Failure, harmless: boolean): boolean =>
  trace === "nothing" || (trace === "unknown" && harmless);

/** A header carries visible ASCII. Any other text is written as RFC 8187 writes it: UTF-8''%E2%82%AC. */
export const headerText = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) && !/^UTF-8''/i.test(text) ? text : `UTF-8''${encodeURIComponent(text)}`;
