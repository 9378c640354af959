/** A minimal external index: does what the outbox says, and must end up with what the store contains. */
import { expect } from "vitest";
import { chunkId } from "../../retrieval/chunks/id.js";
import { OUTBOX, type OutboxRow } from "../../stores/indexing.js";
import type { SpaceRef } from "../../types.js";
import { type Indexer, SPACE } from "./indexer.js";

export class Mirror {
  /** The vector of each point, by the chunk's id. */
  readonly points = new Map<string, readonly number[]>();

  apply({ spaceId, key, change }: OutboxRow): void {
    for (let part = 0; part < change.parts; part++) {
      const id = chunkId(spaceId, key, part);
      if (change.kind === "delete") this.points.delete(id);
      else if (change.vectors) this.points.set(id, [...change.vectors.subarray(part * 4, (part + 1) * 4)]);
    }
    if (change.kind === "upsert" && change.vectors) expect(change.vectors).toHaveLength(change.parts * 4);
  }

  /** Takes everything to be sent, a few rows at a time; returns the number of rows. */
  async drain(indexer: Indexer): Promise<number> {
    const { store, now } = indexer.probe;
    const fence = await indexer.claim(OUTBOX);
    for (let count = 0; ; ) {
      const rows = await store.outbox(3, 1_000_000, now);
      if (rows.length === 0) return count;
      for (const row of rows) this.apply(row);
      const sent = rows.map(({ sequence }) => sequence);
      const write = { op: "acknowledge", owner: indexer.owner.id, fence, sent, failed: [] } as const;
      expect(await indexer.probe.unit(write)).toEqual([{ op: "acknowledge", fenced: false }]);
      count += rows.length;
      expect(count, "an outbox comes to its end").toBeLessThan(1000);
    }
  }

  /** Contains exactly these items' chunks, with these vectors. */
  async expectItems(indexer: Indexer, spaces: readonly SpaceRef[], ids: readonly string[]): Promise<void> {
    const { store, now } = indexer.probe;
    const chunks = await store.chunks(spaces, ids, now);
    expect([...this.points.keys()].toSorted(), "the points of the index").toEqual(
      chunks.map(({ id }) => id).toSorted(),
    );
    for (const { id, item, part } of chunks) {
      const point = this.points.get(id) ?? [];
      const hit = (await indexer.near(spaces, point)).find((one) => one.id === item);
      expect(hit?.score, `the vector of part ${part} of ${item}`).toBeCloseTo(1, 4);
      expect(point).toHaveLength(SPACE.dimensions);
    }
  }
}
