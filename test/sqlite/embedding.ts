/** A store on a file, as an embedder uses it: add, claim, embed, ask. Closed after each test. */
import { SqliteStore } from "holdfast/stores";
import { searchVectors, type VectorsRequest } from "holdfast/testing";
import { afterEach } from "vitest";
import { rounded } from "../support/product.js";
import { Random } from "../support/random.js";

type Lane = { readonly space: { readonly user: string }; readonly session?: string };
type Write = Parameters<SqliteStore["commit"]>[0][number][number];
type Filter = VectorsRequest["filter"];

export const NOW = Date.UTC(2026, 10, 15, 12);

const stores: SqliteStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

export interface Draft {
  readonly id: string;
  readonly content: string;
  readonly role?: "tool";
}

export const newRow = ({ id, content, role }: Draft) =>
  ({ id, content, role: role ?? "user", kind: "message", tier: "episodic", metadata: {}, occurredAt: NOW }) as const;

export class Embedding {
  readonly store: SqliteStore;
  readonly vectorSpace: { readonly model: string; readonly runtime: string; readonly dimensions: number };
  readonly #owner: string;
  #groups = 0;

  private constructor(store: SqliteStore, dimensions: number, owner: string) {
    this.store = store;
    this.vectorSpace = { model: "random", runtime: "test", dimensions };
    this.#owner = owner;
  }

  static async open(path: string, dimensions: number, owner = "me", mirrorBytes?: number): Promise<Embedding> {
    const mirror = mirrorBytes === undefined ? {} : { mirrorBytes };
    const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000, ...mirror });
    stores.push(store);
    return new Embedding(store, dimensions, owner);
  }

  /** Commits one unit that must succeed. */
  async unit(...writes: Write[]) {
    const { outcomes } = await this.store.commit([writes], NOW, `${this.#owner}-${++this.#groups}`);
    const [outcome] = outcomes;
    if (!outcome?.ok) throw new Error(`the unit failed: ${JSON.stringify(outcome)}`);
    return outcome.done;
  }

  async add(lane: Lane, items: readonly Draft[]) {
    const rows = items.map(newRow);
    await this.unit({ op: "add", ...lane, items: rows, existing: "same" });
  }

  /** Gives everything that waits in the lane vectors; what each item got. */
  async embed(lane: Lane, vectorsOf: (id: string) => Float32Array, borrow = false): Promise<Map<string, Float32Array>> {
    const [claim] = await this.unit({
      op: "claim",
      owner: { id: this.#owner, process: "test" },
      lanes: [lane],
      evict: [],
    });
    const fence = claim?.op === "claim" && claim.claims[0] && "fence" in claim.claims[0] ? claim.claims[0].fence : 0;
    const given = new Map<string, Float32Array>();
    for (;;) {
      const { items: pending } = await this.store.pending({ lanes: [{ lane }], limit: 256, maxBytes: 1e6, now: NOW });
      if (pending.length === 0) return given;
      const items = pending.map(({ key, version, id }, at) => {
        const vectors = vectorsOf(id);
        given.set(id, vectors);
        const spans = Array.from({ length: vectors.length / this.vectorSpace.dimensions }, (_, part) => ({
          start: part,
          end: part + 1,
        }));
        const before = borrow ? pending[at - 1] : undefined;
        return { key, version, spans, vectors, borrowed: before ? [{ key: before.key, version: before.version }] : [] };
      });
      const [done] = await this.unit({
        ...{ op: "index", owner: this.#owner, lane, fence },
        ...{ vectorSpace: this.vectorSpace, items, release: false },
      });
      if (done?.op !== "index" || done.written.length !== items.length) throw new Error("not all vectors were written");
    }
  }

  near(spaces: readonly { readonly user: string }[], vector: Float32Array, limit: number, filter: Filter = {}) {
    return searchVectors(this.store, { spaces, vectorSpace: this.vectorSpace, vector, filter, limit, now: NOW });
  }

  /** Forgets the whole target, slice by slice. */
  async forget(target: Extract<Write, { op: "forget" }>["target"]): Promise<void> {
    for (;;) {
      const [done] = await this.unit({ op: "forget", target });
      if (done?.op !== "forget" || !done.remaining) return;
    }
  }
}

/**
 * Vectors of unit length that no two calls give twice. They are rounded as the file keeps them, so that a sum of their
 * products is exact: what a search finds can be compared with brute force place by place.
 */
export class RandomVectors {
  readonly #random: Random;
  readonly #dimensions: number;

  constructor(seed: number, dimensions: number) {
    this.#random = new Random(seed);
    this.#dimensions = dimensions;
  }

  /** So many of them, one after the other. */
  next(count = 1): Float32Array {
    const vectors = new Float32Array(count * this.#dimensions);
    for (let at = 0; at < count; at++) {
      const vector = vectors.subarray(at * this.#dimensions, (at + 1) * this.#dimensions);
      for (const place of vector.keys()) vector[place] = this.#random.fraction() - 0.5;
      const length = Math.hypot(...vector);
      vector.set(rounded(vector.map((value) => value / length)));
    }
    return vectors;
  }
}
