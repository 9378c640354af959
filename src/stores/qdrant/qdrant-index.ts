/**
 * Stores vectors in a Qdrant server over its REST API: one collection per vector space, shared by all memory spaces,
 * which a payload field distinguishes. The payload is { space, key, version, part } only: no text and no names leave
 * the process.
 *
 * Searches are approximate where Qdrant considers it worthwhile: its planner scans the filtered points of a small space
 * and walks its graph in a large one. An exact search would also scan the large ones, which is what an index should
 * avoid.
 *
 * The official client is an optional peer dependency, loaded by the first call. It does not check the server's version
 * and sends nothing before the first call, follows no redirects (they would forward the API key), and leaves no socket
 * that keeps the process alive. `close` aborts the requests in progress.
 */
import type { QdrantClient, Schemas } from "@qdrant/js-client-rest";
import { HoldfastError } from "../../errors.js";
import type { VectorSpace } from "../../types.js";
import type { FoundPoint, Point, PointSearch, VectorIndex } from "../vector-index.js";
import { collectionName, prepareCollection } from "./collection.js";
import { addressOf, type Endpoint, endpointOf } from "./endpoint.js";
import { failureOf, statusOf } from "./failure.js";
import { Requests } from "./requests.js";

/** The options of a `QdrantIndex`. */
export interface QdrantIndexOptions {
  /** For example http://127.0.0.1:6333. A path is kept. The default port is 6333. */
  readonly url: string;
  /** Rejected over plain http, unless the server is on this machine. */
  readonly apiKey?: string;
  /** The prefix of collection names; default "holdfast". Memories on one server may share it. */
  readonly collection?: string;
  /** The timeout of one request; default 10 s. */
  readonly timeoutMs?: number;
  /** The number of points per request; default 128. */
  readonly batchSize?: number;
}

/** The longest delay of a timer. A longer one would fire at once. */
const TIMER_MAX = 2 ** 31 - 1;

type Api = ReturnType<QdrantClient["api"]>;

interface Prepared {
  readonly space: VectorSpace;
  readonly collection: string;
}

/** A Qdrant server as the external vector index. */
export class QdrantIndex implements VectorIndex {
  readonly name: string;
  readonly #endpoint: Endpoint;
  readonly #apiKey: string | undefined;
  readonly #prefix: string;
  readonly #batchSize: number;
  readonly #requests: Requests;
  #api: Promise<Api> | undefined;
  #prepared: Prepared | undefined;
  /** The collections of other vector spaces that are prepared. */
  readonly #others = new Set<string>();

  constructor({ url, apiKey, collection = "holdfast", timeoutMs = 10_000, batchSize = 128 }: QdrantIndexOptions) {
    this.#endpoint = endpointOf(url, apiKey);
    this.#apiKey = apiKey;
    if (!/^[\w-]{1,64}$/.test(collection)) throw wrongOption("collection", "1 to 64 letters, digits, _ or -");
    if (!isCount(timeoutMs, TIMER_MAX)) throw wrongOption("timeoutMs", `a whole number from 1 to ${TIMER_MAX}`);
    if (!isCount(batchSize)) throw wrongOption("batchSize", "a whole number, 1 at least");
    this.#prefix = collection;
    this.#batchSize = batchSize;
    this.#requests = new Requests(timeoutMs);
    this.name = `qdrant ${addressOf(this.#endpoint)} ${collection}`;
  }

  async prepare(space: VectorSpace): Promise<void> {
    if (this.#holds(space)) return;
    const collection = collectionName(this.#prefix, space);
    await this.#send({ what: "prepare a collection", isChange: false }, (api, init) =>
      prepareCollection(api, collection, space.dimensions, init),
    );
    if (!this.#holds(space)) this.#prepared = { space, collection };
  }

  async upsert(points: readonly Point[]): Promise<void> {
    const { collection, space } = this.#requirePrepared();
    for (const { vector } of points) requireDimensions(vector, space);
    await this.#upsert(collection, points);
  }

  async #upsert(collection: string, points: readonly Point[]): Promise<void> {
    for (const batch of this.#batches(points)) {
      await this.#send({ what: "take points", isChange: true }, (api, init) =>
        api.upsertPoints({ collection_name: collection, wait: true, points: batch.map(toStruct) }, init),
      );
    }
  }

