/** Re-embeds a store for another model, with shorthands: begins, reads missing items, writes, switches. */
import { expect } from "vitest";
import type { EmbeddedItem, PendingItem } from "../../stores/indexing.js";
import type { NextSpace, ReindexWrite, ToReindex } from "../../stores/reindexing.js";
import type { VectorSpace } from "../../types.js";
import { embedded, type Vectors } from "./indexer.js";
import type { DoneOf, Probe } from "./probe.js";

/** As many dimensions as SPACE, but of another model. */
export const NEXT: VectorSpace = { model: "other four", runtime: "test", dimensions: 4 };

export class Reindexer {
  readonly probe: Probe;
  readonly vectorSpace: VectorSpace;

  constructor(probe: Probe, vectorSpace = NEXT) {
    this.probe = probe;
    this.vectorSpace = vectorSpace;
  }

  /** Whether the store already has vectors of this space. */
  async begin(): Promise<boolean> {
    const [done] = await this.probe.unit({ op: "begin_reindex", vectorSpace: this.vectorSpace });
    return (done as DoneOf<"begin_reindex">).isServed;
  }

  missing(limit = 1000, maxBytes = 1_000_000): Promise<ToReindex> {
    const { vectorSpace } = this;
    return this.probe.store.toReindex({ vectorSpace, limit, maxBytes, now: this.probe.now });
  }

  async missingIds(): Promise<readonly string[]> {
    return (await this.missing()).items.map(({ id }) => id);
  }

  async write(
    { range }: Pick<ToReindex, "range">,
    items: readonly EmbeddedItem[],
    refused: ReindexWrite["refused"] = [],
  ): Promise<DoneOf<"reindex">> {
    const { vectorSpace } = this;
    const [done] = await this.probe.unit({ op: "reindex", vectorSpace, range, items, refused });
    return done as DoneOf<"reindex">;
  }

  /** Gives all missing items the vectors named for them by id, or this one. */
  async fill(vector: readonly number[], named: { readonly [id: string]: Vectors } = {}): Promise<readonly string[]> {
    const told = await this.missing();
    const items = told.items.map((item) => embedded(item, named[item.id] ?? [vector]));
    const { written } = await this.write(told, items);
    expect(written).toEqual(items.map(({ key }) => key));
    return told.items.map(({ id }) => id);
  }

  async switch(missingMax = 0): Promise<boolean> {
    const [done] = await this.probe.unit({ op: "switch_space", vectorSpace: this.vectorSpace, missingMax });
    return (done as DoneOf<"switch_space">).switched;
  }

  async abandon(): Promise<boolean> {
    const [done] = await this.probe.unit({ op: "abandon_reindex" });
    return (done as DoneOf<"abandon_reindex">).abandoned;
  }

  /** The progress; undefined if no space is being filled. */
  async progress(): Promise<Omit<NextSpace, "vectorSpace"> | undefined> {
    const { next } = await this.probe.store.indexingStats();
    if (!next) return undefined;
    const { vectorSpace, ...progress } = next;
    expect(vectorSpace).toEqual(this.vectorSpace);
    return progress;
  }

  async item(id: string): Promise<PendingItem> {
    const found = (await this.missing()).items.find((item) => item.id === id);
    if (found) return found;
    throw new Error(`"${id}" is not missing`);
  }
}
