/**
 * AdmissionControl: decides which requests are served. It checks host and origin, authenticates the caller, limits its
 * rate, and bounds the work in progress, in total and per caller.
 */
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Slot } from "../calls/call.js";
import type { Caller } from "../calls/caller.js";
import { HoldfastError } from "../errors.js";
import type { Guard } from "./guard.js";
import type { KeyRing } from "./key-ring.js";
import { Pool } from "./pool.js";

export interface AdmissionParts {
  readonly guard: Guard;
  readonly keys: KeyRing;
  readonly maxRequests: number;
  readonly maxBodyBytes: number;
  readonly ratePerSecond: number;
}

/** The parts of a request that admission depends on. */
export interface Sender {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly address: string;
}

/** Upper bound of the bytes of all request bodies held in memory. */
const BYTES_MAX = 256 * 1024 * 1024;
/** Upper bound of a caller's unread response bytes. Beyond it, the caller's new requests are refused. */
const UNREAD_MAX = 64 * 1024 * 1024;

export class AdmissionControl {
  readonly #parts: AdmissionParts;
  readonly #rate: RateLimiterMemory | undefined;
  readonly #requests: Pool;
  readonly #bytes: Pool;
  readonly #streams: Pool;
  readonly #unread = new Pool(Infinity);
  #refused = 0;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    const { ratePerSecond, maxRequests, maxBodyBytes } = parts;
    this.#rate = ratePerSecond > 0 ? new RateLimiterMemory({ points: ratePerSecond, duration: 1 }) : undefined;
    this.#requests = new Pool(maxRequests);
    this.#streams = new Pool(maxRequests);
    // One caller may hold half of the pool, so half of it must fit the largest body.
    this.#bytes = new Pool(Math.max(BYTES_MAX, 2 * maxBodyBytes));
  }

  get inFlight(): number {
    return this.#requests.used;
  }

  /** Requests refused with 429 or 503. */
  get refused(): number {
    return this.#refused;
  }

  /** The origin that may read the response, if the request comes from an allowed page. Throws `forbidden`. */
  checkOrigin({ host, origin }: Sender): string | undefined {
    return this.#parts.guard.check(host, origin);
  }

  allowsHost({ host }: Sender): boolean {
    return this.#parts.guard.allowsHost(host);
  }

  /** The caller, without rate limiting: for streams that were admitted before. Rejects with `unauthorized`. */
  authenticate({ authorization }: Sender): Promise<Caller> {
    return this.#parts.keys.callerOf(authorization);
  }

  /** Rejects with `unauthorized` or `rate_limited`. Requests without a valid key are counted by address. */
  async admit(sender: Sender): Promise<Caller> {
    try {
      const caller = await this.authenticate(sender);
      await this.#count(nameOf(sender, caller));
      return caller;
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "unauthorized") await this.#count(nameOf(sender));
      throw error;
    }
  }

  /**
   * Takes a slot for a request. Throws `overloaded` if the server has no free slot, `rate_limited` if the caller has used up
   * its share.
   */
  enter(sender: Sender, caller?: Caller): Slot {
    const who = nameOf(sender, caller);
    this.#refuse(this.#requests.refusal(who, 1));
    this.#refuse(this.#unread.heldBy(who) > UNREAD_MAX ? "share" : undefined);
    this.#requests.take(who, 1);
    let [held, unread] = [0, 0];
    let isInside = true;
    const leave = (): void => {
      if (!isInside) return;
      isInside = false;
      this.#requests.take(who, -1);
      this.#bytes.take(who, -held);
      this.#unread.take(who, -unread);
    };
    return {
      hold: (bytes) => {
        if (bytes > held) this.#refuse(this.#bytes.refusal(who, bytes - held));
        this.#bytes.take(who, bytes - held);
        held = bytes;
      },
      answer: (bytes) => {
        this.#unread.take(who, bytes);
        unread += bytes;
      },
      listen: () => {
        const end = this.#listen(who);
        leave();
        return end;
      },
      leave,
    };
  }

  /** The limit on open streams equals the limit on concurrent requests. */
  #listen(who: string): () => void {
    this.#refuse(this.#streams.refusal(who, 1), "event streams", "close some");
    this.#streams.take(who, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#streams.take(who, -1);
      isOpen = false;
    };
  }

  #refuse(why: ReturnType<Pool["refusal"]>, what = "requests", hint = RETRY): void {
    if (why === undefined) return;
    this.#refused++;
    if (why === "full") {
      throw new HoldfastError("overloaded", `the server is at its limit of ${what}`, { hint });
    }
    throw new HoldfastError("rate_limited", `this caller is at its share of ${what}`, {
      hint,
    });
  }

  async #count(who: string): Promise<void> {
    try {
      await this.#rate?.consume(who);
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
      this.#refused++;
      throw new HoldfastError("rate_limited", `more than ${this.#parts.ratePerSecond} requests per second`, {
        hint: "send fewer requests, or several messages per request; this request had no effect",
      });
    }
  }
}

const RETRY = "retry after the time in Retry-After; this request had no effect";

/** Callers are counted by key, or by address if they have none. */
const nameOf = ({ address }: Sender, caller?: Caller): string =>
  caller?.key ? `key ${caller.key.id}` : `address ${address}`;
