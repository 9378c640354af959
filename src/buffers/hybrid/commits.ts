/**
 * RepeatableCommits: commits writes that are safe to repeat: claims, vectors, acknowledgements. They bypass the
 * WriteBuffer, so an add never waits while a flush is assembled, and a flush that hangs delays no add.
 */
import type { Clock } from "../../clock.js";
import { fromRecord, HoldfastError } from "../../errors.js";
import type { Events } from "../../events/events.js";
import type { Done, Store, Write } from "../../stores/store.js";

/** The result of one write, or why it did nothing. */
export type CommitResult = Done | HoldfastError;

export class RepeatableCommits {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #events: Events | undefined;
  #count = 0;

  constructor(store: Store, clock: Clock, events?: Events) {
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
  }

  /** Number of transactions committed. */
  get count(): number {
    return this.#count;
  }

  /**
   * Commits the writes in one transaction. Each write succeeds or fails independently. Rejects if no write is known to
   * be committed.
   */
  async commit(writes: readonly Write[]): Promise<readonly CommitResult[]> {
    const units = writes.map((write) => [write]);
    try {
      const committing = this.#store.commit(units, this.#clock.now(), "");
      const { outcomes } = await (this.#events?.watch(committing) ?? committing);
      this.#count++;
      return outcomes.map((outcome) => (outcome.ok ? (outcome.done[0] as Done) : fromRecord(outcome.error)));
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "outcome_unknown") await this.#store.reopen();
      throw error;
    }
  }

  async one<Op extends Write["op"]>(write: Extract<Write, { op: Op }>): Promise<Extract<Done, { op: Op }>> {
    const [result] = await this.commit([write as Write]);
    if (result instanceof HoldfastError) throw result;
    if (result?.op !== write.op) throw new HoldfastError("store_failed", "the store gave no answer for this write");
    return result as Extract<Done, { op: Op }>;
  }
}
