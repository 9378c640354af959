/** Which things belong to which: many to one key, each once. A key without any is not there. */
import type { Attempt } from "./attempt.js";

export class Relation<Key, Thing> {
  readonly #things = new Map<Key, Set<Thing>>();

  of(key: Key): readonly Thing[] {
    return [...(this.#things.get(key) ?? [])];
  }

  add(key: Key, thing: Thing, attempt: Attempt): void {
    const things = this.#things.get(key) ?? new Set();
    if (things.has(thing)) return;
    this.#things.set(key, things.add(thing));
    attempt.onUndo(() => this.#delete(key, thing));
  }

  delete(key: Key, thing: Thing, attempt: Attempt): void {
    if (this.#delete(key, thing)) attempt.onUndo(() => this.#things.set(key, this.#with(key, thing)));
  }

  #with(key: Key, thing: Thing): Set<Thing> {
    return (this.#things.get(key) ?? new Set<Thing>()).add(thing);
  }

  #delete(key: Key, thing: Thing): boolean {
    const things = this.#things.get(key);
    const was = things?.delete(thing) ?? false;
    if (things?.size === 0) this.#things.delete(key);
    return was;
  }
}
