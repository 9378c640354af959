/**
 * The mirrors of spaces that are searched: loaded when they are asked for, kept within one budget, the one that was
 * searched least recently evicted first. Nothing is kept of a space that has no mirror.
 *
 * A mirror is loaded a page of the file at a time, each on a snapshot of its own, and other calls take their turn between
 * pages. Whoever feeds changes (mirror-feed.ts) feeds them also to mirrors that are being loaded, up to where they have
 * come; what lies behind is read later anyway. So a mirror is as new as the feed from its first page on.
 */
import { setImmediate as otherCalls } from "node:timers/promises";
import { Mirror, vectorsPerPage } from "../../retrieval/vectors/mirror.js";
import { Pool } from "../../retrieval/vectors/pool.js";
import type { MirrorStats } from "../indexing.js";
import type { ItemCodes } from "./vector-file.js";

/** The items of a space after a key, a page of them; none if there are no more. */
export type ReadPage = (after: number) => Promise<readonly ItemCodes[]>;

class Entry {
  readonly mirror: Mirror;
  /** The key up to which the mirror is loaded. */
  loadedTo = 0;
  loading: Promise<boolean> | undefined;
  isDropped = false;
  /** Whether it has no items but those that have vectors in the file, or wait for some. */
  isSure = true;

  constructor(mirror: Mirror) {
    this.mirror = mirror;
  }

  get isReady(): boolean {
    return this.loadedTo === Infinity;
  }
}

export class Mirrors {
  readonly #pool: Pool;
  /** By the key of the space, the least recently searched first. */
  readonly #entries = new Map<number, Entry>();
  /** Searches that need the mirror of a space, by its key: it is not evicted. */
  readonly #pins = new Map<number, number>();
  /** Spaces that have turned out to be too large, and how many items they had. */
  readonly #tooLarge = new Map<number, number>();
  #dimensions = 0;
  #counts = { loads: 0, evictions: 0, hits: 0 };

  constructor(budget: number) {
    this.#pool = new Pool(budget, () => this.#evict());
  }

  /** The spaces that have mirrors, also those that are being loaded. */
  get spaces(): number[] {
    return [...this.#entries.keys()];
  }

  stats(): MirrorStats {
    let vectors = 0;
    for (const { mirror } of this.#entries.values()) vectors += mirror.vectors;
    return { spaces: this.#entries.size, vectors, bytes: this.#pool.bytes, budget: this.#pool.budget, ...this.#counts };
  }

  /** Mirrors are for vectors of one length; those of another are dropped. */
  use(dimensions: number): void {
    if (dimensions !== this.#dimensions) this.clear();
    this.#dimensions = dimensions;
  }

  /** Whether a space of so many items, with about so many vectors, could have a mirror if there were no other. */
  canHold(space: number, items: number, vectors: number): boolean {
    if (items >= (this.#tooLarge.get(space) ?? Number.POSITIVE_INFINITY)) return false;
    const perPage = vectorsPerPage(this.#dimensions);
    const pages = Math.max(1, Math.ceil(vectors / perPage));
    return perPage > 0 && pages <= this.#pool.pagesMax;
  }

  /** The mirror of a space that is about to be searched; undefined if it is not loaded. */
  find(space: number): Mirror | undefined {
    const entry = this.#entries.get(space);
    if (!entry?.isReady) return undefined;
    this.#entries.delete(space);
    this.#entries.set(space, entry);
    return entry.mirror;
  }

  /** A search is answered from a mirror. */
  hit(): void {
    this.#counts.hits++;
  }

  /** While a search needs mirrors they are not evicted, not even for each other. */
  pin(spaces: readonly number[]): () => void {
    for (const space of spaces) this.#pins.set(space, (this.#pins.get(space) ?? 0) + 1);
    return () => {
      for (const space of spaces) {
        const left = (this.#pins.get(space) ?? 0) - 1;
        if (left > 0) this.#pins.set(space, left);
        else this.#pins.delete(space);
      }
    };
  }

  /** Loads the mirror of a space, once for all who ask. False if there is no room, or it was dropped meanwhile. */
  load(space: number, items: number, read: ReadPage): Promise<boolean> {
    const known = this.#entries.get(space);
    if (known?.isReady) return Promise.resolve(true);
    if (known?.loading) return known.loading;
    const entry = new Entry(new Mirror(this.#pool, this.#dimensions));
    this.#entries.set(space, entry);
    this.#counts.loads++;
    entry.loading = this.#fill(space, entry, items, read).finally(() => {
      entry.loading = undefined;
    });
    entry.loading.catch(() => undefined); // whoever waits for it is told; nobody may wait any more
    return entry.loading;
  }

  async #fill(space: number, entry: Entry, items: number, read: ReadPage): Promise<boolean> {
    const unpin = this.pin([space]);
    try {
      for (;;) {
        const rows = await read(entry.loadedTo);
        if (entry.isDropped) return false;
        for (const { key, codes } of rows) if (!entry.mirror.put(key, codes)) return this.#giveUp(space, items);
        entry.loadedTo = rows.at(-1)?.key ?? Infinity;
        if (entry.isReady) return true;
        await otherCalls();
        if (entry.isDropped) return false;
      }
    } catch (error) {
      if (!entry.isDropped) this.drop(space);
      throw error;
    } finally {
      unpin();
    }
  }

  #giveUp(space: number, items: number): false {
    if (this.#entries.size === 1) this.#tooLarge.set(space, items); // it had all the room that there is
    this.drop(space);
    return false;
  }

  /** Whether the space has a mirror that has come as far as this item. */
  wants(space: number, key: number): boolean {
    return key <= (this.#entries.get(space)?.loadedTo ?? 0);
  }

  /** Takes the codes of an item that it wants, whose vectors have changed. */
  put(space: number, { key, codes }: ItemCodes): void {
    const entry = this.#entries.get(space);
    if (!entry) return;
    const unpin = this.pin([space]); // it must not make room by evicting itself
    if (!entry.mirror.put(key, codes)) this.drop(space);
    unpin();
  }

  remove(space: number, key: number): void {
    this.#entries.get(space)?.mirror.remove(key);
  }

  has(space: number, key: number): boolean {
    return this.#entries.get(space)?.mirror.has(key) ?? false;
  }

  /** Whether a mirror has no items but those that have vectors in the file, or wait for some. */
  isSure(space: number): boolean {
    return this.#entries.get(space)?.isSure ?? false;
  }

  /** From now on, what is in the mirrors may be more than is in the file; until it was compared. */
  distrust(): void {
    for (const entry of this.#entries.values()) entry.isSure = false;
  }

  /** Leaves only these items of those that it has. Then it is sure of them. */
  keepOnly(space: number, keys: ReadonlySet<number>): void {
    const entry = this.#entries.get(space);
    if (!entry) return;
    for (const key of entry.mirror.keys()) if (!keys.has(key)) entry.mirror.remove(key);
    entry.isSure = true;
  }

  drop(space: number): void {
    const entry = this.#entries.get(space);
    if (!entry) return;
    this.#entries.delete(space);
    entry.isDropped = true;
    entry.mirror.clear();
  }

  clear(): void {
    this.#tooLarge.clear();
    for (const space of this.spaces) this.drop(space);
  }

  #evict(): boolean {
    for (const space of this.#entries.keys()) {
      if (this.#pins.has(space)) continue;
      this.drop(space);
      this.#counts.evictions++;
      return true;
    }
    return false;
  }
}
