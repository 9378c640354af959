/**
 * Makes an unreliable embedder dependable: every call has a timeout, failures are retried with back-off, and an
 * embedder that keeps failing is not called for a while (`Breaker`).
 *
 * - A failure is `embedder_failed`, a timeout, an answer that violates the contract, or an unknown error. Refused
 *   texts, aborted calls, `closed` and the like say nothing about the embedder's health and are passed on at once.
 * - Urgent calls are not retried: a caller is waiting, and can do without (words only).
 * - While the circuit is open, calls fail at once with `details: { circuit, retryAtMs }`; `whenAvailable` is for
 *   callers that can wait.
 * - Every vector and every description is checked before it is passed on.
 */
import { backOff } from "../back-off.js";
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { Breaker, type Circuit } from "./breaker.js";
import type { Embedder, EmbedderDescription, EmbedOptions } from "./embedder.js";
import { Interruptions } from "./interruptions.js";
import { checkDescription, soundVectors } from "./vector-check.js";

export interface GuardOptions {
  /** The timeout of one attempt. Longer: a hanging embedder blocks its callers for longer. */
  readonly timeoutMs?: number;
  /** How many times a call that is not urgent is retried after a failure. More: more load on a failing embedder. */
  readonly retriesMax?: number;
  readonly clock?: Clock;
}

export interface GuardStatus {
  /** Whether the model is loaded or has answered once. Until then its state is unknown. */
  readonly loaded: boolean;
  /** What the installation lacks, and what to do. */
  readonly advice?: string;
  readonly circuit: Circuit;
  /** Since when, in epoch milliseconds. */
  readonly sinceMs: number;
  /** When the embedder is tried again, if the circuit is open. */
  readonly retryAtMs?: number;
  /** Consecutive failures. */
  readonly failures: number;
  /** The message of the last failure, until a call succeeds. */
  readonly lastError?: string;
  /** Calls of `embed`, whatever their outcome. */
  readonly calls: number;
  /** Calls of `embed` that ended with `embedder_failed`, including those rejected by the circuit. */
  readonly failedCalls: number;
  /** Texts that were embedded. */
  readonly texts: number;
}

const TIMEOUT_MS = 60_000;
const RETRIES_MAX = 2;
const RETRY_MS = 200;
/**
 * If a server asks for a longer delay than this, the call is retried after this delay, and further failures are left to
 * the breaker.
 */
const RETRY_MAX_MS = 10_000;
const BREAKER = { failuresMax: 5, openMs: 10_000, openMaxMs: 60_000 };

