/**
 * A stand-in for a Qdrant server: it implements the REST routes that `QdrantIndex` uses, on a real socket, and fails on
 * demand. It was written from Qdrant's API description and its client's types; only a run against a real server can
 * show other differences (HOLDFAST_TEST_QDRANT_URL).
 *
 * It checks what Qdrant checks: ids are UUIDs or unsigned integers, vectors have the collection's size, a change is
 * applied completely or not at all. Searches are exact.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Body;
}

export interface StoredPoint {
  readonly id: string | number;
  readonly vector: readonly number[];
  readonly payload: Body;
}

export type Fault =
  /** Answered with this status, and nothing applied. `say` is what the error says, `location` where to go instead. */
  | { readonly kind: "status"; readonly status: number; readonly say?: string; readonly location?: string }
  /** The connection is lost before the request is applied, or after: then it was, and nobody knows. */
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  /** Answered with bytes that are not what they claim to be. */
  | { readonly kind: "garbage" };

type Body = { readonly [key: string]: unknown };

interface Collection {
  readonly vectors: Body;
  readonly fields: Map<string, Body>;
  readonly points: Map<string | number, StoredPoint>;
}

interface Answer {
  readonly status: number;
  readonly result?: unknown;
  readonly error?: string;
}

const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

export class QdrantServer {
  readonly requests: RecordedRequest[] = [];
  readonly collections = new Map<string, Collection>();
  readonly #server: Server;
  readonly #apiKey: string | undefined;
  readonly #faults: { readonly fault: Fault; readonly path: RegExp }[] = [];
  readonly #waiting = new Set<() => void>();
  #gate: Promise<void> = Promise.resolve();
  #refuses: (point: StoredPoint) => boolean = () => false;

  private constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start({ apiKey }: { readonly apiKey?: string } = {}): Promise<QdrantServer> {
    const server = new QdrantServer(apiKey);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next requests to such paths fail, one after the other. */
  failNext(times: number, fault: Fault, path = /^/): void {
    for (let time = 0; time < times; time++) this.#faults.push({ fault, path });
  }

  /** Holds every request from now on, before it is applied, until the returned function is called. */
  stall(): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#gate = this.#gate.then(() => released);
    return release;
  }

  /** Changes that bring such a point are refused as a whole. */
  refuse(predicate: (point: StoredPoint) => boolean): void {
    this.#refuses = predicate;
  }

  /** Resolves when so many requests have arrived since the start. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** All points of all collections. */
  points(): StoredPoint[] {
    return [...this.collections.values()].flatMap(({ points }) => [...points.values()]);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const method = request.method ?? "GET";
    const body = parse(raw);
    const path = decodeURIComponent(pathname);
    this.requests.push({ method, path, query: searchParams, headers: request.headers, body: body ?? {} });
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    await this.#gate;

    const at = this.#faults.findIndex((planned) => planned.path.test(path));
    const fault = at >= 0 ? this.#faults.splice(at, 1)[0]?.fault : undefined;
    if (fault?.kind === "drop" && fault.when === "before") return void request.socket.destroy();
    if (fault?.kind === "status") {
      if (fault.location !== undefined) response.setHeader("location", fault.location);
      return reply(response, { status: fault.status, error: fault.say ?? `Service internal error: told to fail` });
    }
    const isAllowed = this.#apiKey === undefined || request.headers["api-key"] === this.#apiKey;
    if (!isAllowed) return void response.writeHead(401).end("Must provide an API key or an Authorization bearer token");
    const answer = body ? this.#apply(method, path, body) : { status: 400, error: "Format error in JSON body" };
    if (fault?.kind === "drop") return void request.socket.destroy();
    if (fault?.kind === "garbage") return void response.writeHead(200, JSON_TYPE).end('{"result": {"points": [');
    reply(response, answer);
  }

  #apply(method: string, path: string, body: Body): Answer {
    const [, root, name = "", ...rest] = path.split("/");
    if (root !== "collections") return { status: 404, error: "" };
    if (name === "")
      return { status: 200, result: { collections: [...this.collections.keys()].map((name) => ({ name })) } };
    const route = `${method} ${rest.join("/")}`.trim();
    const collection = this.collections.get(name);
    if (route === "GET exists") return { status: 200, result: { exists: collection !== undefined } };
    if (route === "PUT") return this.#create(name, body);
    if (!collection) return { status: 404, error: `Not found: Collection \`${name}\` doesn't exist!` };
    if (route === "GET") return { status: 200, result: infoOf(collection) };
    if (route === "DELETE") return { status: 200, result: this.collections.delete(name) };
    if (route === "PUT index") return index(collection, body);
    if (route === "PUT points") return this.#upsert(collection, body);
    if (route === "POST points/delete") return remove(collection, body);
    if (route === "POST points/query") return query(collection, body);
    return { status: 404, error: "" };
  }

  #create(name: string, body: Body): Answer {
    if (this.collections.has(name))
      return { status: 409, error: `Wrong input: Collection \`${name}\` already exists!` };
    if (name.length > 255 || /[<>:"/\\|?*]/.test(name)) return wrong("collection name cannot contain that");
    const vectors = body["vectors"] as Body | undefined;
    if (!vectors) return wrong("no vectors");
    this.collections.set(name, { vectors, fields: new Map(), points: new Map() });
    return { status: 200, result: true };
  }

  #upsert(collection: Collection, body: Body): Answer {
    const points = body["points"];
    if (!Array.isArray(points) || points.length === 0) return wrong("Empty update request");
    const checked: StoredPoint[] = [];
    for (const { id, vector, payload } of points as StoredPoint[]) {
      const problem = idProblem(id) ?? vectorProblem(collection, vector);
      if (problem) return problem;
      const point = { id, vector: isCosine(collection) ? unit(vector) : vector, payload };
      if (this.#refuses(point)) return wrong("told to refuse this point");
      checked.push(point);
    }
    for (const point of checked) collection.points.set(point.id, point);
    return completed();
  }
}

