/**
 * UnderWay: what is being embedded right now. Others can wait for it instead of doing it again; and what is edited or
 * forgotten meanwhile is known when its vectors come, so that they are not kept.
 */
import type { PendingItem } from "../../stores/indexing.js";
import type { CachedItem } from "./vector-cache.js";

/**
 * A question waits for a batch that is being embedded if it is this small; else it has its items embedded first. One
 * message of many pages makes a batch large.
 */
const ITEMS_MAX = 16;
const CHARACTERS_MAX = 4_096;

/** Which items are out of date. */
export type Outdated = (item: CachedItem) => boolean;

/** gone: forgotten · again: edited, or what they borrowed was, so that they wait again. */
export type Fate = "gone" | "again";

type Verdict = (item: CachedItem) => Fate | undefined;

export class UnderWay {
  readonly #items = new Map<string, Promise<void>>();
  /** Of each run: what has become of its items since it began. */
  readonly #runs = new Set<Verdict[]>();

  /** Whoever is embedding this item right now. */
  of(item: PendingItem): Promise<void> | undefined {
    return this.#items.get(nameOf(item));
  }

  /** Embeds these items; `work` can ask of each result whether it comes too late. */
  async run(items: readonly PendingItem[], work: (lateFor: Verdict) => Promise<void>): Promise<void> {
    const verdicts: Verdict[] = [];
    this.#runs.add(verdicts);
    const run = work((item) => {
      const fates = verdicts.map((verdict) => verdict(item));
      return fates.includes("gone") ? "gone" : fates.find((fate) => fate !== undefined);
    });
    const names = isSmall(items) ? items.map(nameOf) : [];
    for (const name of names) this.#items.set(name, run);
    try {
      await run;
    } finally {
      this.#runs.delete(verdicts);
      for (const name of names) this.#items.delete(name);
    }
  }

  forget(isOutdated: Outdated, fate: Fate): void {
    for (const verdicts of this.#runs) verdicts.push((item) => (isOutdated(item) ? fate : undefined));
  }
}

const isSmall = (items: readonly PendingItem[]): boolean =>
  items.length <= ITEMS_MAX && items.reduce((sum, { content }) => sum + content.length, 0) <= CHARACTERS_MAX;

export const nameOf = ({ key, version }: { readonly key: number; readonly version: number }): string =>
  `${key}.${version}`;
