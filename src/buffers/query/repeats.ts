/**
 * Which questions were asked before, whatever has been written since: a cache can only be judged by those. Keeps hashes,
 * no text, of a bounded number of questions.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** What a hash weighs with its place in the list. */
const HASH_BYTES = 160;

export class Repeats {
  readonly #seen: LRUCache<string, true>;

  constructor(max: number) {
    this.#seen = new LRUCache({ max });
  }

  /** Remembers the question; whether it was known. */
  isRepeat(key: string): boolean {
    const hash = createHash("sha256").update(key).digest("base64");
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
