/**
 * The mirrors of searched spaces: loaded on demand, kept within one memory budget, evicted least recently searched
 * first. A space without a mirror takes no memory.
 *
 * A mirror is loaded one page of the file at a time, each on its own snapshot; other calls run between pages. The feed
 * (mirror-feed.ts) also updates mirrors that are still loading, up to the key that they have reached; later keys are
 * read afterwards anyway. So a mirror is as current as the feed from its first page on.
 */
import { setImmediate as otherCalls } from "node:timers/promises";
import { Mirror, vectorsPerPage } from "../../../retrieval/vectors/mirror.js";
import { PagePool } from "../../../retrieval/vectors/page-pool.js";
import type { MirrorStats } from "../../indexing.js";
import type { ItemCodes } from "./vector-file.js";

/** Reads the next page of a space's items after a key. Empty if there are no more. */
export type ReadPage = (after: number) => Promise<readonly ItemCodes[]>;

class MirrorEntry {
  readonly mirror: Mirror;
  /** The key up to which the mirror is loaded. */
  loadedTo = 0;
  loading: Promise<boolean> | undefined;
  isDropped = false;

  constructor(mirror: Mirror) {
    this.mirror = mirror;
  }

  get isReady(): boolean {
    return this.loadedTo === Infinity;
  }
}

export class Mirrors {
  readonly #pool: PagePool;
  /** By space key, least recently searched first. */
  readonly #entries = new Map<number, MirrorEntry>();
  /** Pin counts by space key. A pinned mirror is not evicted. */
  readonly #pins = new Map<number, number>();
  /** Spaces that did not fit into the budget, with the number of items that they had then. */
  readonly #tooLarge = new Map<number, number>();
  #dimensions = 0;
  #counts = { loads: 0, evictions: 0, hits: 0 };

  /** `pool` is for tests. */
  constructor(budget: number, pool: (evict: () => boolean) => PagePool = (evict) => new PagePool(budget, evict)) {
    this.#pool = pool(() => this.#evict());
  }

  /** Whether the system has refused memory a short time ago. */
  get isRefused(): boolean {
    return this.#pool.isRefused;
  }

  /** The spaces with mirrors, including those still loading. */
  get spaces(): number[] {
    return [...this.#entries.keys()];
  }

  stats(): MirrorStats {
    let vectors = 0;
    for (const { mirror } of this.#entries.values()) vectors += mirror.vectors;
    return { spaces: this.#entries.size, vectors, bytes: this.#pool.bytes, budget: this.#pool.budget, ...this.#counts };
  }

  /** Sets the vector length. All mirrors have the same length; a change drops the existing ones. */
  use(dimensions: number): void {
    if (dimensions !== this.#dimensions) this.clear();
    this.#dimensions = dimensions;
  }

  /** Whether a space with this many items and about this many vectors would fit if it had the whole budget. */
  canHold(space: number, items: number, vectors: number): boolean {
    if (items >= (this.#tooLarge.get(space) ?? Number.POSITIVE_INFINITY)) return false;
    const perPage = vectorsPerPage(this.#dimensions);
    const pages = Math.max(1, Math.ceil(vectors / perPage));
    return perPage > 0 && pages <= this.#pool.pagesMax;
  }

  /**
   * The mirror of a space that is about to be searched, which becomes the most recently used. Undefined if it is not
   * loaded.
   */
  find(space: number): Mirror | undefined {
    const entry = this.#entries.get(space);
    if (!entry?.isReady) return undefined;
    this.#entries.delete(space);
    this.#entries.set(space, entry);
    return entry.mirror;
  }

  /** Counts a search that uses a mirror. */
  hit(): void {
    this.#counts.hits++;
  }

  /**
   * Protects mirrors from eviction while a search needs them, even by each other. Returns the function that unpins
   * them.
   */
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

  /**
   * Loads the mirror of a space; concurrent calls share one load. Resolves to false if it does not fit or was dropped.
   */
  load(space: number, items: number, read: ReadPage): Promise<boolean> {
    const known = this.#entries.get(space);
    if (known?.isReady) return Promise.resolve(true);
    if (known?.loading) return known.loading;
    const entry = new MirrorEntry(new Mirror(this.#pool, this.#dimensions));
    this.#entries.set(space, entry);
    this.#counts.loads++;
    entry.loading = this.#fill(space, entry, items, read).finally(() => {
      entry.loading = undefined;
    });
    entry.loading.catch(() => undefined); // callers that wait get the error; there may be none
    return entry.loading;
  }

  async #fill(space: number, entry: MirrorEntry, items: number, read: ReadPage): Promise<boolean> {
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
    if (this.#entries.size === 1 && !this.isRefused) this.#tooLarge.set(space, items); // it had the whole budget
    this.drop(space);
    return false;
  }

  /** Whether the space has a mirror that is loaded up to this item. */
  wants(space: number, key: number): boolean {
    return key <= (this.#entries.get(space)?.loadedTo ?? 0);
  }

  /** Updates an item whose vectors have changed. Requires `wants`. */
  put(space: number, { key, codes }: ItemCodes): void {
    const entry = this.#entries.get(space);
    if (!entry) return;
    const unpin = this.pin([space]); // making room must not evict this space itself
    if (!entry.mirror.put(key, codes)) this.drop(space);
    unpin();
  }

  remove(space: number, key: number): void {
    this.#entries.get(space)?.mirror.remove(key);
  }

  has(space: number, key: number): boolean {
    return this.#entries.get(space)?.mirror.has(key) ?? false;
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
