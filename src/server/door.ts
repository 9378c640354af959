/**
 * Door: what stands before every request: the names by which the server may be called, how much it takes on at once, who
 * the caller is, and how often it may knock.
 */
import { RateLimiterMemory } from "rate-limiter-flexible";
import { HoldfastError } from "../errors.js";
import type { Caller } from "./caller.js";
import type { Guard } from "./guard.js";
import type { KeyRing } from "./key-ring.js";

export interface DoorParts {
  readonly guard: Guard;
  readonly keys: KeyRing;
  readonly maxRequests: number;
  readonly ratePerSecond: number;
}

/** What of a request the door looks at. */
export interface Knock {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly address: string;
}

/** Bytes of all bodies that are worked on at the same time; one alone may be larger. */
const BODIES_MAX = 256 * 1024 * 1024;

export class Door {
  readonly #parts: DoorParts;
  readonly #rate: RateLimiterMemory | undefined;
  #inside = 0;
  /** Of their bodies. */
  #bytes = 0;
  #listening = 0;
  #turnedAway = 0;

  constructor(parts: DoorParts) {
    this.#parts = parts;
    const { ratePerSecond } = parts;
    this.#rate = ratePerSecond > 0 ? new RateLimiterMemory({ points: ratePerSecond, duration: 1 }) : undefined;
  }

  get inside(): number {
    return this.#inside;
  }

  /** Requests refused with 429 or 503. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  /** The origin that may read the answer, if the request comes from a page that is allowed. Rejects with `forbidden`. */
  greet({ host, origin }: Knock): string | undefined {
    return this.#parts.guard.check(host, origin);
  }

  /** Who it is, uncounted: for whoever was admitted before and still listens. Rejects with `unauthorized`. */
  recognise({ authorization }: Knock): Promise<Caller> {
    return this.#parts.keys.callerOf(authorization);
  }

  /** Rejects with `unauthorized` or `rate_limited`. Whoever shows no valid key is counted by address. */
  async admit({ authorization, address }: Knock): Promise<Caller> {
    try {
      const caller = await this.#parts.keys.callerOf(authorization);
      if (this.#rate) await this.#count(caller.key ? `key ${caller.key.id}` : `address ${address}`);
      return caller;
    } catch (error) {
      if (this.#rate && error instanceof HoldfastError && error.code === "unauthorized") {
        await this.#count(`address ${address}`);
      }
      throw error;
    }
  }

  /**
   * Counts a request with its body in until `leave`. Throws `overloaded` when there are too many, or too much of them:
   * nothing of it was done.
   */
  enter(bytes: number): void {
    const isFull = this.#inside >= this.#parts.maxRequests || (this.#inside > 0 && this.#bytes + bytes > BODIES_MAX);
    if (isFull) {
      this.#turnedAway++;
      throw new HoldfastError("overloaded", "the server has as many requests as it can work on", {
        hint: "try again after the time that Retry-After says; nothing of this request was done",
      });
    }
    this.#inside++;
    this.#bytes += bytes;
  }

  leave(bytes: number): void {
    this.#inside--;
    this.#bytes -= bytes;
  }

  /** Counts an open stream in until the function that it gives is called. As many are allowed as requests at once. */
  listen(): () => void {
    if (this.#listening >= this.#parts.maxRequests) {
      this.#turnedAway++;
      throw new HoldfastError("overloaded", "as many event streams are open as the server allows", {
        hint: "close some, or give the server a higher max_requests",
      });
    }
    this.#listening++;
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#listening--;
      hasLeft = true;
    };
  }

  async #count(who: string): Promise<void> {
    try {
      await this.#rate?.consume(who);
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
      this.#turnedAway++;
      throw new HoldfastError("rate_limited", `more than ${this.#parts.ratePerSecond} requests in a second`, {
        hint: "send fewer, or several messages in one request; nothing of this request was done",
      });
    }
  }
}
