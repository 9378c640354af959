/** An external index follows a reindex: the new vectors go to it, the old ones leave it, and no process mixes them up. */
import { HoldfastError, type VectorSpace } from "holdfast";
import type { FoundPoint, Point, PointSearch, VectorIndex } from "holdfast/stores";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

/** A server with a collection per vector space, by the model's name. */
type Server = Map<string, Map<string, Point>>;

class CollectionIndex implements VectorIndex {
  readonly name = "a server";
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
    for (const point of points) this.#points().set(point.id, { ...point, vector: point.vector.slice() });
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#points().delete(id);
  }

  async deleteFormer({ model }: VectorSpace, ids: readonly string[]): Promise<void> {
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
  it("is told everything anew after the switch, and loses the points of the old model", async () => {
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
    await old.session(ADA).delete([ids[2] as string]);
    await old.close();
    const oldPoints = [...(server.get("old")?.values() ?? [])];
    const { embed } = new MirrorEmbedder({ model: "new" });
    const [foreign] = await embed.call(new MirrorEmbedder({ model: "new" }), ["blue kettle"]);
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
});
