/**
 * Commits of writes that can be repeated without harm: claims, vectors, acknowledgements. They go past the WriteBuffer,
 * so that an add never waits for a flush to be put together, and a flush that hangs holds up no add.
 */
import type { Clock } from "../../clock.js";
import { fromRecord, HoldfastError } from "../../errors.js";
import type { Events } from "../../events/events.js";
import type { Done, Store, Write } from "../../stores/store.js";

/** What one write did, or why it did nothing. */
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

  /** How many transactions these were. */
  get count(): number {
    return this.#count;
  }

  /** Commits the writes in one transaction, each standing for itself. Rejects if nothing is known to be written. */
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
