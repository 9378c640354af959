/**
 * Which questions were asked before, whatever has been written since: a cache can only be judged by those. Keeps hashes,
 * no text, of a bounded number of questions.
 */
import { LRUCache } from "lru-cache";

/** What a hash weighs with its place in the list. */
const HASH_BYTES = 100;

export class Repeats {
  readonly #seen: LRUCache<number, true>;

  constructor(max: number) {
    this.#seen = new LRUCache({ max });
  }

  /** Remembers the question; whether it was known. */
  isRepeat(key: string): boolean {
    const hash = hashOf(key);
    if (this.#seen.get(hash)) return true;
    this.#seen.set(hash, true);
    return false;
  }

  clear(): void {
    this.#seen.clear();
  }

  get bytes(): number {
    return this.#seen.size * HASH_BYTES;
  }
}

/**
 * FNV-1a in two lanes, 53 bits of it. If two questions ever share one, a count is off by one; every new question waits for
 * it, and a cryptographic one takes several times as long.
 */
function hashOf(text: string): number {
  let [low, high] = [0x811c9dc5, 0xcbf29ce4];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193) ^ (low >>> 15);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
