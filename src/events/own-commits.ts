/**
 * OwnCommits: the space versions produced by this process's commits, to tell them from those of other processes.
 *
 * Versions are recorded only while spaces are watched. A commit can be visible in the file before its result arrives
 * here, so commits in progress are tracked and can be awaited. A commit whose outcome was lost is not recorded; it is
 * reported as if another process had made it.
 */
import type { Committed, SpaceVersion } from "../stores/store.js";

export class OwnCommits {
  readonly #underWay = new Set<Promise<Committed>>();
  readonly #versions = new Set<string>();
  isNoting = false;

  /** Tracks a commit and returns its result. */
  async watch(commit: Promise<Committed>): Promise<Committed> {
    this.#underWay.add(commit);
    try {
      const committed = await commit;
      if (this.isNoting) for (const version of committed.versions) this.#versions.add(nameOf(version));
      return committed;
    } finally {
      this.#underWay.delete(commit);
    }
  }

  /** Resolves when all commits in progress are answered and recorded, and their events are published. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay); // each caller gets its own error
    await new Promise((resolve) => setImmediate(resolve));
  }

  has(version: SpaceVersion): boolean {
    return this.#versions.has(nameOf(version));
  }

  get versions(): readonly string[] {
    return [...this.#versions];
  }

  forget(versions: readonly string[]): void {
    for (const version of versions) this.#versions.delete(version);
  }

  stop(): void {
    this.isNoting = false;
    this.#versions.clear();
  }
}

const nameOf = ({ id, version }: SpaceVersion): string => `${id}@${version}`;
