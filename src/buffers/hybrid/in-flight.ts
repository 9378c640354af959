/**
 * InFlight: the items being embedded right now. Other callers can wait for an item instead of embedding it again. Edits
 * and deletions during a run are recorded, so that outdated vectors are discarded when they arrive. A call is aborted
 * once all its items are outdated.
 */
import type { PendingItem } from "../../stores/indexing.js";
import type { CachedItem } from "./vector-cache.js";
import type { Work } from "./work.js";

/**
 * A query waits for a batch in progress only if the batch is this small; otherwise it embeds its items itself. A single
 * message of many pages makes a batch large.
 */
const ITEMS_MAX = 16;
const CHARACTERS_MAX = 4_096;

/** Decides which items are outdated. */
export type Outdated = (item: Pick<CachedItem, "id" | "lane" | "borrowed">) => boolean;

/** gone: the item was forgotten · again: the item, or text it borrowed, was edited, so it is pending again. */
export type Fate = "gone" | "again";

/** What has happened to an item since a run began; undefined if nothing has. */
export type Verdict = (item: Parameters<Outdated>[0]) => Fate | undefined;

/** A run first reads items and then embeds them. */
export interface Run {
  /** Aborted together with the caller's signal, or when all items of the run are outdated. */
  readonly signal: AbortSignal;
  /** The verdict on items that are read but not yet being embedded. */
  readonly lateFor: Verdict;
  /** Registers the works that are embedded from now on. A work ends when it becomes outdated. */
  embeds(works: readonly Work[]): void;
}

interface Running {
  readonly verdicts: Verdict[];
  readonly abort: AbortController;
  works: readonly Work[];
}

export class InFlight {
  readonly #items = new Map<string, Promise<void>>();
  readonly #runs = new Set<Running>();

  /** The embedding in progress for this item, if any. */
  of(item: PendingItem): Promise<void> | undefined {
    return this.#items.get(nameOf(item));
  }

  /**
   * Resolves when `task` has resolved, or when everything it embeds is outdated. `items`: those known from the start.
   */
  async run(signal: AbortSignal, items: readonly PendingItem[], task: (run: Run) => Promise<void>): Promise<void> {
    const running: Running = { verdicts: [], abort: new AbortController(), works: [] };
    const { verdicts, abort } = running;
    const { promise: ended, resolve, reject } = withResolvers();
    const names = new Set<string>();
    const name = (named: readonly PendingItem[]): void => {
      for (const item of isSmall(named) ? named : []) {
        names.add(nameOf(item));
        this.#items.set(nameOf(item), ended);
      }
    };
    this.#runs.add(running);
    name(items);
    // Not AbortSignal.any: each call leaves state behind on a signal that lives as long as the memory is open.
    const stop = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", stop);
    const run: Run = {
      signal: abort.signal,
      lateFor: (item) => {
        const fates = verdicts.map((verdict) => verdict(item));
        return fates.includes("gone") ? "gone" : fates.find((fate) => fate !== undefined);
      },
      embeds: (works) => {
        running.works = works;
        name(works.map(({ item }) => item));
      },
    };
    task(run).then(resolve, reject);
    try {
      await ended;
    } catch (error) {
      if (!abort.signal.aborted || signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#runs.delete(running);
      for (const name of names) this.#items.delete(name);
    }
  }

  /** Ends the outdated works and returns them. */
  forget(isOutdated: Outdated, fate: Fate): readonly Work[] {
    return [...this.#runs].flatMap(({ verdicts, abort, works }) => {
      verdicts.push((item) => (isOutdated(item) ? fate : undefined));
      const ended = works.filter((work) => !work.isOver && isOutdated(work.outline));
      for (const work of ended) work.end();
      if (ended.length > 0 && works.every(({ isOver }) => isOver)) abort.abort();
      return ended;
    });
  }
}

function withResolvers() {
  let resolve = (): void => {};
  let reject = (_: unknown): void => {};
  const promise = new Promise<void>((onDone, onFailed) => {
    [resolve, reject] = [onDone, onFailed];
  });
  return { promise, resolve, reject };
}

const isSmall = (items: readonly PendingItem[]): boolean =>
  items.length <= ITEMS_MAX && items.reduce((sum, { content }) => sum + content.length, 0) <= CHARACTERS_MAX;

export const nameOf = ({ key, version }: { readonly key: number; readonly version: number }): string =>
  `${key}.${version}`;
