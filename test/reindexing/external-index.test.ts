/** An external index follows a reindex: the new vectors go to it, the old ones leave it, and no process mixes them up. */
import { HoldfastError, type VectorSpace } from "holdfast";
import { QdrantIndex } from "holdfast/qdrant";
import type { FoundPoint, Point, PointSearch, VectorIndex } from "holdfast/stores";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { rounded } from "../support/product.js";
import { QdrantServer } from "../support/qdrant-server.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

/** A server with a collection per vector space, by the model's name. */
type Server = Map<string, Map<string, Point>>;

class CollectionIndex implements VectorIndex {
  readonly name = "a server";
  isDown = false;
  readonly #server: Server;
  #prepared: VectorSpace | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  async prepare(space: VectorSpace): Promise<void> {
    if (this.#prepared && this.#prepared.model !== space.model) throw new HoldfastError("vector_space", "of another");
    this.#prepared = space;
    if (!this.#server.has(space.model)) this.#server.set(space.model, new Map());
  }

  async upsert(points: readonly Point[]): Promise<void> {
    if (this.isDown) throw new HoldfastError("index_failed", "the server is down");
    for (const point of points) this.#points().set(point.id, { ...point, vector: point.vector.slice() });
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#points().delete(id);
  }

  async deleteIn({ model }: VectorSpace, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#server.get(model)?.delete(id);
  }

  async search({ spaceIds, vector, limit }: PointSearch): Promise<readonly FoundPoint[]> {
    const found = [...this.#points().values()].filter(({ spaceId }) => spaceIds.includes(spaceId));
    const scored = found.map((point) => ({
      ...point,
      score: point.vector.reduce((sum, x, at) => sum + x * Number(vector[at]), 0),
    }));
    return scored.sort((a, b) => b.score - a.score).slice(0, limit);
  }

  async close(): Promise<void> {}

  #points(): Map<string, Point> {
    const points = this.#prepared && this.#server.get(this.#prepared.model);
    if (!points) throw new HoldfastError("index_failed", "not prepared");
    return points;
  }
}

const sizes = (server: Server) => Object.fromEntries([...server].map(([model, points]) => [model, points.size]));

describe("an external index", () => {
  it("gets everything again after the switch, and loses the points of the old model", async () => {
    const path = newPath();
    const server: Server = new Map();
    const opened = (model: string) =>
      open({ path, embedder: new MirrorEmbedder({ model }), vectorIndex: new CollectionIndex(server) });
    const first = await opened("old");
    const { ids } = await first.session(ADA).add(["blue kettle", "green teapot", "red pan"].map(said));
    await first.close();
    expect(sizes(server)).toEqual({ old: 3 });

    const old = await opened("old");
    await old.session(ADA).add([said("white cup")]);
    await old.flush();
    await (await open({ path })).reindex({ embedder: new MirrorEmbedder({ model: "new" }) });
    await old.session(ADA).add([said("late spoon")]);
    await old.flush();
    const down = new CollectionIndex(server);
    down.isDown = true;
    const queueing = await open({ path, embedder: new MirrorEmbedder({ model: "new" }), vectorIndex: down });
    await queueing.close(); // everything is queued, and nothing was taken
    await old.session(ADA).delete([ids[2] as string]);
    await old.close();
    const oldPoints = [...(server.get("old")?.values() ?? [])];
    const [embedded] = await new MirrorEmbedder({ model: "new" }).embed(["blue kettle"]);
    const foreign = rounded(embedded as Float32Array);
    expect(
      oldPoints.map(({ vector }) => vector),
      "no new vector among the old",
    ).not.toContainEqual(foreign);

    const renewed = await opened("new");
    await renewed.flush();
    const hits = await renewed.session(ADA).query(mirrored("late spoon"));
    expect([hits[0]?.content, hits.degraded]).toEqual(["late spoon", undefined]);
    await renewed.close();
    expect(sizes(server)).toEqual({ old: 0, new: 4 });
    expect([...(server.get("new")?.values() ?? [])].map(({ vector }) => vector)).toContainEqual(foreign);
  });

  it("of Qdrant's keeps the points of each model in a collection, and deletes former ones in theirs", async () => {
    const server = await QdrantServer.start();
    try {
      const space = (model: string): VectorSpace => ({ model, runtime: "test", dimensions: 2 });
      const id = "00000000-0000-7000-8000-000000000001";
      const point = { id, vector: new Float32Array([1, 0]), spaceId: "s", key: 1, version: 1, part: 0 };
      const counts = () => Object.fromEntries([...server.collections].map(([name, { points }]) => [name, points.size]));
      const [old, renewed] = [new QdrantIndex({ url: server.url }), new QdrantIndex({ url: server.url })];
      await old.prepare(space("old"));
      await old.upsert([point]);
      await renewed.prepare(space("new"));
      await renewed.upsert([point]);
      expect(counts()).toEqual({ holdfast_old_test_2: 1, holdfast_new_test_2: 1 });
      await renewed.deleteIn(space("old"), [id]);
      await renewed.deleteIn(space("old"), [id]);
      await renewed.deleteIn(space("unheard-of"), [id]);
      expect(counts()).toEqual({ holdfast_old_test_2: 0, holdfast_new_test_2: 1 });
      await Promise.all([old.close(), renewed.close()]);
    } finally {
      await server.close();
    }
  });
});
