/** An embedding process, with shorthands: claims lanes, reads pending items, writes vectors of four numbers. */
import { expect } from "vitest";
import type { Claim, EmbeddedItem, Lane, OUTBOX, Owner, PendingItem } from "../../stores/indexing.js";
import type { RowFilter } from "../../stores/store.js";
import type { SpaceRef, VectorSpace } from "../../types.js";
import { type Scored, searchVectors } from "../arms.js";
import { ADA, type DoneOf, type Probe } from "./probe.js";

export const SPACE: VectorSpace = { model: "four", runtime: "test", dimensions: 4 };

/** Where most tests write: Ada's session "s", and her items outside any session. */
export const LANE: Lane = { space: ADA, session: "s" };
export const OUTSIDE: Lane = { space: ADA };

export const EAST: readonly number[] = [1, 0, 0, 0];
export const NORTH: readonly number[] = [0, 1, 0, 0];
/** Between the two, nearer to the east. */
export const BETWEEN: readonly number[] = [0.8, 0.6, 0, 0];
export const UP: readonly number[] = [0, 0, 1, 0];

/** The vectors of an item's chunks; one vector is one chunk. */
export type Vectors = readonly (readonly number[])[];

export class Indexer {
  readonly probe: Probe;
  readonly owner: Owner;

  constructor(probe: Probe, id = "me") {
    this.probe = probe;
    this.owner = { id, process: `process of ${id}` };
  }

  async claims(
    lanes: readonly (Lane | typeof OUTBOX)[],
    evict: readonly { readonly owner: string; readonly beat: number }[] = [],
  ): Promise<readonly Claim[]> {
    const [done] = await this.probe.unit({ op: "claim", owner: this.owner, lanes, evict });
    expect(done?.op).toBe("claim");
    return (done as DoneOf<"claim">).claims;
  }

  /** The fence of a lease that must be granted. */
  async claim(lane: Lane | typeof OUTBOX): Promise<number> {
    const [claim] = await this.claims([lane]);
    if (claim && "fence" in claim) return claim.fence;
    throw new Error(`the lane was not given: ${JSON.stringify(claim)}`);
  }

  async beat(): Promise<boolean> {
    const [done] = await this.probe.unit({ op: "beat", owner: this.owner });
    return (done as DoneOf<"beat">).alive;
  }

  async release(...lanes: (Lane | typeof OUTBOX)[]): Promise<void> {
    await this.probe.unit({ op: "release", owner: this.owner.id, ...(lanes.length > 0 && { lanes }) });
  }

  async pending(
    lane: Lane,
    options: { readonly after?: number; readonly limit?: number; readonly maxBytes?: number } = {},
  ): Promise<readonly PendingItem[]> {
    const { after, limit = 1000, maxBytes = 1_000_000 } = options;
    const lanes = [{ lane, ...(after !== undefined && { after }) }];
    return (await this.probe.store.pending({ lanes, limit, maxBytes, now: this.probe.now })).items;
  }

  async pendingIds(lane: Lane, options?: Parameters<Indexer["pending"]>[1]): Promise<readonly string[]> {
    return (await this.pending(lane, options)).map(({ id }) => id);
  }

  /** A pending item, by its id. */
  async waiting(lane: Lane, id: string): Promise<PendingItem> {
    const found = (await this.pending(lane)).find((item) => item.id === id);
    if (found) return found;
    throw new Error(`"${id}" does not wait in ${JSON.stringify(lane)}`);
  }

  async index(
    lane: Lane,
    fence: number,
    items: readonly EmbeddedItem[],
    options: { readonly release?: boolean; readonly vectorSpace?: VectorSpace } = {},
  ): Promise<DoneOf<"index">> {
    const { release = false, vectorSpace = SPACE } = options;
    const owner = this.owner.id;
    const [done] = await this.probe.unit({ op: "index", owner, lane, fence, vectorSpace, items, release });
    expect(done?.op).toBe("index");
    return done as DoneOf<"index">;
  }

  /** Writes these vectors for pending items of a lane; all must be written. Returns their keys. */
  async embed(lane: Lane, vectors: { readonly [id: string]: Vectors }): Promise<readonly number[]> {
    const fence = await this.claim(lane);
    const pending = await this.pending(lane);
    const items = Object.entries(vectors).map(([id, ofChunks]) => {
      const item = pending.find((one) => one.id === id);
      if (!item) throw new Error(`"${id}" does not wait in ${JSON.stringify(lane)}`);
      return embedded(item, ofChunks);
    });
    const { written } = await this.index(lane, fence, items);
    expect(written, "what is written").toEqual(items.map(({ key }) => key));
    return written;
  }

  /** What vectors alone find; `unsent` limits it to items that an external index may not have yet. */
  near(
    spaces: readonly SpaceRef[],
    vector: readonly number[],
    options: {
      readonly filter?: RowFilter;
      readonly limit?: number;
      readonly unsent?: boolean;
      readonly vectorSpace?: VectorSpace;
    } = {},
  ): Promise<readonly Scored[]> {
    const { filter = {}, limit = 1000, unsent, vectorSpace = SPACE } = options;
    return searchVectors(this.probe.store, {
      spaces,
      vectorSpace,
      vector: new Float32Array(vector),
      filter,
      limit,
      now: this.probe.now,
      ...(unsent && { outside: { items: [], unsent: [] } }),
    });
  }

  async nearIds(...question: Parameters<Indexer["near"]>): Promise<readonly string[]> {
    return (await this.near(...question)).map(({ id }) => id);
  }

  async park(
    lane: Lane,
    fence: number,
    items: readonly { readonly key: number; readonly version: number }[],
    options: { readonly error?: string; readonly retryAt?: number } = {},
  ): Promise<DoneOf<"park">> {
    const parked = items.map(({ key, version }) => ({ key, version, error: "too long", ...options }));
    const [done] = await this.probe.unit({ op: "park", owner: this.owner.id, lane, fence, items: parked });
    expect(done?.op).toBe("park");
    return done as DoneOf<"park">;
  }
}

/** An item with vectors for its chunks, one character each; `borrowed` are other items whose text they contain. */
export function embedded(
  { key, version }: { readonly key: number; readonly version: number },
  vectors: Vectors,
  borrowed: readonly { readonly key: number; readonly version: number }[] = [],
): EmbeddedItem {
  const spans = vectors.map((_, part) => ({ start: part, end: part + 1 }));
  const lenders = borrowed.map(({ key, version }) => ({ key, version }));
  return { key, version, spans, vectors: new Float32Array(vectors.flat()), borrowed: lenders };
}
