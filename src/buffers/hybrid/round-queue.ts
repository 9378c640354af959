/**
 * RoundQueue: embedded items waiting to be written, per lane, in arrival order. An item leaves the queue only when the
 * store has answered for it.
 */

import { laneKey } from "../../space-key.js";
import type { Lane } from "../../stores/indexing.js";
import type { CachedItem } from "./vector-cache.js";

/** The items of one lane. */
export interface QueuedLane {
  readonly lane: Lane;
  readonly items: readonly CachedItem[];
}

interface LaneQueue {
  readonly lane: Lane;
  readonly items: Map<number, CachedItem>;
}

export class RoundQueue {
  readonly #lanes = new Map<string, LaneQueue>();
  /** Keys of items that were removed without being written and may be pending again, by lane. */
  readonly #again = new Map<string, Set<number>>();
  #items = 0;
  #oldest: number | undefined;
  #newest = 0;

  /** `passed`: the arrival time on the monotonic clock. */
  put(item: CachedItem, passed: number): void {
    const name = laneKey(item.lane);
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
    return this.#lanes.get(laneKey(item.lane))?.items.get(item.key)?.version === item.version;
  }

  /** Removes exactly these entries; a newer version of the same item stays. */
  remove(items: readonly CachedItem[]): void {
    for (const item of items) {
      const name = laneKey(item.lane);
      const waiting = this.#lanes.get(name);
      if (waiting?.items.get(item.key) !== item) continue;
      waiting.items.delete(item.key);
      this.#items--;
      if (waiting.items.size === 0) this.#lanes.delete(name);
    }
    if (this.#items === 0) this.#oldest = undefined;
  }

  /** All queued items, lane by lane. Resets the oldest arrival time to `passed`. */
  snapshot(passed: number): readonly QueuedLane[] {
    this.#oldest = this.#items > 0 ? passed : undefined;
    return this.all;
  }

  /**
   * Marks an item that may be pending on disk again, in another version, with a lower key than items already queued.
   */
  readAgain({ lane, key }: { readonly lane: Lane; readonly key: number }): void {
    const name = laneKey(lane);
    this.#again.set(name, (this.#again.get(name) ?? new Set()).add(key));
  }

  /** Whether some of the lane's items must be read again. */
  isBehind(lane: Lane): boolean {
    return this.#again.has(laneKey(lane));
  }

  /**
   * The key after which to read the lane's pending items; everything pending up to it has been read. Keys are
   * increasing, so it is the highest key queued here or being embedded (`newest`), unless an item with a lower key must
   * be read again.
   */
  knownUpTo(lane: Lane, newest: number): number {
    const name = laneKey(lane);
    let last = newest;
    for (const key of this.#lanes.get(name)?.items.keys() ?? []) last = Math.max(last, key);
    for (const key of this.#again.get(name) ?? []) last = Math.min(last, key - 1);
    return last;
  }

  /** Records that the lane was read up to this key; Infinity means to its end. */
  wasRead(lane: Lane, upTo: number): void {
    const name = laneKey(lane);
    const again = this.#again.get(name);
    for (const key of again ?? []) if (key <= upTo) again?.delete(key);
    if (again?.size === 0) this.#again.delete(name);
  }

  /** The lanes with queued items. */
  get all(): readonly QueuedLane[] {
    return Array.from(this.#lanes.values(), ({ lane, items }) => ({ lane, items: [...items.values()] }));
  }

  count(lane: Lane): number {
    return this.#lanes.get(laneKey(lane))?.items.size ?? 0;
  }

  /** Number of queued rounds, each counted once per lane. An item without a session counts as its own round. */
  get rounds(): number {
    let rounds = 0;
    for (const { items } of this.#lanes.values()) rounds += roundsOf(items.values());
    return rounds;
  }

  get lanes(): number {
    return this.#lanes.size;
  }

  get items(): number {
    return this.#items;
  }

  /** The arrival times of the oldest and the newest queued item; undefined if the queue is empty. */
  get times(): { readonly oldest: number; readonly newest: number } | undefined {
    return this.#oldest === undefined ? undefined : { oldest: this.#oldest, newest: this.#newest };
  }
}

export const roundsOf = (items: Iterable<CachedItem>): number =>
  new Set(Array.from(items, ({ round, key }) => round ?? -key)).size;
