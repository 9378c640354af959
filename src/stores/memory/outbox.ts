/**
 * Changes of vectors that an external index has yet to acknowledge, in the order in which they happened.
 *
 * A row for new vectors holds no vectors: it is read as the item is now. If that changed since, a row further on says
 * so, and in the end the index holds what the store holds.
 */
import { HoldfastError } from "../../errors.js";
import type { VectorSpace } from "../../types.js";
import type { OutboxRow } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import type { Marks } from "./marks.js";
import type { Space } from "./space.js";

interface Entry {
  readonly sequence: number;
  readonly space: Space;
  readonly key: number;
  /** How many parts are to be deleted; absent: the item's vectors are to be sent. */
  readonly deleted?: number;
  /** The vector space of the points, if another one is served by now. */
  readonly former?: VectorSpace;
  /** Of the item; kept for rows that outlive it. */
  readonly id: string;
  readonly attempts: number;
  readonly failedAt: number;
  readonly retryAt: number;
}

type Change = Pick<Entry, "space" | "key" | "id" | "deleted" | "former">;

export class Outbox {
  /** The external index that is attached, and up to which key what was there before has been queued. */
  attached: { readonly index: string; readonly queuedTo: number; readonly isComplete: boolean } | undefined;
  readonly #rows = new Map<number, Entry>();
  readonly #rowsOfItem = new Map<number, number>();
  #sequence = 0;

  /** Queues a change, if anyone is to be told of it. */
  queue(change: Change, attempt: Attempt): void {
    if (!this.attached) return;
    const sequence = ++this.#sequence;
    this.#set(sequence, { ...change, sequence, attempts: 0, failedAt: 0, retryAt: 0 }, attempt);
  }

  acknowledge(sequence: number, attempt: Attempt): void {
    if (this.#rows.has(sequence)) this.#set(sequence, undefined, attempt);
  }

  delay(sequence: number, retryAt: number, attempt: Attempt): void {
    const row = this.#rows.get(sequence);
    if (!row) return;
    this.#set(sequence, { ...row, attempts: row.attempts + 1, failedAt: attempt.now, retryAt }, attempt);
  }

  clear(attempt: Attempt): void {
    for (const sequence of [...this.#rows.keys()]) this.#set(sequence, undefined, attempt);
  }

  /** Another vector space is served from now on: of what waits, deletes are for the points that are left. */
  leave(former: VectorSpace, attempt: Attempt): void {
    for (const [sequence, row] of [...this.#rows]) {
      if (row.deleted === undefined) this.#set(sequence, undefined, attempt);
      else if (!row.former) this.#set(sequence, { ...row, former }, attempt);
    }
  }

  /** Whether the index has yet to be told of the item's vectors that are served. */
  hasRows(key: number): boolean {
    return this.#rowsOfItem.has(key);
  }

  count(): { readonly unsent: number; readonly unsentFailed: number } {
    const failed = [...this.#rows.values()].filter((row) => row.attempts > 0);
    return { unsent: this.#rows.size, unsentFailed: failed.length };
  }

  /** Rows to be sent now. One that waits for its retry holds up the later ones of its item, and no others. */
  due(limit: number, maxBytes: number, now: number, marks: Marks): readonly OutboxRow[] {
    const delayed = new Set<number>();
    const rows: OutboxRow[] = [];
    let bytes = 0;
    for (const row of [...this.#rows.values()].sort((a, b) => a.sequence - b.sequence)) {
      // A failure in the future of this clock was written by a clock that ran ahead: its retry may be far off.
      if (row.retryAt > now && row.failedAt <= now) delayed.add(row.key);
      if (delayed.has(row.key)) continue;
      const read = toRow(row, marks);
      bytes += read.change.kind === "upsert" ? (read.change.vectors?.byteLength ?? 0) : 0;
      if (rows.length === limit || (rows.length > 0 && bytes > maxBytes)) break;
      rows.push(read);
    }
    return rows;
  }

  #set(sequence: number, row: Entry | undefined, attempt: Attempt): void {
    const before = this.#rows.get(sequence);
    this.#place(sequence, row);
    attempt.onUndo(() => this.#place(sequence, before));
    attempt.changed = true;
  }

  #place(sequence: number, row: Entry | undefined): void {
    const before = this.#rows.get(sequence);
    if (before && !before.former) this.#count(before.key, -1);
    if (row && !row.former) this.#count(row.key, 1);
    if (row) this.#rows.set(sequence, row);
    else this.#rows.delete(sequence);
  }

  #count(key: number, by: 1 | -1): void {
    const count = (this.#rowsOfItem.get(key) ?? 0) + by;
    if (count > 0) this.#rowsOfItem.set(key, count);
    else this.#rowsOfItem.delete(key);
  }
}

export function anotherIndex(attached: string): HoldfastError {
  return new HoldfastError("conflict", `The store is attached to another index: "${attached}".`, {
    hint: "Detach that index first, or open the store with it.",
    details: { index: attached },
  });
}

function toRow({ sequence, space, key, id, attempts, deleted, former }: Entry, marks: Marks): OutboxRow {
  const place = { sequence, space: space.ref, spaceId: space.entry.id, key, attempts, ...(former && { former }) };
  if (deleted !== undefined) return { ...place, change: { kind: "delete", parts: deleted } };
  const found = marks.find(key);
  const embedding = found?.mark.embedding;
  const version = found?.row.version ?? 0;
  if (!embedding || embedding.spans.length === 0)
    return { ...place, change: { kind: "upsert", id, version, parts: 0 } };
  const { spans, vectors } = embedding;
  return { ...place, change: { kind: "upsert", id, version, vectors: vectors.slice(), parts: spans.length } };
}
