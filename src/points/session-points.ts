/** The points of one scope's space. */
import type { Grants } from "../input/grants.js";
import type { PageOptions } from "../input/page.js";
import type { PointSearchOptions, VectorInput } from "../input/points.js";
import type { ParsedScope } from "../input/scope.js";
import type { PointHit, VectorPoint } from "../stores/points.js";
import type { ForgetReceipt, Page } from "../types.js";
import type { MemoryPoints } from "./memory-points.js";

/** The points of a scope, in process or through a server. */
export type Points = Pick<SessionPoints, keyof SessionPoints>;

export class SessionPoints {
  readonly #points: MemoryPoints;
  readonly #place: ParsedScope;
  readonly #grants: Grants;

  constructor(points: MemoryPoints, place: ParsedScope, grants: Grants) {
    this.#points = points;
    this.#place = place;
    this.#grants = grants;
  }

  /** The points of a collection that are nearest to a vector, best first. Exact. */
  async search(
    collection: string,
    vector: VectorInput,
    options: PointSearchOptions = {},
  ): Promise<readonly PointHit[]> {
    this.#grants.check(options?.spaces);
    return this.#points.search(this.#place, collection, vector, options);
  }

  /** Points by id, in the given order; missing ones are left out. */
  get(collection: string, ids: readonly string[]): Promise<readonly VectorPoint[]> {
    return this.#points.get(this.#place, collection, ids);
  }

  /** A page of a collection, in the order in which its points were first stored. */
  async list(collection: string, options?: PageOptions): Promise<Page<VectorPoint>> {
    return this.#points.list(this.#place, collection, options);
  }

  /** Forgets points by id. */
  delete(collection: string, ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#points.delete(this.#place, collection, ids);
  }
}