  async delete(ids: readonly string[]): Promise<void> {
    const { collection } = this.#requirePrepared();
    for (const batch of this.#batches(ids)) {
      await this.#send({ what: "delete points", isChange: true }, (api, init) =>
        api.deletePoints({ collection_name: collection, wait: true, points: batch }, init),
      );
    }
  }

  async upsertIn(space: VectorSpace, points: readonly Point[]): Promise<void> {
    const collection = collectionName(this.#prefix, space);
    for (const { vector } of points) requireDimensions(vector, space);
    if (!this.#others.has(collection)) {
      await this.#send({ what: "prepare a collection", isChange: false }, (api, init) =>
        prepareCollection(api, collection, space.dimensions, init),
      );
      this.#others.add(collection);
    }
    await this.#upsert(collection, points);
  }

  async deleteIn(space: VectorSpace, ids: readonly string[]): Promise<void> {
    const collection = collectionName(this.#prefix, space);
    for (const batch of this.#batches(ids)) {
      await this.#send({ what: "delete points", isChange: true }, async (api, init) => {
        try {
          await api.deletePoints({ collection_name: collection, wait: true, points: batch }, init);
        } catch (error) {
          if (statusOf(error) !== 404) throw error; // the collection was never created, or was removed
        }
      });
    }
  }

  async search({ spaceIds, vector, limit, signal }: PointSearch): Promise<readonly FoundPoint[]> {
    const { collection, space } = this.#requirePrepared();
    requireDimensions(vector, space);
    if (spaceIds.length === 0 || limit < 1) return [];
    const request = {
      collection_name: collection,
      query: Array.from(vector),
      filter: { must: [{ key: "space", match: { any: [...spaceIds] } }] },
      limit,
      with_payload: true,
    };
    const answer = await this.#send(
      { what: "search", isChange: false },
      (api, init) => api.queryPoints(request, init),
      signal,
    );
    const asked = new Set(spaceIds);
    const found = (answer.data.result?.points ?? []).map((point) => toFound(point, asked));
    return found.sort((a, b) => b.score - a.score || b.key - a.key || a.part - b.part);
  }

  async close(): Promise<void> {
    this.#requests.close();
  }

  /** Whether this space is prepared. Throws if another one is. */
  #holds(space: VectorSpace): boolean {
    if (!this.#prepared) return false;
    const { model, runtime, dimensions } = this.#prepared.space;
    if (model === space.model && runtime === space.runtime && dimensions === space.dimensions) return true;
    throw otherSpace(`the index holds vectors of ${model} (${runtime}, ${dimensions} dimensions)`);
  }

  #requirePrepared(): Prepared {
    if (this.#prepared) return this.#prepared;
    throw new HoldfastError("index_failed", "the index is not prepared for any vectors", {
      hint: "call prepare first",
    });
  }

  async #send<T>(
    attempt: { readonly what: string; readonly isChange: boolean },
    send: (api: Api, init: RequestInit) => Promise<T>,
    caller?: AbortSignal,
  ): Promise<T> {
    this.#api ??= this.#connect();
    const api = await this.#api;
    return this.#requests.run(async (signal) => {
      try {
        return await send(api, { signal, redirect: "error" });
      } catch (error) {
        throw failureOf(error, { ...attempt, apiKey: this.#apiKey });
      }
    }, caller);
  }

  /**
   * Sends nothing yet. The key is passed as a header, because the client warns on the console if it is passed as an
   * option.
   */
  async #connect(): Promise<Api> {
    const { host, port, https, path } = this.#endpoint;
    const { QdrantClient } = await loadClient();
    const client = new QdrantClient({
      host,
      port,
      https,
      prefix: path,
      timeout: Number.POSITIVE_INFINITY, // Requests enforces the deadlines
      checkCompatibility: false,
      ...(this.#apiKey !== undefined && { headers: { "api-key": this.#apiKey } }),
    });
    return client.api();
  }

  *#batches<T>(all: readonly T[]): Iterable<T[]> {
    for (let at = 0; at < all.length; at += this.#batchSize) yield all.slice(at, at + this.#batchSize);
  }
}

async function loadClient(): Promise<typeof import("@qdrant/js-client-rest")> {
  try {
    return await import("@qdrant/js-client-rest");
  } catch (cause) {
    throw new HoldfastError("config", "the Qdrant client cannot be loaded", {
      hint: "npm install @qdrant/js-client-rest",
      cause,
    });
  }
}

const toStruct = ({ id, vector, spaceId, key, version, part }: Point): Schemas["PointStruct"] => ({
  id,
  vector: Array.from(vector),
  payload: { space: spaceId, key, version, part },
});

/** Throws for a point of a space that was not requested, so that the server's filter is not trusted. */
function toFound({ payload, score }: Schemas["ScoredPoint"], asked: ReadonlySet<string>): FoundPoint {
  const { space, key, version, part } = payload ?? {};
  const isWhole = typeof key === "number" && typeof version === "number" && typeof part === "number";
  if (isWhole && typeof space === "string" && asked.has(space)) return { spaceId: space, key, version, part, score };
  throw new HoldfastError("index_failed", "Qdrant found a point that was not asked for", {
    hint: "somebody else writes to this collection; give another `collection` prefix",
  });
}

function requireDimensions(vector: Float32Array, { dimensions }: VectorSpace): void {
  if (vector.length === dimensions) return;
  throw otherSpace(`the index holds vectors of ${dimensions} dimensions, and was given one of ${vector.length}`);
}

const otherSpace = (message: string): HoldfastError =>
  new HoldfastError("vector_space", message, { hint: "use the embedder that the index was filled with" });

const isCount = (value: number, max = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(value) && value >= 1 && value <= max;

const wrongOption = (option: string, expected: string): HoldfastError =>
  new HoldfastError("config", `the Qdrant option \`${option}\` is wrong`, { hint: `give ${expected}` });
