/**
 * ItemTable: the items of a mirror. Maps keys to ordinals, and ordinals to rows. It consists of typed arrays, so its
 * size in bytes is known.
 *
 * Ordinals are positions in this table, in arrival order. A removed item keeps its position, without rows, until the
 * table is compacted. Invariant: a slot refers to the newest item of its key, live or removed.
 */
import type { PagePool } from "./page-pool.js";

const CAPACITY_MIN = 16;
/** A key, its first row, its number of rows, and two slots. */
const BYTES_PER_ITEM = 8 + 4 + 4 + 2 * 4;

export class ItemTable {
  readonly #pool: PagePool;
  #keys = new Float64Array(0);
  #firsts = new Int32Array(0);
  #counts = new Int32Array(0);
  #slots = new Int32Array(0);
  /** Positions in use, live or removed. */
  size = 0;
  living = 0;

  constructor(pool: PagePool) {
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#keys.length * BYTES_PER_ITEM;
  }

  keyAt(ordinal: number): number {
    return this.#keys[ordinal] as number;
  }

  firstRowOf(ordinal: number): number {
    return this.#firsts[ordinal] as number;
  }

  /** 0 if the item was removed. */
  rowsOf(ordinal: number): number {
    return this.#counts[ordinal] as number;
  }

  /** The ordinal of a live item, or -1. */
  find(key: number): number {
    if (this.#slots.length === 0) return -1;
    const ordinal = (this.#slots[this.#slotOf(key)] as number) - 1;
    return ordinal >= 0 && this.rowsOf(ordinal) > 0 ? ordinal : -1;
  }

  /** The keys of the live items. */
  keys(): number[] {
    const keys: number[] = [];
    for (let ordinal = 0; ordinal < this.size; ordinal++) if (this.rowsOf(ordinal) > 0) keys.push(this.keyAt(ordinal));
    return keys;
  }

  /** Adds an item and returns its ordinal; undefined if the pool is full. Requires that the key has no live item. */
  add(key: number, first: number, rows: number): number | undefined {
    if (this.size === this.#keys.length && !this.#resize(Math.max(CAPACITY_MIN, this.size * 2))) return undefined;
    const ordinal = this.size++;
    this.#set(ordinal, key, first, rows);
    this.living++;
    return ordinal;
  }

  remove(ordinal: number): void {
    this.#counts[ordinal] = 0;
    this.living--;
  }

  /** Drops removed items. `move` returns the new first row of a live item. Ordinals change. */
  pack(move: (ordinal: number, next: number) => number): void {
    this.#slots.fill(0);
    let next = 0;
    for (let ordinal = 0; ordinal < this.size; ordinal++) {
      const rows = this.rowsOf(ordinal);
      if (rows === 0) continue;
      this.#set(next, this.keyAt(ordinal), move(ordinal, next), rows);
      next++;
    }
    this.#keys.fill(0, next, this.size);
    this.size = next;
  }

  /** Releases all its memory. */
  clear(): void {
    this.#pool.release(this.bytes);
    this.#allocate(0);
    this.size = 0;
    this.living = 0;
  }

  #set(ordinal: number, key: number, first: number, rows: number): void {
    this.#keys[ordinal] = key;
    this.#firsts[ordinal] = first;
    this.#counts[ordinal] = rows;
    this.#slots[this.#slotOf(key)] = ordinal + 1;
  }

  /**
   * The slot of a key: where it is, or where it would be inserted. There are twice as many slots as items, so one is
   * always free.
   */
  #slotOf(key: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = Math.imul(key, 0x9e3779b1) & mask; ; slot = (slot + 1) & mask) {
      const ordinal = (this.#slots[slot] as number) - 1;
      if (ordinal < 0 || this.#keys[ordinal] === key) return slot;
    }
  }

  #resize(capacity: number): boolean {
    if (!this.#pool.reserve((capacity - this.#keys.length) * BYTES_PER_ITEM)) return false;
    const [keys, firsts, counts] = [this.#keys, this.#firsts, this.#counts];
    this.#allocate(capacity);
    for (let ordinal = 0; ordinal < this.size; ordinal++) {
      this.#set(ordinal, keys[ordinal] as number, firsts[ordinal] as number, counts[ordinal] as number);
    }
    return true;
  }

  #allocate(capacity: number): void {
    this.#keys = new Float64Array(capacity);
    this.#firsts = new Int32Array(capacity);
    this.#counts = new Int32Array(capacity);
    this.#slots = new Int32Array(capacity * 2);
  }
}
