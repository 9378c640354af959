/**
 * Unfinished: partly embedded items, by lane. They wait for the next turn of their space.
 *
 * Memory is bounded: apart from the largest, all items together take at most `maxBytes` once they are finished. An item
 * that does not fit is postponed: only its key is kept, and the item is read again when there is space.
 */

import { laneKey } from "../../space-key.js";
import type { Lane, PendingItem } from "../../stores/indexing.js";
import type { Work } from "./work.js";

/** Estimated bytes per UTF-16 unit until the item is written: the text twice, and its share of a vector. */
const BYTES_PER_UNIT = 8;

export class Unfinished {
  readonly #maxBytes: number;
  readonly #lanes = new Map<string, Map<number, Work>>();
  /** Keys and content lengths of postponed items, by lane. */
  readonly #postponed = new Map<string, Map<number, number>>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  of(lane: Lane): readonly Work[] {
    return [...(this.#lanes.get(laneKey(lane))?.values() ?? [])];
  }

  find({ lane, key, version }: PendingItem): Work | undefined {
    const work = this.#lanes.get(laneKey(lane))?.get(key);
    return work?.item.version === version ? work : undefined;
  }

  put(work: Work): void {
    const name = laneKey(work.item.lane);
    this.#lanes.set(name, (this.#lanes.get(name) ?? new Map<number, Work>()).set(work.item.key, work));
  }

  remove({ item }: Work): void {
    const name = laneKey(item.lane);
    const works = this.#lanes.get(name);
    works?.delete(item.key);
    if (works?.size === 0) this.#lanes.delete(name);
  }

  /** Drops all items of a lane that another process now holds. */
  leave(lane: Lane): void {
    for (const work of this.of(lane)) work.end();
    this.#lanes.delete(laneKey(lane));
    this.#postponed.delete(laneKey(lane));
  }

  /** Whether an item of this many UTF-16 units fits. */
  hasRoomFor(units: number): boolean {
    const all = [units, ...this.all.map(({ item }) => item.content.length)];
    const others = all.reduce((sum, one) => sum + one, 0) - Math.max(...all);
    return others * BYTES_PER_UNIT <= this.#maxBytes;
  }

  postpone({ lane, key, content }: PendingItem): void {
    const name = laneKey(lane);
    this.#postponed.set(name, (this.#postponed.get(name) ?? new Map<number, number>()).set(key, content.length));
  }

  /** Removes and returns the keys of the lane's postponed items that now fit. */
  takePostponed(lane: Lane): readonly number[] {
    const postponed = this.#postponed.get(laneKey(lane));
    const keys = [...(postponed ?? [])].flatMap(([key, units]) => (this.hasRoomFor(units) ? key : []));
    for (const key of keys) postponed?.delete(key);
    if (postponed?.size === 0) this.#postponed.delete(laneKey(lane));
    return keys;
  }

  /** Number of the lane's items that are unfinished or postponed. */
  count(lane: Lane): number {
    const name = laneKey(lane);
    return (this.#lanes.get(name)?.size ?? 0) + (this.#postponed.get(name)?.size ?? 0);
  }

  /** The highest key among the lane's unfinished and postponed items; 0 if there is none. */
  newest(lane: Lane): number {
    const name = laneKey(lane);
    return Math.max(0, ...(this.#lanes.get(name)?.keys() ?? []), ...(this.#postponed.get(name)?.keys() ?? []));
  }

  get all(): readonly Work[] {
    return [...this.#lanes.values()].flatMap((works) => [...works.values()]);
  }
}
