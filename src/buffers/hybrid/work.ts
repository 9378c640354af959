/**
 * Work: an item that is being embedded. It is embedded slice by slice, so that a text of many pages does not block
 * other items. The vectors are kept here until every piece has one, because the store accepts only whole items.
 */
import type { Span } from "../../graphemes.js";
import type { Chunk, Chunked } from "../../retrieval/chunks/chunk.js";
import { Drafts } from "../../retrieval/chunks/chunks.js";
import type { ChunkStrategy } from "../../retrieval/chunks/strategy.js";
import { rounded } from "../../retrieval/vectors/codes.js";
import type { PendingItem } from "../../stores/indexing.js";
import type { Store } from "../../stores/store.js";
import type { CachedItem } from "./vector-cache.js";

export interface WorkParts {
  readonly store: Store;
  readonly strategy: ChunkStrategy;
}

/** Chunks of an item that are embedded in one call. */
export interface WorkPart {
  readonly work: Work;
  readonly chunks: readonly Chunk[];
}

export class Work {
  readonly item: PendingItem;
  readonly drafts: Drafts;
  /** Parts that are cut but not embedded, in order. */
  #parts: readonly WorkPart[] = [];
  readonly #spans: Span[] = [];
  readonly #vectors: Float32Array[] = [];
  readonly #borrowed = new Map<number, { readonly key: number; readonly version: number }>();
  #isOver = false;

  constructor(item: PendingItem, drafts: Drafts) {
    this.item = item;
    this.drafts = drafts;
  }

  /** True if it is finished, set aside or outdated. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
  }

  get parts(): readonly WorkPart[] {
    return this.#isOver ? [] : this.#parts;
  }

  /** True if every piece has its vector. */
  get isEmbedded(): boolean {
    return this.drafts.isDone && this.#parts.length === 0;
  }

  /** Splits the next chunks into parts of at most `textsMax` texts. */
  cut({ chunks, borrowed }: Chunked, textsMax: number): void {
    for (const lender of borrowed) this.#borrowed.set(lender.key, lender);
    const parts = [...this.#parts];
    for (let at = 0; at < chunks.length; at += textsMax) {
      parts.push({ work: this, chunks: chunks.slice(at, at + textsMax) });
    }
    this.#parts = parts;
  }

  /** Stores the vectors of a part. */
  add(part: WorkPart, vectors: readonly Float32Array[]): void {
    this.#parts = this.#parts.filter((other) => other !== part);
    for (const { start, end } of part.chunks) this.#spans.push({ start, end });
    this.#vectors.push(joined(vectors.map(rounded))); // rounded as in the store, so that scores stay the same
  }

  /** The embedded item. Requires `isEmbedded`. */
  get embedded(): CachedItem {
    const { key, id, version, lane, round, recordedAt } = this.item;
    const borrowed = [...this.#borrowed.values()].sort((a, b) => a.key - b.key);
    const vectors = joined(this.#vectors);
    return { key, id, version, lane, round, recordedAt, spans: this.#spans, vectors, borrowed };
  }

  /** The item without its vectors, for the check whether it is outdated. */
  get outline(): Pick<CachedItem, "id" | "lane" | "borrowed"> {
    return { id: this.item.id, lane: this.item.lane, borrowed: [...this.#borrowed.values()] };
  }

  /** UTF-16 units of the content that are not cut yet. */
  get unitsLeft(): number {
    return this.item.content.length - this.drafts.end;
  }
}

/** Creates the works for these items, with the earlier items that their chunks may borrow from. */
export async function beginWork(
  { store, strategy }: WorkParts,
  items: readonly PendingItem[],
  now: number,
): Promise<readonly Work[]> {
  const keys = items.map(({ key }) => key);
  const needsEarlier = strategy.neighbours > 0 && keys.length > 0;
  const earlier = needsEarlier ? await store.earlier(keys, strategy.neighbours, now) : [];
  return items.map((item, at) => new Work(item, new Drafts(strategy, { item, earlier: earlier[at] ?? [] })));
}

function joined(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors;
  if (first && vectors.length === 1) return first;
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    all.set(vector, at);
    at += vector.length;
  }
  return all;
}
