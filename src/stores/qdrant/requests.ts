/**
 * Tracks requests in progress. Each ends with its response, its deadline, its caller's abort or `close`, whichever
 * comes first, and its connection is then released. No request outlives `close` or keeps the process alive.
 */
import { systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";

export class Requests {
  readonly #timeoutMs: number;
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** If the caller aborted, rejects with the caller's own reason. */
  async run<T>(send: (signal: AbortSignal) => Promise<T>, caller?: AbortSignal): Promise<T> {
    if (this.#isClosed) throw closed();
    caller?.throwIfAborted();
    const controller = new AbortController();
    const giveUp = (): void => controller.abort(caller?.reason);
    const stopTimer = systemClock.after(this.#timeoutMs, () => controller.abort(this.#timedOut()));
    caller?.addEventListener("abort", giveUp);
    this.#running.add(controller);
    try {
      return await send(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) throw controller.signal.reason;
      throw error;
    } finally {
      stopTimer();
      caller?.removeEventListener("abort", giveUp);
      this.#running.delete(controller);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort(closed());
  }

  #timedOut(): HoldfastError {
    return new HoldfastError("index_failed", `Qdrant did not answer within ${this.#timeoutMs} ms`, {
      hint: "check that the server is not overloaded, or raise `timeoutMs`; nothing is lost meanwhile",
      details: { timeoutMs: this.#timeoutMs },
    });
  }
}

const closed = (): HoldfastError =>
  new HoldfastError("closed", "the connection to Qdrant is closed", { hint: "make another QdrantIndex" });
