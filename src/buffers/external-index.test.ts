/** A memory with an external vector index: what is delivered is found there, what is not is found in the store. */
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../config.js";
import { HoldfastError } from "../errors.js";
import { BufferService } from "../service.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { FoundPoint, Point, PointSearch, VectorIndex } from "../stores/vector-index.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";

/** An index in a map, that can be held, and can fail. */
class MapIndex implements VectorIndex {
  readonly name = "map";
  readonly points = new Map<string, Point>();
  searches = 0;
  isDown = false;
  #gate: Promise<void> = Promise.resolve();

  hold(): () => void {
    let release = (): void => {};
    this.#gate = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  async prepare(): Promise<void> {
    this.#requireUp();
  }

  async upsert(points: readonly Point[]): Promise<void> {
    await this.#gate;
    this.#requireUp();
    for (const point of points) this.points.set(point.id, point);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#gate;
    this.#requireUp();
    for (const id of ids) this.points.delete(id);
  }

  async search({ spaceIds, vector, limit }: PointSearch): Promise<readonly FoundPoint[]> {
    this.#requireUp();
    this.searches++;
    return [...this.points.values()]
      .filter(({ spaceId }) => spaceIds.includes(spaceId))
      .map((point) => ({
        ...point,
        score: point.vector.reduce((sum, value, at) => sum + value * Number(vector[at]), 0),
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  async close(): Promise<void> {}

  #requireUp(): void {
    if (this.isDown) throw new HoldfastError("index_failed", "the index is down");
  }
}

async function open() {
  const clock = new FakeClock();
  const index = new MapIndex();
  const embedder = new HashEmbedder();
  const options = loadConfig({ code: { path: ":memory:", embedder, vectorIndex: index, clock } });
  const service = new BufferService(await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 }), options, {
    embedder,
    index,
  });
  await service.start();
  onTestFinished(async () => {
    index.hold()();
    const closed = service.close();
    for (let step = 0; step < 20; step++) {
      await settle();
      clock.advance(1_000);
    }
    await closed;
  });
  const say = async (content: string) => (await service.add(ADA, [{ role: "user", content }])).ids[0] as string;
  const ask = async (text: string) => (await service.query(ADA, text, { topK: 3 })).map(({ content }) => content);
  return { clock, embedder, index, service, say, ask };
}

const ADA = { user: "ada", session: "one" };

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("an external index", () => {
  it("is told of what was written, without text, and asked instead of the store", async () => {
    const { index, service, say, ask } = await open();
    await say("the cat sleeps");
    await service.flush();
    await settle();
    expect(index.points.size).toBe(1);
    expect(JSON.stringify([...index.points.values()].map(({ vector: _, ...rest }) => rest))).not.toContain("cat");
    expect(await ask("cat")).toEqual(["the cat sleeps"]);
    expect(index.searches).toBe(1);
    expect((await service.stats()).meaning?.index).toMatchObject({ name: "map", searches: 1, sent: 1, failures: 0 });
  });

  it("that has not acknowledged yet hides nothing: the store answers for what is unsent", async () => {
    const { index, service, say, ask } = await open();
    const release = index.hold();
    await say("the cat sleeps");
    await service.flush();
    expect(index.points.size).toBe(0);
    expect(await ask("cat")).toEqual(["the cat sleeps"]);
    release();
    await settle();
    expect(index.points.size).toBe(1);
  });

  it("that fails hides nothing: the store answers for all, and what was queued is sent when it is back", async () => {
    const { clock, index, service, say, ask } = await open();
    index.isDown = true;
    await say("the cat sleeps");
    await service.flush();
    expect(await ask("cat")).toEqual(["the cat sleeps"]);
    expect((await service.stats()).meaning?.index?.failures).toBe(1);
    expect((await service.stats()).store.unsent).toBe(1);
    const health = async () => (await service.stats()).health.components.index;
    expect(await health()).toEqual({ state: "degraded", reason: "the file is searched instead: the index is down" });
    index.isDown = false;
    expect(await ask("the cat")).toEqual(["the cat sleeps"]);
    expect(await health()).toEqual({ state: "degraded", reason: "changes wait to be sent: the index is down" });
    for (let step = 0; step < 5; step++) {
      await settle();
      clock.advance(5_000);
    }
    await settle();
    expect(index.points.size).toBe(1);
    expect((await service.stats()).store.unsent).toBe(0);
    expect(await health()).toEqual({ state: "ok" });
  });

  it("never answers with the vector of a text that was edited, nor with what was deleted", async () => {
    const { index, service, say } = await open();
    const id = await say("the cat sleeps");
    const other = await say("a dog barks");
    await service.flush();
    await settle();
    const release = index.hold(); // from here on it keeps what it has
    await service.update(ADA, id, { content: "a horse runs" });
    expect((await service.delete(ADA, [other])).left).toMatchObject([{ what: "vectors in map" }]);
    const [hit, ...others] = await service.query(ADA, "cat", { topK: 3 });
    expect(others).toEqual([]);
    expect(hit?.content).toBe("a horse runs");
    expect(["round", "hybrid"]).toContain(hit?.level); // by its new vector, not by the index's
    await service.flush();
    expect((await service.query(ADA, "horse", { topK: 3 })).map(({ content }) => content)).toEqual(["a horse runs"]);
    release();
    await settle();
    expect(index.points.size).toBe(1);
  });

  it("does not find an edited item by its old meaning when the new text cannot be embedded", async () => {
    const { embedder, index, service, say } = await open();
    const id = await say("the cat sleeps");
    await service.flush();
    await settle();
    index.hold();
    embedder.refuse((text) => text.includes("horse"));
    await service.update(ADA, id, { content: "a horse runs" });
    await service.flush();
    expect((await service.stats()).store.parked).toBe(1);
    expect(await service.query(ADA, "cat")).toHaveLength(0);
    expect(await service.query(ADA, "horse")).toHaveLength(1); // by its words
  });

  it("still finds an item of which only other fields were edited", async () => {
    const { index, service, say, ask } = await open();
    const id = await say("the cat sleeps");
    await service.flush();
    await settle();
    await service.update(ADA, id, { metadata: { read: true } });
    await settle();
    expect(await ask("cat")).toEqual(["the cat sleeps"]);
    expect(index.searches).toBe(1);
  });

  it("is not asked when a filter narrows the question: it knows no attributes", async () => {
    const { index, service, say } = await open();
    await say("the cat sleeps");
    await service.flush();
    await settle();
    expect(await service.query(ADA, "cat", { role: "user" })).toHaveLength(1);
    expect(await service.query(ADA, "cat", { role: "assistant" })).toHaveLength(0);
    expect(index.searches).toBe(0);
  });
});
