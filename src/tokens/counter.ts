/**
 * Counts tokens as a named model does, without blocking the event loop: the encoding lives in a thread that all
 * counters of the process share. See `Encoding` for when a count is exact.
 */
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { encodingOf } from "./models.js";
import { CountingThread } from "./thread.js";

export class TokenCounter {
  readonly model: string;
  readonly #thread: CountingThread;
  readonly #clock: Clock;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  /** Refuses a model whose encoding is unknown (`config`). Loads nothing. */
  constructor(model: string, clock: Clock = systemClock) {
    this.model = model;
    this.#thread = CountingThread.acquire(encodingOf(model));
    this.#clock = clock;
  }

  async count(texts: readonly string[]): Promise<readonly number[]> {
    if (this.#closed) throw new HoldfastError("closed", "the token counter is closed", { hint: "open another one" });
    if (texts.length === 0) return [];
    const counts = this.#thread.count(texts, this.#clock);
    this.#underWay.add(counts);
    try {
      return await counts;
    } finally {
      this.#underWay.delete(counts);
    }
  }

  /** Lets pending counts finish. The last counter of an encoding ends its thread. */
  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#underWay).then(() => this.#thread.release());
    return this.#closed;
  }
}
