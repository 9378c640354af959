/** The OutboxDispatcher on a real store: what the store queues is what the index is told. */
import { expect, it, onTestFinished } from "vitest";
import { HoldfastError } from "../errors.js";
import { chunkId } from "../retrieval/chunks/id.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { Done, NewRow, Write } from "../stores/store.js";
import type { Point, VectorIndex } from "../stores/vector-index.js";
import { FakeClock } from "../testing/fake-clock.js";
import type { VectorSpace } from "../types.js";
import { OutboxDispatcher } from "./outbox.js";

const ADA = { user: "ada" };
const LANE = { space: ADA };
const SPACE: VectorSpace = { model: "m", runtime: "r", dimensions: 2 };
const OWNER = { id: "me", process: "1" };

class PlainIndex implements VectorIndex {
  readonly name = "plain";
  readonly points = new Map<string, Point>();
  isDown = false;

  async prepare(): Promise<void> {}

  async upsert(points: readonly Point[]): Promise<void> {
    this.#requireUp();
    for (const point of points) this.points.set(point.id, point);
  }

  async delete(ids: readonly string[]): Promise<void> {
    this.#requireUp();
    for (const id of ids) this.points.delete(id);
  }

  async search(): Promise<never[]> {
    return [];
  }

  async close(): Promise<void> {}

  #requireUp(): void {
    if (this.isDown) throw new HoldfastError("index_failed", "down");
  }
}

it("brings an index up to date with a store: added, edited, forgotten, attached late, and after a failure", async () => {
  const clock = new FakeClock();
  const store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  onTestFinished(() => store.close());
  const index = new PlainIndex();
  let groups = 0;
  const commit = async (write: Write): Promise<Done> => {
    const { outcomes } = await store.commit([[write]], clock.now(), `group ${++groups}`);
    const [outcome] = outcomes;
    if (!outcome?.ok) throw new Error(outcome?.error.message ?? "no outcome");
    const [done] = outcome.done;
    return done ?? expect.fail("nothing was done");
  };
  const write = (id: string, content: string) => {
    const times = { metadata: {}, tier: "episodic", occurredAt: 0 } as const;
    const items: NewRow[] = [{ id, kind: "message", role: "user", content, ...times }];
    return commit({ op: "add", space: ADA, items, existing: "replace" });
  };
  /** Gives every item that waits as many chunks as its text has words. */
  const embed = async () => {
    const claimed = await commit({ op: "claim", owner: OWNER, lanes: [LANE], evict: [] });
    const claim = claimed.op === "claim" ? claimed.claims[0] : undefined;
    const fence = claim && "fence" in claim ? claim.fence : expect.fail("the lane was not given");
    const pending = await store.pending({ lanes: [{ lane: LANE }], limit: 100, maxBytes: 2 ** 20, now: clock.now() });
    const items = pending.items.map(({ key, version, content }) => {
      const spans = content.split(" ").map((_, at) => ({ start: at, end: at + 1 }));
      return { key, version, spans, vectors: new Float32Array(spans.length * 2).fill(Math.SQRT1_2), borrowed: [] };
    });
    await commit({ op: "index", owner: OWNER.id, lane: LANE, fence, vectorSpace: SPACE, items, release: true });
  };
  const dispatcher = new OutboxDispatcher({
    commit,
    read: (limit, maxBytes, now) => store.outbox(limit, maxBytes, now),
    vectorSpace: async () => (await store.indexingStats()).vectorSpace,
    index,
    clock,
    owner: OWNER,
    judge: () => false,
  });
  /** The parts of each item that the index holds, checked against the store's own chunks. */
  const held = async (...ids: string[]) => {
    const chunks = await store.chunks([ADA], ids, clock.now());
    const expected = chunks.map(({ id, version }) => ({ id, version }));
    const points = [...index.points.values()].map(({ id, version }) => ({ id, version }));
    expect(new Set(points)).toEqual(new Set(expected));
    const sound = [...index.points.values()].every(({ id, spaceId, key, part }) => id === chunkId(spaceId, key, part));
    expect(sound).toBe(true);
    return points.length;
  };

  await write("a", "one two three");
  await embed();
  await commit({ op: "attach", index: index.name });
  await write("b", "one two");
  await embed();
  expect(await dispatcher.drain(1_000)).toBe(true);
  expect(await held("a", "b")).toBe(5);

  index.isDown = true;
  await write("a", "shorter");
  await commit({ op: "forget", target: { space: ADA, ids: ["b"] } });
  await embed();
  expect(await dispatcher.drain(1_000)).toBe(false);
  expect((await store.indexingStats()).unsent).toBeGreaterThan(0);
  expect(index.points.size).toBe(5);

  index.isDown = false;
  expect(await dispatcher.drain(1_000)).toBe(true);
  expect(await held("a", "b")).toBe(1);
  expect(await store.indexingStats()).toMatchObject({ unsent: 0, unsentFailed: 0 });
  await dispatcher.close();
});
