/** An external vector index that can be delayed: it keeps answering with its old state. */
import type { FoundPoint, Point, PointSearch, VectorIndex } from "holdfast/stores";

export class SlowIndex implements VectorIndex {
  readonly name = "a slow index";
  searches = 0;
  readonly #points = new Map<string, Point>();
  #gate: Promise<void> = Promise.resolve();

  get size(): number {
    return this.#points.size;
  }

  /** Changes wait from now on, until the returned function is called. */
  hold(): () => void {
    let release = (): void => {};
    this.#gate = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  }

  async prepare(): Promise<void> {}

  async upsert(points: readonly Point[]): Promise<void> {
    await this.#gate;
    for (const point of points) this.#points.set(point.id, point);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#gate;
    for (const id of ids) this.#points.delete(id);
  }

  async search({ spaceIds, vector, limit }: PointSearch): Promise<readonly FoundPoint[]> {
    this.searches++;
    const found = [...this.#points.values()].filter(({ spaceId }) => spaceIds.includes(spaceId));
    const scored = found.map(({ spaceId, key, version, part, vector: point }) => {
      const score = point.reduce((sum, value, at) => sum + value * Number(vector[at]), 0);
      return { spaceId, key, version, part, score };
    });
    return scored.sort((a, b) => b.score - a.score).slice(0, limit);
  }

  async close(): Promise<void> {}
}
