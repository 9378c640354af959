/**
 * VectorCache: vectors of items that are embedded but not yet written. They are searchable at once.
 *
 * The cache holds numbers and references, no text. A result is only a candidate: the reader checks its key and version
 * against the store before it is returned. An entry whose item was edited or forgotten elsewhere is therefore harmless.
 */
import type { Span } from "../../graphemes.js";
import { bestDot } from "../../retrieval/vectors/dot.js";
import { laneKey, spaceKey } from "../../space-key.js";
import type { Lane } from "../../stores/indexing.js";
import type { FreshScore } from "../../stores/search.js";
import type { Level, SpaceRef } from "../../types.js";

/** An embedded item. */
export interface CachedItem {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly lane: Lane;
  readonly round: number | undefined;
  readonly recordedAt: number;
  readonly spans: readonly Span[];
  /** The vectors of its chunks, concatenated. */
  readonly vectors: Float32Array;
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/** round: embedded ahead of its batch, for a query · hybrid: transferred, waiting to be written. */
export type CacheLevel = Exclude<Level, "store">;

interface CacheEntry {
  readonly item: CachedItem;
  level: CacheLevel;
}

export class VectorCache {
  readonly #spaces = new Map<string, Map<number, CacheEntry>>();
  /** The space key of each item when it was embedded. The space may have been renamed since. */
  readonly #names = new Map<number, string>();
  #items = 0;
  #chunks = 0;
  #bytes = 0;

  /** The entry of this version, if there is one. */
  find(space: SpaceRef, key: number, version: number): CachedItem | undefined {
    const item = this.#spaces.get(spaceKey(space))?.get(key)?.item;
    return item?.version === version ? item : undefined;
  }

  /** The embedded version of each item of the space, by id. */
  versions(space: SpaceRef): ReadonlyMap<string, number> {
    const entries = this.#spaces.get(spaceKey(space))?.values() ?? [];
    return new Map(Array.from(entries, ({ item }) => [item.id, item.version]));
  }

  put(item: CachedItem, level: CacheLevel): void {
    this.#removeFrom(this.#names.get(item.key), item.key);
    const name = spaceKey(item.lane.space);
    let entries = this.#spaces.get(name);
    if (!entries) {
      entries = new Map();
      this.#spaces.set(name, entries);
    }
    entries.set(item.key, { item, level });
    this.#names.set(item.key, name);
    this.#count(item, 1);
  }

  /** Removes the item's entry. If a version is given, removes only that version. */
  remove(space: SpaceRef, key: number, version?: number): void {
    this.#removeFrom(spaceKey(space), key, version);
  }

  #removeFrom(name: string | undefined, key: number, version?: number): void {
    if (name === undefined) return;
    const entries = this.#spaces.get(name);
    const entry = entries?.get(key);
    if (!entries || !entry || (version !== undefined && entry.item.version !== version)) return;
    entries.delete(key);
    if (entries.size === 0) this.#spaces.delete(name);
    this.#names.delete(key);
    this.#count(entry.item, -1);
  }

  /** Removes the entries that match the predicate and returns them. */
  drop(space: SpaceRef, gone: (item: CachedItem) => boolean): readonly CachedItem[] {
    const dropped = [...(this.#spaces.get(spaceKey(space))?.values() ?? [])].filter(({ item }) => gone(item));
    for (const { item } of dropped) this.remove(space, item.key);
    return dropped.map(({ item }) => item);
  }

  /** Drops entries that were embedded ahead of their batch. No other part relies on them. */
  dropRound(): void {
    for (const entries of [...this.#spaces.values()]) {
      for (const { item, level } of [...entries.values()])
        if (level === "round") this.remove(item.lane.space, item.key);
    }
  }

  /** The scores of all cached items in these spaces. */
  scores(spaces: readonly SpaceRef[], vector: Float32Array): readonly FreshScore[] {
    const scores: FreshScore[] = [];
    for (const space of spaces) {
      for (const { item, level } of this.#spaces.get(spaceKey(space))?.values() ?? []) {
        const best = bestDot(item.vectors, vector);
        const { key, version, borrowed } = item;
        if (best) scores.push({ key, version, score: best.score, level, borrowed });
      }
    }
    return scores;
  }

  /** Removes the entry of this version, even if its space was renamed. */
  forget(key: number, version: number): void {
    this.#removeFrom(this.#names.get(key), key, version);
  }

  get stats(): { readonly items: number; readonly chunks: number; readonly bytes: number } {
    return { items: this.#items, chunks: this.#chunks, bytes: this.#bytes };
  }

  #count(item: CachedItem, sign: 1 | -1): void {
    this.#items += sign;
    this.#chunks += sign * item.spans.length;
    this.#bytes += sign * bytesOf(item);
  }
}

/** Estimated size of an entry: its numbers plus a fixed overhead. */
export const bytesOf = (item: CachedItem): number => item.vectors.byteLength + 96 * item.spans.length + 256;

/** Whether the item's chunks contain text of other items in one of these lanes. */
export function isBorrower({ borrowed, lane }: Pick<CachedItem, "borrowed" | "lane">, lanes: readonly Lane[]): boolean {
  return borrowed.length > 0 && lanes.some((other) => laneKey(other) === laneKey(lane));
}