function index({ fields }: Collection, body: Body): Answer {
  const field = body["field_name"];
  if (typeof field !== "string") return { status: 400, error: "Format error in JSON body: missing field `field_name`" };
  fields.set(field, body["field_schema"] as Body);
  return completed();
}

function remove({ points }: Collection, body: Body): Answer {
  const ids = body["points"];
  if (!Array.isArray(ids)) return wrong("only points by id");
  for (const id of ids) {
    const problem = idProblem(id);
    if (problem) return problem;
  }
  for (const id of ids) points.delete(id);
  return completed();
}

function query(collection: Collection, body: Body): Answer {
  const vector = body["query"];
  const limit = Number(body["limit"] ?? 10);
  if (!Array.isArray(vector)) return wrong("only queries by vector");
  if (!Number.isInteger(limit) || limit < 1) {
    return {
      status: 422,
      error: `Validation error in JSON body: [limit: value ${limit} invalid, must be 1 or larger]`,
    };
  }
  const problem = vectorProblem(collection, vector);
  if (problem) return problem;
  const wanted = isCosine(collection) ? unit(vector) : vector;
  const points = [...collection.points.values()]
    .filter(({ payload }) => passes(payload, body["filter"] as Body | undefined))
    .map(({ id, vector: own, payload }) => ({ id, version: 0, score: Math.fround(dot(own, wanted)), payload }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ payload, ...point }) => (body["with_payload"] === true ? { ...point, payload } : point));
  return { status: 200, result: { points } };
}

/** Only what `QdrantIndex` sends: all of `must`, each a field with any of some values; of a list, one is enough. */
function passes(payload: Body, filter: Body | undefined): boolean {
  const must = (filter?.["must"] ?? []) as { key: string; match: { any: unknown[] } }[];
  return must.every(({ key, match }) => [payload[key]].flat().some((value) => match.any.includes(value)));
}

function infoOf({ vectors, fields, points }: Collection): unknown {
  const schema = [...fields].map(([field, params]) => [field, { data_type: params["type"], params, points: 0 }]);
  return {
    status: "green",
    optimizer_status: "ok",
    points_count: points.size,
    segments_count: 1,
    config: { params: { vectors, shard_number: 1 } },
    payload_schema: Object.fromEntries(schema),
  };
}

function idProblem(id: unknown): Answer | undefined {
  const isValid = typeof id === "string" ? UUID.test(id) : Number.isSafeInteger(id) && (id as number) >= 0;
  if (isValid) return undefined;
  const said = `value ${id} is not a valid point ID, valid values are either an unsigned integer or a UUID`;
  return { status: 400, error: `Format error in JSON body: ${said}` };
}

function vectorProblem({ vectors }: Collection, vector: unknown): Answer | undefined {
  const isVector = Array.isArray(vector) && vector.every((value) => typeof value === "number");
  if (!isVector) return { status: 400, error: "Format error in JSON body: data did not match any variant" };
  if (vector.length === vectors["size"]) return undefined;
  return wrong(`Vector dimension error: expected dim: ${vectors["size"]}, got ${vector.length}`);
}

const isCosine = ({ vectors }: Collection): boolean => vectors["distance"] === "Cosine";
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);
const unit = (vector: readonly number[]): readonly number[] => {
  const length = Math.hypot(...vector) || 1;
  return vector.map((x) => Math.fround(x / length));
};

const wrong = (said: string): Answer => ({ status: 400, error: `Wrong input: ${said}` });
const completed = (): Answer => ({ status: 200, result: { operation_id: 0, status: "completed" } });

const JSON_TYPE = { "content-type": "application/json" };

function reply(response: ServerResponse, { status, result, error }: Answer): void {
  const body = error === undefined ? { result, status: "ok", time: 0 } : { status: { error }, time: 0 };
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
}

function parse(raw: string): Body | undefined {
  try {
    return raw === "" ? {} : (JSON.parse(raw) as Body);
  } catch {
    return undefined;
  }
}
