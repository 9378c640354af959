/**
 * A store's own vectors behind the VectorIndex contract, so that both ways of finding by meaning pass the same suite.
 *
 * Every item of points is an item of the store, written, leased and indexed as the buffers do it; searches are the
 * store's. The adapter only remembers which points it was given, because the store counts items and parts by itself.
 */
import { HoldfastError } from "holdfast";
import type { Done, EmbeddedItem, FoundPoint, Point, PointSearch, Store, VectorIndex, Write } from "holdfast/stores";

const NOW = Date.UTC(2026, 0, 1);
const OWNER = { id: "adapter", process: "adapter" };

type VectorSpace = Parameters<VectorIndex["prepare"]>[0];

/** The points of one item, by part. */
type Points = ReadonlyMap<number, Point>;

export class StoreIndex implements VectorIndex {
  readonly name = "the store's own";
  readonly #store: Store;
  readonly #items = new Map<string, Points>();
  #space: VectorSpace | undefined;
  #writes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async prepare(space: VectorSpace): Promise<void> {
    await this.#commit({ op: "adopt", vectorSpace: space });
    this.#space = space;
  }

  async upsert(points: readonly Point[]): Promise<void> {
    const { dimensions } = this.#requirePrepared();
    for (const { vector } of points) requireLength(vector, dimensions);
    const changed = new Map<string, Points>();
    for (const point of points) {
      const name = nameOf(point);
      const before = changed.get(name) ?? this.#items.get(name) ?? [];
      changed.set(name, new Map([...before, [point.part, { ...point, vector: point.vector.slice() }]]));
    }
    await this.#write(changed);
  }

  async delete(ids: readonly string[]): Promise<void> {
    this.#requirePrepared();
    const gone = new Set(ids);
    const changed = new Map<string, Points>();
    for (const [name, points] of this.#items) {
      const left = new Map([...points].filter(([, { id }]) => !gone.has(id)));
      if (left.size < points.size) changed.set(name, left);
    }
    await this.#write(changed);
  }

  async search({ spaceIds, vector, limit, signal }: PointSearch): Promise<readonly FoundPoint[]> {
    const vectorSpace = this.#requirePrepared();
    requireLength(vector, vectorSpace.dimensions);
    signal?.throwIfAborted();
    if (limit < 1) return [];
    const spaces = spaceIds.map((user) => ({ user }));
    const hits = await this.#store.searchVectors({ spaces, vectorSpace, vector, filter: {}, limit, now: NOW });
    const found = hits.map(({ id, part, score }) => {
      const point = [...(this.#items.get(id)?.values() ?? [])][part];
      if (!point) throw new Error(`the store found part ${part} of "${id}", which was never written`);
      const { spaceId, key, version } = point;
      return { spaceId, key, version, part: point.part, score };
    });
    // Among equals the store puts first what it was given last; here that is the higher key.
    return found.sort((a, b) => b.score - a.score || b.key - a.key);
  }

  async close(): Promise<void> {}

  /** Writes items as they are now: new text for those that have points, and their vectors; the others are forgotten. */
  async #write(changed: ReadonlyMap<string, Points>): Promise<void> {
    for (const user of new Set([...changed.keys()].map(spaceOf))) {
      const own = [...changed].filter(([name]) => spaceOf(name) === user);
      const emptied = own.filter(([, points]) => points.size === 0).map(([name]) => name);
      const filled = new Map(own.filter(([, points]) => points.size > 0));
      if (emptied.length > 0) await this.#forget(user, emptied);
      if (filled.size > 0) await this.#embed(user, filled);
    }
    for (const [name, points] of changed) this.#items.set(name, points);
  }

  async #forget(user: string, ids: readonly string[]): Promise<void> {
    for (let remaining = true; remaining; ) {
      const done = await this.#commit({ op: "forget", target: { space: { user }, ids } });
      remaining = done.op === "forget" && done.remaining;
    }
  }

  async #embed(user: string, items: ReadonlyMap<string, Points>): Promise<void> {
    const lane = { space: { user } };
    const written = ++this.#writes;
    const rows = [...items].map(([id, { size }]) => ({
      id,
      kind: "message" as const,
      content: `write ${written} `.padEnd(size + 20, "x"),
      metadata: {},
      tier: "episodic" as const,
      occurredAt: NOW,
    }));
    await this.#commit({ op: "add", space: { user }, items: rows, existing: "replace" });
    const claimed = await this.#commit({ op: "claim", owner: OWNER, lanes: [lane], evict: [] });
    const claim = claimed.op === "claim" ? claimed.claims[0] : undefined;
    if (!claim || !("fence" in claim)) throw new Error("the lane was not given");
    const lanes = [{ lane }];
    const pending = await this.#store.pending({ lanes, limit: items.size, maxBytes: 2 ** 30, now: NOW });
    const embedded = pending.map(({ key, version, id }) => embeddedItem(key, version, items.get(id)));
    const vectorSpace = this.#requirePrepared();
    const index = { owner: OWNER.id, lane, fence: claim.fence, vectorSpace, items: embedded, release: true };
    const done = await this.#commit({ op: "index", ...index });
    if (done.op !== "index" || done.written.length !== items.size) throw new Error("not all vectors were written");
  }

  async #commit(write: Write): Promise<Done> {
    const { outcomes } = await this.#store.commit([[write]], NOW, `group ${++this.#writes}`);
    const [outcome] = outcomes;
    if (!outcome?.ok) {
      const { code = "store_failed", message = "no outcome" } = outcome?.error ?? {};
      throw new HoldfastError(code, message);
    }
    const [done] = outcome.done;
    if (!done) throw new Error("nothing was done");
    return done;
  }

  #requirePrepared(): VectorSpace {
    if (this.#space) return this.#space;
    throw new HoldfastError("index_failed", "not prepared", { hint: "call prepare first" });
  }
}

/** Also the id of the store's item. */
const nameOf = ({ spaceId, key }: Point): string => `${spaceId}/${key}`;
const spaceOf = (name: string): string => name.slice(0, name.indexOf("/"));

function embeddedItem(key: number, version: number, points: Points = new Map()): EmbeddedItem {
  const vectors = [...points.values()].map(({ vector }) => [...vector]);
  const spans = vectors.map((_, at) => ({ start: at, end: at + 1 }));
  return { key, version, spans, vectors: Float32Array.from(vectors.flat()), borrowed: [] };
}

function requireLength(vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions) throw new HoldfastError("vector_space", `not of ${dimensions} dimensions`);
}
