/**
 * A circuit breaker: after a number of failures in a row nobody is let through for a while, so that an embedder that is
 * down costs nobody time, and is not flooded when it comes back.
 *
 *   closed ── failures in a row ──▶ open ── its time is over ──▶ half-open ── the probe succeeds ──▶ closed
 *                                    ▲                              │
 *                                    └─ the probe fails: twice the time, up to a limit ─┘
 *
 * - Half-open lets one call through at a time.
 * - What was let through in an earlier state says nothing about this one: its outcome is ignored.
 * - All time is the Clock's. (cockatiel has a breaker, but reads Date.now and setTimeout, which a test cannot hold.)
 */
import type { Clock } from "../clock.js";

export type Circuit = "closed" | "open" | "half-open";

export interface BreakerOptions {
  /** Failures in a row that open the circuit. */
  readonly failuresMax: number;
  readonly openMs: number;
  readonly openMaxMs: number;
}

/** Leave to try; exactly one of its methods is called when the outcome is known. */
export interface Permit {
  succeeded(): void;
  failed(): void;
  /** It ended without saying anything about the embedder's health. */
  dropped(): void;
}

export class Breaker {
  readonly #clock: Clock;
  readonly #options: BreakerOptions;
  #circuit: Circuit = "closed";
  /** Counts the states there have been. */
  #epoch = 0;
  #since: number;
  #failures = 0;
  #openMs: number;
  #openUntil = 0;
  #isProbing = false;
  #cancelTimer: () => void = () => {};
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, options: BreakerOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#since = clock.now();
    this.#openMs = options.openMs;
  }

  get circuit(): Circuit {
    return this.#circuit;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** When the circuit came into its state, in epoch milliseconds. */
  get since(): number {
    return this.#since;
  }

  /** When a call may be let through, in epoch milliseconds; now, if the circuit is not open. */
  get retryAt(): number {
    const wait = this.#circuit === "open" ? Math.max(this.#openUntil - this.#clock.passed(), 0) : 0;
    return this.#clock.now() + wait;
  }

  get #isAvailable(): boolean {
    return this.#circuit === "closed" || (this.#circuit === "half-open" && !this.#isProbing);
  }

  /** Undefined: not now. */
  admit(): Permit | undefined {
    if (!this.#isAvailable) return undefined;
    this.#isProbing = this.#circuit === "half-open";
    const epoch = this.#epoch;
    const ifCurrent = (outcome: () => void) => () => {
      if (epoch === this.#epoch) outcome();
    };
    return {
      succeeded: ifCurrent(() => this.#succeed()),
      failed: ifCurrent(() => this.#fail()),
      dropped: ifCurrent(() => this.#drop()),
    };
  }

  /** Resolves when `admit` would let a call through. Whoever comes first gets it: the others wait again. */
  whenAvailable(): Promise<void> {
    if (this.#isAvailable) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Stops the timer and lets everybody go. */
  close(): void {
    this.#cancelTimer();
    this.#release();
  }

  #succeed(): void {
    this.#failures = 0;
    if (this.#circuit === "closed") return;
    this.#openMs = this.#options.openMs;
    this.#become("closed");
  }

  #fail(): void {
    this.#failures++;
    if (this.#circuit === "closed" && this.#failures < this.#options.failuresMax) return;
    this.#become("open");
    this.#openUntil = this.#clock.passed() + this.#openMs;
    this.#cancelTimer = this.#clock.after(this.#openMs, () => this.#become("half-open"));
    this.#openMs = Math.min(this.#openMs * 2, this.#options.openMaxMs);
  }

  #drop(): void {
    this.#isProbing = false;
    if (this.#isAvailable) this.#release();
  }

  #become(circuit: Circuit): void {
    this.#circuit = circuit;
    this.#epoch++;
    this.#since = this.#clock.now();
    this.#isProbing = false;
    if (this.#isAvailable) this.#release();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
