/** Points: vectors of callers' own, with an id and a payload, in named collections. Turns store them. */
import { parseIds } from "../input/call.js";
import { type PageOptions, parsePage } from "../input/page.js";
import { type PointSearchOptions, parseCollection, parsePointSearch, type VectorInput } from "../input/points.js";
import { tooLarge } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import type { PointHit, VectorPoint } from "../stores/points.js";
import type { ForgetWrite, Store } from "../stores/store.js";
import type { ForgetReceipt, Page, SpaceRef } from "../types.js";

export interface MemoryPointsParts {
  readonly store: Pick<Store, "points" | "nearest">;
  readonly now: () => number;
  readonly forget: (target: ForgetWrite["target"]) => Promise<ForgetReceipt>;
}

const IDS_PER_READ = 64;
/** The vectors that one `get` returns. */
const GET_BYTES_MAX = 4 * 1024 * 1024;

export class MemoryPoints {
  readonly #parts: MemoryPointsParts;

  constructor(parts: MemoryPointsParts) {
    this.#parts = parts;
  }

  search(
    place: ParsedScope,
    collection: string,
    vector: VectorInput,
    options?: PointSearchOptions,
  ): Promise<readonly PointHit[]> {
    const request = parsePointSearch(place, collection, vector, options);
    return this.#parts.store.nearest({ ...request, now: this.#parts.now() });
  }

  /** In the order of the ids; missing ones are left out. */
  async get({ space }: ParsedScope, collection: string, ids: readonly string[]): Promise<readonly VectorPoint[]> {
    const found: VectorPoint[] = [];
    let bytes = 0;
    for await (const points of this.#found(space, parseCollection(collection), parseIds(ids))) {
      bytes += points.reduce((sum, { vector }) => sum + vector.byteLength, 0);
      if (bytes > GET_BYTES_MAX) throw tooLarge("ids", `${GET_BYTES_MAX / 1024 ** 2} MiB of vectors`, "ask for fewer");
      found.push(...points);
    }
    return found;
  }

  list({ space }: ParsedScope, collection: string, options: PageOptions = {}): Promise<Page<VectorPoint>> {
    const request = { space, collection: parseCollection(collection), ...parsePage(options) };
    return this.#parts.store.points({ ...request, now: this.#parts.now() });
  }

  async delete({ space }: ParsedScope, collection: string, ids: readonly string[]): Promise<ForgetReceipt> {
    const points = { collection: parseCollection(collection), ids: parseIds(ids) };
    const known = new Set<string>();
    for await (const found of this.#found(space, points.collection, points.ids))
      for (const { id } of found) known.add(id);
    const receipt = await this.#parts.forget({ space, points });
    return { ...receipt, missing: points.ids.filter((id) => !known.has(id)) };
  }

  /** The points of these ids, a few at a time, because their vectors may be long. */
  async *#found(space: SpaceRef, collection: string, ids: readonly string[]): AsyncGenerator<readonly VectorPoint[]> {
    for (let at = 0; at < ids.length; at += IDS_PER_READ) {
      const some = ids.slice(at, at + IDS_PER_READ);
      const request = { space, collection, ids: some, limit: some.length, now: this.#parts.now() };
      yield (await this.#parts.store.points(request)).items;
    }
  }
}