export class GuardedEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #retriesMax: number;
  readonly #breaker: Breaker;
  readonly #interruptions = new Interruptions();
  #description: EmbedderDescription | undefined;
  #closed: Promise<void> | undefined;
  #lastError: string | undefined;
  #calls = 0;
  #failedCalls = 0;
  #texts = 0;

  constructor(inner: Embedder, { timeoutMs, retriesMax, clock = systemClock }: GuardOptions = {}) {
    this.#inner = inner;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#retriesMax = retriesMax ?? RETRIES_MAX;
    this.#breaker = new Breaker(clock, BREAKER);
  }

  get model(): string {
    return this.#inner.model;
  }

  async describe(): Promise<EmbedderDescription> {
    this.#requireOpen();
    return this.#description ?? this.#persist(this.#retriesMax, undefined, () => this.#describe());
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    this.#requireOpen();
    return this.#inner.countTokens(texts);
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    if (texts.length === 0) return [];
    this.#calls++;
    // A retry may come after the caller has changed the list.
    const own = [...texts];
    try {
      const retries = options.urgent ? 0 : this.#retriesMax;
      const vectors = await this.#persist(retries, options.signal, async (signal) => {
        const { space } = await this.#describe();
        return soundVectors(await this.#inner.embed(own, { ...options, signal }), own.length, space.dimensions);
      });
      this.#texts += own.length;
      return vectors;
    } catch (error) {
      if (isFailure(error)) this.#failedCalls++;
      throw error;
    }
  }

  status(): GuardStatus {
    const { circuit, since, failures, retryAt } = this.#breaker;
    return {
      loaded: this.#description !== undefined,
      ...(this.#description?.advice !== undefined && { advice: this.#description.advice }),
      circuit,
      sinceMs: since,
      ...(circuit === "open" && { retryAtMs: retryAt }),
      failures,
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
      calls: this.#calls,
      failedCalls: this.#failedCalls,
      texts: this.#texts,
    };
  }

  /**
   * Resolves when a call would be admitted: at once, or when the circuit may be probed. All waiters wake up; the first
   * call is the probe, and the others wait again. Also resolves on close: the next call then rejects with `closed`.
   */
  async whenAvailable(): Promise<void> {
    if (!this.#closed) await this.#breaker.whenAvailable();
  }

  /** Rejects pending calls with `closed`. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#interruptions.interruptAll(closedError());
    this.#breaker.close();
    await this.#inner.close();
  }

  async #describe(): Promise<EmbedderDescription> {
    if (this.#description) return this.#description;
    const description = await this.#inner.describe();
    checkDescription(description, this.#inner.model);
    this.#description = description;
    return description;
  }

  async #persist<T>(retries: number, signal: AbortSignal | undefined, task: Task<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const permit = this.#breaker.admit();
      if (!permit) throw this.#turnedAway();
      try {
        const result = await this.#attempt(signal, task);
        permit.succeeded();
        if (this.#breaker.failures === 0) this.#lastError = undefined;
        return result;
      } catch (error) {
        const known = error instanceof HoldfastError || signal?.aborted ? error : unknownFailure(error);
        if (!isFailure(known)) {
          permit.dropped();
          throw known;
        }
        this.#lastError = known.message;
        permit.failed();
        if (attempt >= retries || this.#breaker.circuit !== "closed") throw known;
        this.#requireOpen();
        await this.#pause(signal, pauseMs(attempt, known));
      }
    }
  }

  /** One attempt. If it ends before the embedder has answered, the embedder's signal is aborted. */
  #attempt<T>(signal: AbortSignal | undefined, task: Task<T>): Promise<T> {
    const controller = new AbortController();
    return this.#interruptions.run<T>(signal, (resolve, reject) => {
      const cancelTimer = this.#clock.after(this.#timeoutMs, () => reject(timedOut(this.#timeoutMs)));
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      task(controller.signal).finally(over).then(resolve, reject);
      return () => {
        cancelTimer();
        if (!isOver) controller.abort();
      };
    });
  }

  #pause(signal: AbortSignal | undefined, ms: number): Promise<void> {
    return this.#interruptions.run<void>(signal, (resolve) => this.#clock.after(ms, resolve));
  }

  #turnedAway(): HoldfastError {
    const { circuit, retryAt, failures } = this.#breaker;
    const last = this.#lastError === undefined ? "" : `: ${this.#lastError}`;
    return new HoldfastError(
      "embedder_failed",
      `the embedder has failed ${failures} times in a row and is not called for a while${last}`,
      {
        hint: "it is retried automatically",
        details: { circuit, retryAtMs: retryAt },
      },
    );
  }

  #requireOpen(): void {
    if (this.#closed) throw closedError();
  }
}

type Task<T> = (signal: AbortSignal) => Promise<T>;

function isFailure(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === "embedder_failed";
}

/** Doubles with every attempt, with jitter; at least as long as the embedder asked for, up to a limit. */
function pauseMs(attempt: number, { details }: HoldfastError): number {
  const asked = Number(details["retryAfterMs"]) || 0;
  return Math.min(Math.max(backOff(attempt, RETRY_MS, RETRY_MAX_MS), asked), RETRY_MAX_MS);
}

function timedOut(ms: number): HoldfastError {
  return new HoldfastError("embedder_failed", `the embedder did not answer within ${ms} ms`, {
    hint: "check whether it is overloaded; send fewer texts at once, or raise the timeout",
  });
}

function unknownFailure(cause: unknown): HoldfastError {
  const kind = cause instanceof Error ? cause.name : typeof cause;
  return new HoldfastError("embedder_failed", `the embedder failed with an unknown error (${kind})`, {
    hint: "see the cause for details; the same call may succeed later",
    cause,
  });
}

const closedError = (): HoldfastError =>
  new HoldfastError("closed", "the embedder is closed", { hint: "open another one" });
