/**
 * VectorCache: vectors of items that are embedded but not yet written, searchable now.
 *
 * It holds numbers and references, no text. What it finds is only a candidate: the reader checks key and version against
 * the store before anyone sees it, so an entry of an item that was edited or forgotten elsewhere can do no harm.
 */
import type { Span } from "../../graphemes.js";
import { bestDot } from "../../retrieval/vectors/dot.js";
import type { Lane } from "../../stores/indexing.js";
import type { Level, SpaceRef } from "../../types.js";
import { spaceName } from "../lane-name.js";

/** An embedded item. */
export interface CachedItem {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly lane: Lane;
  readonly round: number | undefined;
  readonly recordedAt: number;
  readonly spans: readonly Span[];
  /** The vectors of its chunks, one after the other. */
  readonly vectors: Float32Array;
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/** round: embedded ahead of its batch, for a question · hybrid: transferred, waiting to be written. */
export type CacheLevel = Exclude<Level, "store">;

/** What a vector was made from beside its own item's text. */
export type Borrowed = CachedItem["borrowed"];

export interface CacheHit {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly space: SpaceRef;
  readonly score: number;
  readonly part: number;
  readonly level: CacheLevel;
  readonly borrowed: Borrowed;
}

interface Entry {
  readonly item: CachedItem;
  level: CacheLevel;
}

export class VectorCache {
  readonly #spaces = new Map<string, Map<number, Entry>>();
  /** The name that the space of each item had when it was embedded; it may have another by now. */
  readonly #names = new Map<number, string>();
  #items = 0;
  #chunks = 0;
  #bytes = 0;

  /** The entry of this version, if there is one. */
  find(space: SpaceRef, key: number, version: number): CachedItem | undefined {
    const item = this.#spaces.get(spaceName(space))?.get(key)?.item;
    return item?.version === version ? item : undefined;
  }

  put(item: CachedItem, level: CacheLevel): void {
    this.#removeFrom(this.#names.get(item.key), item.key);
    const name = spaceName(item.lane.space);
    let entries = this.#spaces.get(name);
    if (!entries) {
      entries = new Map();
      this.#spaces.set(name, entries);
    }
    entries.set(item.key, { item, level });
    this.#names.set(item.key, name);
    this.#count(item, 1);
  }

  /** Removes the item's entry; of that version only, if one is given. */
  remove(space: SpaceRef, key: number, version?: number): void {
    this.#removeFrom(spaceName(space), key, version);
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

  /** Removes what a predicate names, and answers with it. */
  drop(space: SpaceRef, gone: (item: CachedItem) => boolean): readonly CachedItem[] {
    const dropped = [...(this.#spaces.get(spaceName(space))?.values() ?? [])].filter(({ item }) => gone(item));
    for (const { item } of dropped) this.remove(space, item.key);
    return dropped.map(({ item }) => item);
  }

  /** Entries embedded ahead of their batch: nobody counts on them. */
  dropRound(): void {
    for (const entries of [...this.#spaces.values()]) {
      for (const { item, level } of [...entries.values()])
        if (level === "round") this.remove(item.lane.space, item.key);
    }
  }

  /** All items of these spaces, the one whose best chunk is nearest first. */
  search(spaces: readonly SpaceRef[], vector: Float32Array): readonly CacheHit[] {
    const hits: CacheHit[] = [];
    for (const space of spaces) {
      for (const { item, level } of this.#spaces.get(spaceName(space))?.values() ?? []) {
        const best = bestDot(item.vectors, vector);
        if (!best) continue;
        const { key, id, version, borrowed } = item;
        hits.push({ key, id, version, space: item.lane.space, score: best.score, part: best.part, level, borrowed });
      }
    }
    return hits.sort((a, b) => b.score - a.score || b.key - a.key);
  }

  /** The scores of these items, as far as they are here in these versions. */
  scores(
    items: readonly { readonly key: number; readonly version: number; readonly space: SpaceRef }[],
    vector: Float32Array,
  ): readonly Pick<CacheHit, "key" | "score" | "level" | "borrowed">[] {
    return items.flatMap(({ key, version, space }) => {
      const entry = this.#spaces.get(spaceName(space))?.get(key);
      const best = entry?.item.version === version ? bestDot(entry.item.vectors, vector) : undefined;
      return entry && best ? { key, score: best.score, level: entry.level, borrowed: entry.item.borrowed } : [];
    });
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

/** What an entry weighs: its numbers, and a little for the rest. */
export const bytesOf = (item: CachedItem): number => item.vectors.byteLength + 96 * item.spans.length + 256;
