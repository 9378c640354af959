/** All that the store holds, and the two ways in which its items change. */
import type { Attempt } from "./attempt.js";
import { Registry } from "./registry.js";
import { Removals } from "./removals.js";
import { type Row, searchText } from "./row.js";
import type { Space } from "./space.js";

export class State {
  readonly registry = new Registry();
  readonly removals: Removals;
  #arrivals = 0;

  constructor(removalsMax: number) {
    this.removals = new Removals(removalsMax);
  }

  nextArrival(): number {
    return this.#arrivals++;
  }

  /** Puts the row, in the place of the one with its id if there is one. */
  put(space: Space, row: Row, attempt: Attempt): void {
    const before = space.rows.get(row.id);
    attempt.set(space.rows, row.id, row);
    space.words.set(row.id, searchText(row));
    attempt.onUndo(() => (before ? space.words.set(row.id, searchText(before)) : space.words.delete(row.id)));
    attempt.touched.add(space);
  }

  remove(space: Space, row: Row, attempt: Attempt): void {
    attempt.delete(space.rows, row.id);
    space.words.delete(row.id);
    attempt.onUndo(() => space.words.set(row.id, searchText(row)));
    space.answers.forgetItem(row.id, attempt);
    this.removals.add(space, attempt);
    attempt.touched.add(space);
  }
}
