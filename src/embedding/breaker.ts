/**
 * A circuit breaker. After a number of consecutive failures it rejects calls for a while, so that callers do not wait
 * for an embedder that is down, and do not flood it when it recovers.
 *
 *   closed ── consecutive failures ──▶ open ── its time is over ──▶ half-open ── the probe succeeds ──▶ closed
 *                                       ▲                              │
 *                                       └─ the probe fails: twice the time, up to a limit ─┘
 *
 * - Half-open admits one call at a time.
 * - The outcome of a call that was admitted in an earlier state is ignored.
 * - All time comes from the Clock. (cockatiel's breaker uses Date.now and setTimeout, which a test cannot control.)
 */
import type { Clock } from "../clock.js";

export type Circuit = "closed" | "open" | "half-open";

export interface BreakerOptions {
  /** Consecutive failures that open the circuit. */
  readonly failuresMax: number;
  readonly openMs: number;
  readonly openMaxMs: number;
}

/** Permission for one call; exactly one of its methods is called when the outcome is known. */
export interface Permit {
  succeeded(): void;
  failed(): void;
  /** The call ended without saying anything about the embedder's health. */
  dropped(): void;
}

export class Breaker {
  readonly #clock: Clock;
  readonly #options: BreakerOptions;
  #circuit: Circuit = "closed";
  /** The number of state changes. */
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

  /** Consecutive failures. */
  get failures(): number {
    return this.#failures;
  }

  /** When the circuit entered its state, in epoch milliseconds. */
  get since(): number {
    return this.#since;
  }

  /** When a call may be admitted, in epoch milliseconds; now, if the circuit is not open. */
  get retryAt(): number {
    const wait = this.#circuit === "open" ? Math.max(this.#openUntil - this.#clock.passed(), 0) : 0;
    return this.#clock.now() + wait;
  }

  get #isAvailable(): boolean {
    return this.#circuit === "closed" || (this.#circuit === "half-open" && !this.#isProbing);
  }

  /** Undefined if the call is not admitted. */
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

  /**
   * Resolves when `admit` would admit a call. All waiters wake up; the first to call `admit` gets it, the others wait
   * again.
   */
  whenAvailable(): Promise<void> {
    if (this.#isAvailable) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Stops the timer and wakes all waiters. */
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
