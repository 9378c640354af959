/** All that the store holds, and the two ways in which its items change. Vectors follow the text they were made of. */
import type { VectorSpace } from "../../types.js";
import type { Attempt } from "./attempt.js";
import type { KeyRecord } from "./keys.js";
import { Leases } from "./leases.js";
import { Marks } from "./marks.js";
import type { Next } from "./next.js";
import { Outbox } from "./outbox.js";
import { Registry } from "./registry.js";
import { Removals } from "./removals.js";
import type { Row } from "./row.js";
import type { Space } from "./space.js";

export class State {
  readonly registry = new Registry();
  readonly removals: Removals;
  readonly marks = new Marks();
  readonly leases = new Leases();
  readonly outbox = new Outbox();
  readonly keys = new Map<string, KeyRecord>();
  /** Whose vectors the store keeps. */
  vectorSpace: VectorSpace | undefined;
  /** The vector space that is to take its place. */
  next: Next | undefined;
  #arrivals = 0;

  constructor(removalsMax: number) {
    this.removals = new Removals(removalsMax);
  }

  nextArrival(): number {
    return ++this.#arrivals;
  }

  /**
   * Puts the row, in the place of the one with its id if there is one. If its text is new it waits to be embedded, and
   * so does whatever borrowed from the old text; else its vectors stay true, and if it has none it is tried again.
   */
  put(space: Space, row: Row, attempt: Attempt): void {
    const before = space.rows.get(row.id);
    attempt.set(space.rows, row.id, row);
    space.words.set(row);
    attempt.onUndo(() => (before ? space.words.set(before) : space.words.delete(row.id)));
    attempt.touched.add(space);
    if (before?.name !== row.name || before?.content !== row.content) this.#dropVectorsWith(row.arrival, attempt);
    if (this.marks.get(row.arrival)?.embedding) return;
    this.marks.put(row.arrival, { space, home: row.home ?? space, id: row.id, attempts: 0 }, attempt);
  }

  remove(space: Space, row: Row, attempt: Attempt): void {
    this.#dropVectorsWith(row.arrival, attempt);
    this.marks.delete(row.arrival, attempt);
    attempt.delete(space.rows, row.id);
    space.words.delete(row.id);
    attempt.onUndo(() => space.words.set(row));
    space.answers.forgetItem(row.id, attempt);
    this.removals.add(space, attempt);
    attempt.touched.add(space);
  }

  /** Drops the vectors of an item that has some; it is pending then. */
  dropVectors(key: number, attempt: Attempt): void {
    const mark = this.marks.get(key);
    if (!mark?.embedding) return;
    const { space, home, id, embedding } = mark;
    if (embedding.spans.length > 0) this.outbox.queue({ space, key, id, deleted: embedding.spans.length }, attempt);
    this.marks.put(key, { space, home, id, attempts: 0 }, attempt);
    attempt.touched.add(space);
  }

  /** Drops the vectors that carry text of this item: its own, and those of whoever borrowed from it. */
  #dropVectorsWith(key: number, attempt: Attempt): void {
    this.dropVectors(key, attempt);
    this.next?.drop(key, attempt);
    for (const borrower of this.marks.borrowers(key)) this.dropVectors(borrower.key, attempt);
  }
}
