/**
 * The record of what was removed from which space in which commit, by the space's name, which outlives the space.
 * It is bounded: below `floor` it no longer knows. A renamed space starts a new record under both names.
 */

import type { SpaceRef } from "../../types.js";
import type { Attempt } from "./attempt.js";
import { type Space, spaceName } from "./space.js";

interface Removal {
  readonly key: string;
  readonly commit: number;
  count: number;
}

export class Removals {
  readonly #max: number;
  readonly #log: Removal[] = [];
  readonly #renamed = new Map<string, number>();
  #floor = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(space: Space, attempt: Attempt): void {
    const key = keyOf(space.ref);
    const last = this.#log.at(-1);
    if (last?.key === key && last.commit === attempt.commit) {
      attempt.assign(last, { count: last.count + 1 });
      return;
    }
    this.#log.push({ key, commit: attempt.commit, count: 1 });
    attempt.onUndo(() => this.#log.pop());
  }

  rename(before: SpaceRef, after: SpaceRef, attempt: Attempt): void {
    attempt.set(this.#renamed, keyOf(before), attempt.commit);
    attempt.set(this.#renamed, keyOf(after), attempt.commit);
  }

  /** Forgets the oldest removals over the limit. Only between units: what is trimmed cannot be undone. */
  trim(): void {
    const excess = this.#log.length - this.#max;
    if (excess <= 0) return;
    this.#floor = this.#log[excess - 1]?.commit ?? this.#floor;
    this.#log.splice(0, excess);
  }

  /** What of the commits that are meant was removed; `complete` if the record reaches back to `commit`. */
  since(
    spaces: readonly SpaceRef[],
    commit: number,
    isMeant: (commit: number) => boolean,
  ): { readonly removed: number; readonly complete: boolean } {
    const keys = new Set(spaces.map(keyOf));
    let removed = 0;
    for (const removal of this.#log) if (isMeant(removal.commit) && keys.has(removal.key)) removed += removal.count;
    const renamed = [...keys].some((key) => (this.#renamed.get(key) ?? 0) > commit);
    return { removed, complete: commit >= this.#floor && !renamed };
  }
}

function keyOf(ref: SpaceRef): string {
  const { kind, name } = spaceName(ref);
  return `${kind} ${name}`;
}
