/**
 * RoundQueue: embedded items in the order in which they came, per lane, waiting to be written. An item leaves it only
 * when the store has answered for it.
 */
import type { Lane } from "../../stores/indexing.js";
import { laneName } from "../lane-name.js";
import type { CachedItem } from "./vector-cache.js";

/** The items of one lane. */
export interface QueuedLane {
  readonly lane: Lane;
  readonly items: readonly CachedItem[];
}

interface Waiting {
  readonly lane: Lane;
  readonly items: Map<number, CachedItem>;
}

export class RoundQueue {
  readonly #lanes = new Map<string, Waiting>();
  /** Keys of items that left unwritten and may wait again, by lane. */
  readonly #again = new Map<string, Set<number>>();
  #items = 0;
  #oldest: number | undefined;
  #newest = 0;

  /** `passed`: the moment of arrival, on a clock that only grows. */
  put(item: CachedItem, passed: number): void {
    const name = laneName(item.lane);
    let waiting = this.#lanes.get(name);
    if (!waiting) {
      waiting = { lane: item.lane, items: new Map() };
      this.#lanes.set(name, waiting);
    }
    if (!waiting.items.has(item.key)) this.#items++;
    waiting.items.set(item.key, item);
    this.#oldest ??= passed;
    this.#newest = passed;
  }

  has(item: { readonly key: number; readonly version: number; readonly lane: Lane }): boolean {
    return this.#lanes.get(laneName(item.lane))?.items.get(item.key)?.version === item.version;
  }

  /** Removes exactly these entries; a newer version of the same item stays. */
  remove(items: readonly CachedItem[]): void {
    for (const item of items) {
      const name = laneName(item.lane);
      const waiting = this.#lanes.get(name);
      if (waiting?.items.get(item.key) !== item) continue;
      waiting.items.delete(item.key);
      this.#items--;
      if (waiting.items.size === 0) this.#lanes.delete(name);
    }
    if (this.#items === 0) this.#oldest = undefined;
  }

  /** What waits now, lane by lane. The oldest moment starts anew with what comes from here on. */
  snapshot(passed: number): readonly QueuedLane[] {
    this.#oldest = this.#items > 0 ? passed : undefined;
    return [...this.#lanes.values()].map(({ lane, items }) => ({ lane, items: [...items.values()] }));
  }

  /** The item may wait again on disk, in another version, behind others that are here. */
  readAgain({ lane, key }: { readonly lane: Lane; readonly key: number }): void {
    const name = laneName(lane);
    this.#again.set(name, (this.#again.get(name) ?? new Set()).add(key));
  }

  /** Whether something of the lane is to be read again. */
  isBehind(lane: Lane): boolean {
    return this.#again.has(laneName(lane));
  }

  /**
   * All of the lane that waits on disk and is not here comes after this key: keys grow, so it comes after the newest
   * here, unless something is to be read again.
   */
  knownUpTo(lane: Lane): number {
    const name = laneName(lane);
    let last = 0;
    for (const key of this.#lanes.get(name)?.items.keys() ?? []) last = Math.max(last, key);
    for (const key of this.#again.get(name) ?? []) last = Math.min(last, key - 1);
    return last;
  }

  /** The lane was read up to this key; Infinity: to its end. */
  wasRead(lane: Lane, upTo: number): void {
    const name = laneName(lane);
    const again = this.#again.get(name);
    for (const key of again ?? []) if (key <= upTo) again?.delete(key);
    if (again?.size === 0) this.#again.delete(name);
  }

  count(lane: Lane): number {
    return this.#lanes.get(laneName(lane))?.items.size ?? 0;
  }

  /** Rounds waiting, each counted once per lane; an item outside a session is a round of its own. */
  get rounds(): number {
    let rounds = 0;
    for (const { items } of this.#lanes.values()) {
      const seen = new Set<number>();
      for (const { round, key } of items.values()) seen.add(round ?? -key);
      rounds += seen.size;
    }
    return rounds;
  }

  get lanes(): number {
    return this.#lanes.size;
  }

  get items(): number {
    return this.#items;
  }

  /** When the oldest that waits came, and the newest; undefined when nothing waits. */
  get times(): { readonly oldest: number; readonly newest: number } | undefined {
    return this.#oldest === undefined ? undefined : { oldest: this.#oldest, newest: this.#newest };
  }
}
