/**
 * What the store knows about the embedding of each item, by key: whether it waits, was set aside, or has vectors.
 *
 * Invariants: every row has a mark, and every mark a row; a mark is never changed in place. What can be derived from the
 * marks (who waits in which lane, who borrowed whose text) is kept beside them, so that asking costs what is answered.
 */
import type { Span } from "../../graphemes.js";
import type { IndexingStats } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import type { Row } from "./row.js";
import type { Session, Space } from "./space.js";

/** A lane by identity, so that it outlives renames: a session, or a space for what it holds outside any. */
export type Home = Session | Space;

/** The chunks of an item, and their vectors one after the other. No spans: it has no text to embed. */
export interface Embedding {
  readonly spans: readonly Span[];
  readonly vectors: Float32Array;
  /** The keys of the other items whose text the chunks carry. */
  readonly borrowed: readonly number[];
}

export interface Parking {
  readonly error: string;
  readonly parkedAt: number;
  readonly retryAt?: number;
}

export interface Mark {
  readonly space: Space;
  readonly home: Home;
  readonly id: string;
  /** Absent while the item is pending. */
  readonly embedding?: Embedding;
  /** Present while the item is set aside. */
  readonly parking?: Parking;
  /** How often it was set aside since its text last changed or it was replayed by hand. */
  readonly attempts: number;
}

/** An item with its mark. */
export interface Marked {
  readonly key: number;
  readonly mark: Mark;
  readonly row: Row;
}

export class Marks {
  readonly #marks = new Map<number, Mark>();
  readonly #waiting = new Map<Home, Set<number>>();
  readonly #parked = new Set<number>();
  /** For each item, the items whose vectors carry its text. */
  readonly #borrowers = new Map<number, Set<number>>();

  put(key: number, mark: Mark, attempt: Attempt): void {
    this.#change(key, mark, attempt);
  }

  delete(key: number, attempt: Attempt): void {
    this.#change(key, undefined, attempt);
  }

  get(key: number): Mark | undefined {
    return this.#marks.get(key);
  }

  find(key: number): Marked | undefined {
    const mark = this.#marks.get(key);
    const row = mark?.space.rows.get(mark.id);
    return mark && row && { key, mark, row };
  }

  *all(): Iterable<Marked> {
    yield* this.#found(this.#marks.keys());
  }

  /** The lanes in which something waits; not in order. */
  waitingHomes(): Iterable<Home> {
    return this.#waiting.keys();
  }

  /** What waits in one lane, oldest first. */
  waiting(home: Home): Marked[] {
    return this.#ordered(this.#waiting.get(home) ?? []);
  }

  /** All that is set aside, in the order in which it was added. */
  parked(): Marked[] {
    return this.#ordered(this.#parked);
  }

  borrowers(key: number): Marked[] {
    return this.#ordered(this.#borrowers.get(key) ?? []);
  }

  count(): Pick<IndexingStats, "pending" | "oldestPendingAt" | "parked" | "embedded" | "chunks"> {
    let [pending, embedded, chunks] = [0, 0, 0];
    let oldest = Infinity;
    for (const keys of this.#waiting.values()) {
      pending += keys.size;
      for (const { row } of this.#found(keys)) oldest = Math.min(oldest, row.updatedAt);
    }
    for (const { embedding } of this.#marks.values()) {
      if (!embedding || embedding.spans.length === 0) continue;
      embedded++;
      chunks += embedding.spans.length;
    }
    const since = pending > 0 && { oldestPendingAt: oldest };
    return { pending, ...since, parked: this.#parked.size, embedded, chunks };
  }

  #change(key: number, mark: Mark | undefined, attempt: Attempt): void {
    const before = this.#marks.get(key);
    this.#place(key, mark);
    attempt.onUndo(() => this.#place(key, before));
    attempt.changed = true;
  }

  #place(key: number, mark: Mark | undefined): void {
    const before = this.#marks.get(key);
    if (before) this.#derive(key, before, removeFrom);
    if (before?.parking) this.#parked.delete(key);
    if (mark) this.#marks.set(key, mark);
    else this.#marks.delete(key);
    if (mark) this.#derive(key, mark, addTo);
    if (mark?.parking) this.#parked.add(key);
  }

  #derive(key: number, mark: Mark, change: typeof addTo): void {
    if (!mark.embedding && !mark.parking) change<Home>(this.#waiting, mark.home, key);
    for (const lender of mark.embedding?.borrowed ?? []) change(this.#borrowers, lender, key);
  }

  #ordered(keys: Iterable<number>): Marked[] {
    return [...this.#found([...keys].sort((a, b) => a - b))];
  }

  *#found(keys: Iterable<number>): Iterable<Marked> {
    for (const key of keys) {
      const found = this.find(key);
      if (found) yield found;
    }
  }
}

function addTo<K>(sets: Map<K, Set<number>>, of: K, key: number): void {
  const set = sets.get(of);
  if (set) set.add(key);
  else sets.set(of, new Set([key]));
}

function removeFrom<K>(sets: Map<K, Set<number>>, of: K, key: number): void {
  const set = sets.get(of);
  set?.delete(key);
  if (set?.size === 0) sets.delete(of);
}
