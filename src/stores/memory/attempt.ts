/**
 * One unit being applied: when, under which commit number, which spaces it has changed, and how to undo it.
 *
 * Every change of the store's state goes through here and leaves its inverse behind, so that a unit that fails midway
 * undoes itself and nobody else. Maps do not get their order back: nothing may depend on it.
 */
import type { Space } from "./space.js";

export class Attempt {
  readonly now: number;
  /** The number that this commit will have if any of its units changes something. */
  readonly commit: number;
  /** The spaces changed so far. */
  readonly touched = new Set<Space>();
  /** Whether anything has changed that belongs to no space's version: a lease, say. */
  changed = false;
  readonly #undo: (() => void)[] = [];

  constructor(now: number, commit: number) {
    this.now = now;
    this.commit = commit;
  }

  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const had = map.has(key);
    const before = map.get(key);
    map.set(key, value);
    this.onUndo(() => (had ? map.set(key, before as V) : map.delete(key)));
  }

  delete<K, V>(map: Map<K, V>, key: K): void {
    if (!map.has(key)) return;
    const before = map.get(key) as V;
    map.delete(key);
    this.onUndo(() => map.set(key, before));
  }

  /** Assigns fields that the object has already. */
  assign<T extends object>(object: T, fields: Partial<T>): void {
    const before: Partial<T> = {};
    for (const key of Object.keys(fields) as (keyof T)[]) before[key] = object[key];
    Object.assign(object, fields);
    this.onUndo(() => Object.assign(object, before));
  }

  onUndo(step: () => void): void {
    this.#undo.push(step);
  }

  rollback(): void {
    for (const step of this.#undo.reverse()) step();
    this.#undo.length = 0;
    this.touched.clear();
    this.changed = false;
  }

  /** Whether the unit is a no-op so far. */
  get isEmpty(): boolean {
    return this.touched.size === 0 && !this.changed;
  }
}
