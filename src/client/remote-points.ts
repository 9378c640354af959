/** The points of a scope's space, through a server. */
import type { Grants } from "../input/grants.js";
import type { PageOptions } from "../input/page.js";
import { type PointSearchOptions, parseVector, type VectorInput } from "../input/points.js";
import type { Points } from "../points/session-points.js";
import type { PointHit, VectorPoint } from "../stores/points.js";
import type { ForgetReceipt, Page, Scope } from "../types.js";
import type { Transport } from "./transport.js";

export class RemotePoints implements Points {
  readonly #transport: Transport;
  readonly #scope: Scope;
  readonly #grants: Grants;

  constructor(transport: Transport, scope: Scope, grants: Grants) {
    this.#transport = transport;
    this.#scope = scope;
    this.#grants = grants;
  }

  async search(
    collection: string,
    vector: VectorInput,
    options: PointSearchOptions = {},
  ): Promise<readonly PointHit[]> {
    this.#grants.check(options?.spaces);
    const body = { ...options, collection, vector: Array.from(parseVector(vector)) };
    return this.#transport.call("searchPoints", { scope: this.#scope, body });
  }

  async get(collection: string, ids: readonly string[]): Promise<readonly VectorPoint[]> {
    return (await this.#transport.call("getPoints", { scope: this.#scope, body: { collection, ids } })).map(pointOf);
  }

  async list(collection: string, options: PageOptions = {}): Promise<Page<VectorPoint>> {
    const body = { ...options, collection };
    const page = await this.#transport.call("listPoints", { scope: this.#scope, body });
    return { ...page, items: page.items.map(pointOf) };
  }

  async delete(collection: string, ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#transport.call("deletePoints", { scope: this.#scope, body: { collection, ids } });
  }
}

type WirePoint = Omit<VectorPoint, "vector"> & { readonly vector: readonly number[] };

const pointOf = (point: WirePoint): VectorPoint => ({ ...point, vector: Float32Array.from(point.vector) });
