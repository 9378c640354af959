/**
 * Which commits were this process's, so that those of others can be told from them.
 *
 * Numbers are noted only while somebody asks. A commit can be seen in the file before its answer is here; therefore those
 * that are under way are known, and can be waited for. A commit whose outcome was lost is not noted: it is told as if it
 * were another's.
 */
import type { Committed } from "../stores/store.js";

export class OwnCommits {
  readonly #underWay = new Set<Promise<Committed>>();
  readonly #numbers = new Set<number>();
  isNoting = false;

  /** Watches a commit; answers as it does. */
  async watch(commit: Promise<Committed>): Promise<Committed> {
    this.#underWay.add(commit);
    try {
      const committed = await commit;
      if (this.isNoting && committed.changed) this.#numbers.add(committed.commit);
      return committed;
    } finally {
      this.#underWay.delete(commit);
    }
  }

  /** Resolves when all that is under way now has been answered and noted, and whoever wrote has told of it. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay); // whoever called has the error
    await new Promise((resolve) => setImmediate(resolve));
  }

  get numbers(): readonly number[] {
    return [...this.#numbers];
  }

  forget(numbers: readonly number[]): void {
    for (const number of numbers) this.#numbers.delete(number);
  }

  stop(): void {
    this.isNoting = false;
    this.#numbers.clear();
  }
}
