/**
 * An embedder that may fail, made fit to depend on: every call has a time-out, failures are retried with back-off, and an
 * embedder that keeps failing is left alone for a while (`Breaker`).
 *
 * - A failure is `embedder_failed`, a time-out, an answer that breaks the contract, or an error of unknown kind. Refused
 *   texts, aborted calls, `closed` and the like say nothing about the embedder's health: they are passed on at once.
 * - Urgent calls are not retried: somebody waits, and can do without (words only).
 * - While the circuit is open, calls fail at once with `details: { circuit, retryAtMs }`; `whenAvailable` is for those who
 *   can wait.
 * - No wrong vector is passed on: number, dimensions and finiteness are checked, whoever made them.
 */
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { Breaker, type Circuit } from "./breaker.js";
import type { Embedder, EmbedderDescription, EmbedOptions } from "./embedder.js";
import { Interruptions } from "./interruptions.js";
import { checkVectors } from "./vector-check.js";

export interface GuardOptions {
  /** How long the embedder may take for one attempt. Longer: a hanging embedder holds up its callers for as long. */
  readonly timeoutMs?: number;
  /** How often a call that is not urgent is repeated after a failure. More: more load on an embedder in trouble. */
  readonly retriesMax?: number;
  readonly clock?: Clock;
}

export interface GuardStatus {
  /** Whether the model is loaded, or has answered once; before that nothing is known of it. */
  readonly loaded: boolean;
  readonly circuit: Circuit;
  /** Since when, in epoch milliseconds. */
  readonly sinceMs: number;
  /** When the embedder is tried again, if the circuit is open. */
  readonly retryAtMs?: number;
  /** Failures in a row. */
  readonly failures: number;
  /** What the last failure said, until something succeeds. */
  readonly lastError?: string;
  /** Calls of `embed`, whatever became of them. */
  readonly calls: number;
  /** Calls of `embed` that ended with `embedder_failed`, those that were not let through included. */
  readonly failedCalls: number;
  /** Texts that were embedded. */
  readonly texts: number;
}

const TIMEOUT_MS = 60_000;
const RETRIES_MAX = 2;
const RETRY_MS = 200;
/** A server that asks for more patience than this is not waited for, but tried once more, and then left to the breaker. */
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
    // An attempt may come after the caller has changed the list.
    const own = [...texts];
    try {
      const retries = options.urgent ? 0 : this.#retriesMax;
      const vectors = await this.#persist(retries, options.signal, async (signal) => {
        const { space } = await this.#describe();
        const vectors = await this.#inner.embed(own, { ...options, signal });
        checkVectors(vectors, own.length, space.dimensions);
        return vectors;
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
   * Resolves when a call would be let through: at once, or when the circuit's time is over. Several who wait are all told;
   * the first call is the probe, and the others wait again. Also resolves on close: the next call then says so.
   */
  async whenAvailable(): Promise<void> {
    if (!this.#closed) await this.#breaker.whenAvailable();
  }

  /** Ends what is under way with `closed`. */
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
    this.#description ??= await this.#inner.describe();
    return this.#description;
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

  /** One try. If it ends before the embedder has answered, the embedder is told to stop; whether it does is its affair. */
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
    return new HoldfastError(
      "embedder_failed",
      `the embedder has failed ${failures} times in a row and is left alone`,
      {
        hint: `${this.#lastError ?? "it is being tried"}; it is tried again by itself`,
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

/** Doubles with every attempt, and differs between callers; at least as long as the embedder asked for, up to a limit. */
function pauseMs(attempt: number, { details }: HoldfastError): number {
  const backOff = RETRY_MS * 2 ** attempt * (0.5 + Math.random() / 2);
  const asked = Number(details["retryAfterMs"]) || 0;
  return Math.min(Math.max(backOff, asked), RETRY_MAX_MS);
}

function timedOut(ms: number): HoldfastError {
  return new HoldfastError("embedder_failed", `the embedder did not answer within ${ms} ms`, {
    hint: "check whether it is overloaded; give it fewer texts at once or more time",
  });
}

function unknownFailure(cause: unknown): HoldfastError {
  const kind = cause instanceof Error ? cause.name : typeof cause;
  return new HoldfastError("embedder_failed", `the embedder failed in a way of its own (${kind})`, {
    hint: "the cause says more; the same call may succeed later",
    cause,
  });
}

const closedError = (): HoldfastError =>
  new HoldfastError("closed", "the embedder is closed", { hint: "open another one" });
