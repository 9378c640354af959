/**
 * The entries that are kept, least recently used out first: L1 with finished answers, and behind it the victims, which
 * are rankings that L1 had no room for any more. A victim that is asked for again goes back to L1.
 *
 * One entry per question. It answers for the versions it was made at and for no others; a newer one takes its place.
 * L1 and victims together weigh no more than `maxBytes`; when that is short, victims go before answers.
 */
import { LRUCache } from "lru-cache";
import type { Hits } from "../../types.js";
import type { Entry } from "./entry.js";
import { bytesOfHits, bytesOfText } from "./weight.js";

/** Rankings are a fraction of the weight of answers. */
const VICTIMS_PER_ENTRY = 4;
/** A single entry that is heavier than this share would throw out too many others. */
const ENTRY_SHARE_MAX = 0.25;

export interface FoundEntry {
  readonly entry: Entry;
  readonly level: "kept" | "victim";
}

export interface EntryCacheStats {
  readonly kept: number;
  readonly victims: number;
  /** How many went for want of room, from either. */
  readonly evictions: { readonly kept: number; readonly victims: number };
  readonly bytes: number;
}

export class EntryCache {
  readonly #maxBytes: number;
  readonly #kept: LRUCache<string, Entry>;
  readonly #victims: LRUCache<string, Entry>;
  #bytes = 0;
  readonly #evictions = { kept: 0, victims: 0 };

  /** Requires room for one question at least. */
  constructor(size: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#victims = new LRUCache({
      max: size * VICTIMS_PER_ENTRY,
      dispose: (entry, _key, reason) => {
        this.#bytes -= entry.bytes;
        if (reason === "evict") this.#evictions.victims++;
      },
    });
    this.#kept = new LRUCache({
      max: size,
      dispose: (entry, _key, reason) => {
        this.#bytes -= entry.bytes;
        if (reason !== "evict") return;
        this.#evictions.kept++;
        this.#retire(entry);
      },
    });
  }

  /** Whether the question is known, at whatever versions. */
  knows(key: string): boolean {
    return this.#kept.has(key) || this.#victims.has(key);
  }

  /** The question's entry of just these versions, deep enough. A victim comes back to L1. */
  find(key: string, versions: string, depth: number): FoundEntry | undefined {
    const kept = this.#kept.get(key);
    if (kept) return kept.versions === versions && kept.reach >= depth ? { entry: kept, level: "kept" } : undefined;
    const victim = this.#victims.get(key);
    if (victim?.versions !== versions || victim.reach < depth) return undefined;
    this.keep(victim);
    return { entry: victim, level: "victim" };
  }

  /** Keeps an entry in L1, unless what is there was asked for later, or reaches further. */
  keep(entry: Entry): void {
    const { key, versions, order } = entry;
    if (entry.bytes > this.#maxBytes * ENTRY_SHARE_MAX) return;
    const other = this.#kept.peek(key);
    if (other && (other.versions === versions ? other.reach >= entry.reach : other.order > order)) return;
    this.#victims.delete(key);
    this.#kept.set(key, entry);
    this.#bytes += entry.bytes;
    this.#trim();
  }

  /** Puts an answer into an entry, if that is still kept and has room for it. */
  put(entry: Entry, page: string, hits: Hits): void {
    if (this.#kept.peek(entry.key) !== entry) return;
    const before = entry.bytes;
    const bytes = bytesOfText(page) + bytesOfHits(hits);
    if (before + bytes > this.#maxBytes * ENTRY_SHARE_MAX) return;
    entry.put(page, hits, bytes);
    this.#bytes += entry.bytes - before;
    this.#trim();
  }

  drop(entry: Entry): void {
    if (this.#kept.peek(entry.key) === entry) this.#kept.delete(entry.key);
    if (this.#victims.peek(entry.key) === entry) this.#victims.delete(entry.key);
  }

  /** Lets go of what was found in the space of this name, or of everything. */
  forget(space?: string): void {
    for (const entries of [this.#kept, this.#victims]) {
      for (const [key, { spaces }] of [...entries.entries()])
        if (space === undefined || spaces.has(space)) entries.delete(key);
    }
  }

  get stats(): EntryCacheStats {
    const evictions = { ...this.#evictions };
    return { kept: this.#kept.size, victims: this.#victims.size, evictions, bytes: this.#bytes };
  }

  /** Its content goes; its ranking gets a second chance. */
  #retire(entry: Entry): void {
    entry.strip();
    this.#victims.set(entry.key, entry);
    this.#bytes += entry.bytes;
  }

  /** The least recently used of L1 becomes a victim when there are no others to go. */
  #trim(): void {
    while (this.#bytes > this.#maxBytes) if (!this.#victims.pop()) this.#kept.pop();
  }
}
