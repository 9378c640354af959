/**
 * QdrantIndex on a server that fails, stalls and drops connections: the errors that callers get, and the requests that
 * are sent.
 */
import { inspect } from "node:util";
import type { HoldfastError } from "holdfast";
import { QdrantIndex, type QdrantIndexOptions } from "holdfast/qdrant";
import type { Point } from "holdfast/stores";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QdrantServer } from "../support/qdrant-server.js";

const SPACE = { model: "m", runtime: "r", dimensions: 2 };
const COLLECTION = "holdfast_m_r_2";
const POINTS_ROUTE = /\/points/;
const ADA = "0197a3b0-0000-7000-8000-00000000000a";
const SEARCH = { spaceIds: [ADA], vector: Float32Array.of(1, 0), limit: 5 };
const KEY = "a-very-secret-key";

const idOf = (key: number): string => `00000000-0000-8000-8000-${String(key).padStart(12, "0")}`;
const point = (key: number): Point => ({
  id: idOf(key),
  vector: Float32Array.of(1, 0),
  spaceId: ADA,
  key,
  version: 3,
  part: 0,
});
const points = (count: number): Point[] => Array.from({ length: count }, (_, at) => point(at + 1));

let server: QdrantServer;
const indexes: QdrantIndex[] = [];

beforeEach(async () => {
  server = await QdrantServer.start();
});

afterEach(async () => {
  for (const index of indexes.splice(0)) await index.close();
  await server.close();
});

function make(options: Partial<QdrantIndexOptions> = {}): QdrantIndex {
  const index = new QdrantIndex({ url: server.url, ...options });
  indexes.push(index);
  return index;
}

async function prepared(options: Partial<QdrantIndexOptions> = {}): Promise<QdrantIndex> {
  const index = make(options);
  await index.prepare(SPACE);
  return index;
}

const failureOf = (call: Promise<unknown>): Promise<HoldfastError> =>
  call.then(
    () => expect.fail("it did not fail"),
    (error: HoldfastError) => error,
  );

const routes = (): string[] => server.requests.map(({ method, path }) => `${method} ${path}`);

describe("what is sent", () => {
  it("is nothing before the first call, and never a question for the version", async () => {
    const index = make();
    expect(server.requests).toEqual([]);
    await index.prepare(SPACE);
    await index.prepare(SPACE);
    expect(routes()).toEqual([
      `GET /collections/${COLLECTION}`,
      `PUT /collections/${COLLECTION}`,
      `GET /collections/${COLLECTION}`,
      `PUT /collections/${COLLECTION}/index`,
      `PUT /collections/${COLLECTION}/index`,
    ]);
    const created = server.collections.get(COLLECTION);
    expect(created?.vectors).toEqual({ size: 2, distance: "Cosine" });
    expect(created?.fields.get("space")).toMatchObject({ type: "keyword" });
    expect(created?.fields.get("key")).toMatchObject({ type: "integer" });
  });

  it("is numbers and ids, no text and no names", async () => {
    const index = await prepared();
    await index.upsert([point(7)]);
    expect(server.points()).toEqual([
      { id: idOf(7), vector: [1, 0], payload: { space: ADA, key: 7, version: 3, part: 0 } },
    ]);
  });

  it("comes in batches, and each waits to be applied", async () => {
    const index = await prepared({ batchSize: 100 });
    server.requests.length = 0;
    await index.upsert(points(250));
    await index.delete(points(250).map(({ id }) => id));
    const sizes = server.requests.map(({ body }) => (body["points"] as unknown[]).length);
    expect(sizes).toEqual([100, 100, 50, 100, 100, 50]);
    expect(server.requests.every(({ query }) => query.get("wait") === "true")).toBe(true);
    expect(server.points()).toEqual([]);
  });

  it("goes under the path of the URL", async () => {
    await failureOf(make({ url: `${server.url}/behind/a/proxy/` }).prepare(SPACE));
    expect(server.requests[0]?.path).toBe(`/behind/a/proxy/collections/${COLLECTION}`);
  });
});

describe("a collection that is there", () => {
  const place = (vectors: object) =>
    server.collections.set(COLLECTION, { vectors: { ...vectors }, fields: new Map(), points: new Map() });

  it("is used if it is ours, and gets the payload indexes that it lacks", async () => {
    place({ size: 2, distance: "Cosine" });
    server.collections.get(COLLECTION)?.fields.set("space", { type: "keyword" });
    await make().prepare(SPACE);
    expect(routes()).toEqual([`GET /collections/${COLLECTION}`, `PUT /collections/${COLLECTION}/index`]);
    expect([...(server.collections.get(COLLECTION)?.fields.keys() ?? [])]).toEqual(["space", "key"]);
  });

  it("is refused and left as it is if it is not", async () => {
    for (const vectors of [
      { size: 3, distance: "Cosine" },
      { size: 2, distance: "Euclid" },
      { size: 2, distance: "Dot" },
      { named: { size: 2, distance: "Cosine" } },
    ]) {
      place(vectors);
      const index = make();
      expect(await failureOf(index.prepare(SPACE))).toMatchObject({ code: "vector_space", retryable: false });
      expect(server.collections.get(COLLECTION)).toEqual({ vectors, fields: new Map(), points: new Map() });
      expect(await failureOf(index.upsert([point(1)]))).toMatchObject({ hint: expect.stringMatching(/prepare/) });
    }
    expect(routes().every((route) => route.startsWith("GET"))).toBe(true);
  });

  it("may be made by another process in the same moment", async () => {
    const release = server.stall();
    const both = Promise.all([make().prepare(SPACE), make().prepare(SPACE)]);
    await server.arrived(2);
    release();
    await both;
    expect(server.collections.size).toBe(1);
    expect(routes().filter((route) => route === `PUT /collections/${COLLECTION}`)).toHaveLength(2);
  });

  it("may be made by another process in the same moment, on an old server", async () => {
    place({ size: 2, distance: "Cosine" });
    server.failNext(1, { kind: "status", status: 404 });
    server.failNext(1, { kind: "status", status: 400, say: "Wrong input: it already exists!" });
    await make().prepare(SPACE);
    server.failNext(1, { kind: "status", status: 404 });
    server.failNext(1, { kind: "status", status: 400, say: "Wrong input: no such distance" });
    server.failNext(1, { kind: "status", status: 404 });
    expect(await failureOf(make().prepare(SPACE))).toMatchObject({
      code: "index_failed",
      message: expect.stringContaining("no such distance"),
    });
  });
});

describe("an answer that is no success", () => {
  it("is a failure that may be over later, or a refusal of what was sent", async () => {
    const index = await prepared();
    const cases = [500, 502, 503, 429, 401, 403, 404, 408, 409, 400, 413, 422];
    for (const status of cases) {
      const refused = [400, 413, 422].includes(status);
      server.failNext(2, { kind: "status", status }, POINTS_ROUTE);
      for (const call of [index.upsert([point(1)]), index.delete([idOf(1)])]) {
        const error = await failureOf(call);
        expect(error).toMatchObject({ code: "index_failed", retryable: true, hint: expect.any(String) });
        expect(error.details, `${status}`).toEqual(refused ? { status, refused } : { status });
      }
      server.failNext(1, { kind: "status", status }, POINTS_ROUTE);
      expect((await failureOf(index.search(SEARCH))).details, `${status}`).toEqual({ status });
    }
    await index.upsert([point(1)]);
    expect(await index.search(SEARCH)).toHaveLength(1);
  });

  it("says what Qdrant says, as far as it is short", async () => {
    const index = await prepared();
    const wrong = { ...point(1), id: "not-a-uuid" };
    expect(await failureOf(index.upsert([point(2), wrong]))).toMatchObject({
      message: expect.stringMatching(/status 400, .*not-a-uuid is not a valid point ID/),
      details: { refused: true },
    });
    expect(server.points()).toEqual([]);
    server.failNext(1, { kind: "status", status: 500, say: "x".repeat(100_000) }, POINTS_ROUTE);
    expect((await failureOf(index.search(SEARCH))).message.length).toBeLessThan(300);
  });

  it("is a failure also if the answer makes no sense", async () => {
    const index = await prepared();
    server.failNext(1, { kind: "garbage" }, POINTS_ROUTE);
    expect(await failureOf(index.search(SEARCH))).toMatchObject({ code: "index_failed" });
  });

  it("is refused if it contains points that were not requested", async () => {
    const index = await prepared();
    await index.upsert([point(1)]);
    const place = { key: 1, version: 1, part: 0 };
    for (const payload of [{ space: ADA }, { ...place, space: ADA, key: "1" }, { ...place, space: [ADA, "another"] }]) {
      server.collections.get(COLLECTION)?.points.set(idOf(1), { id: idOf(1), vector: [1, 0], payload });
      expect(await failureOf(index.search(SEARCH))).toMatchObject({ code: "index_failed" });
    }
  });
});

describe("a connection that is lost", () => {
  it("before the change: nothing is there, and the next attempt succeeds", async () => {
    const index = await prepared();
    server.failNext(1, { kind: "drop", when: "before" }, POINTS_ROUTE);
    const error = await failureOf(index.upsert([point(1)]));
    expect(error).toMatchObject({ code: "index_failed", retryable: true, details: {} });
    expect(server.points()).toEqual([]);
    await index.upsert([point(1)]);
    expect(server.points()).toHaveLength(1);
  });

  it("after the change: the same change again changes nothing more", async () => {
    const index = await prepared();
    server.failNext(1, { kind: "drop", when: "after" }, POINTS_ROUTE);
    expect(await failureOf(index.upsert(points(3)))).toMatchObject({ code: "index_failed" });
    const before = server.points();
    expect(before).toHaveLength(3);
    await index.upsert(points(3));
    expect(server.points()).toEqual(before);
  });

  it("says so if there is no server at all, and works when it comes", async () => {
    const index = await prepared();
    const other = await QdrantServer.start();
    const { url } = other;
    await other.close();
    expect(await failureOf(make({ url }).prepare(SPACE))).toMatchObject({
      code: "index_failed",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(await index.search(SEARCH)).toEqual([]);
  });
});

describe("a server that does not answer", () => {
  it("is given up after the time-out, and sent again the next time", async () => {
    const index = await prepared({ timeoutMs: 1_000 });
    const release = server.stall();
    expect(await failureOf(index.upsert([point(1)]))).toMatchObject({
      code: "index_failed",
      message: "Qdrant did not answer within 1000 ms",
      retryable: true,
    });
    release();
    await index.upsert([point(1)]);
    expect(server.points()).toHaveLength(1);
  });

  it("is given up when the caller of a search gives up", async () => {
    const index = await prepared();
    const seen = server.requests.length;
    const release = server.stall();
    const controller = new AbortController();
    const search = failureOf(index.search({ ...SEARCH, signal: controller.signal }));
    await server.arrived(seen + 1);
    const reason = new Error("no longer of interest");
    controller.abort(reason);
    expect(await search).toBe(reason);
    release();
  });

  it("is given up by close, and nothing is sent any more", async () => {
    const index = await prepared();
    const seen = server.requests.length;
    const release = server.stall();
    const upsert = failureOf(index.upsert([point(1)]));
    await server.arrived(seen + 1);
    await index.close();
    expect(await upsert).toMatchObject({ code: "closed" });
    expect(await failureOf(index.search(SEARCH))).toMatchObject({ code: "closed" });
    await index.close();
    expect(server.requests).toHaveLength(seen + 1);
    release();
  });
});

describe("the API key", () => {
  it("is sent with every request, without a word on the console", async () => {
    const guarded = await QdrantServer.start({ apiKey: KEY });
    const warn = vi.spyOn(console, "warn");
    try {
      const index = await prepared({ url: guarded.url, apiKey: KEY });
      await index.upsert([point(1)]);
      expect(await index.search(SEARCH)).toHaveLength(1);
      expect(guarded.requests.every(({ headers }) => headers["api-key"] === KEY)).toBe(true);
      expect(warn).not.toHaveBeenCalled();
      const error = await failureOf(make({ url: guarded.url, apiKey: "another-key" }).prepare(SPACE));
      expect(error).toMatchObject({ code: "index_failed", hint: expect.stringMatching(/API key/) });
      expect(inspect(error, { depth: 9 })).not.toContain("another-key");
    } finally {
      warn.mockRestore();
      await guarded.close();
    }
  });

  it("is in no error, also if the server repeats it", async () => {
    const index = await prepared({ apiKey: KEY });
    server.failNext(1, { kind: "status", status: 400, say: `the key ${KEY} is bad` }, POINTS_ROUTE);
    const error = await failureOf(index.upsert([point(1)]));
    expect(error.message).toContain("[API key]");
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  });

  it("does not follow a redirect to somewhere else", async () => {
    const index = await prepared({ apiKey: KEY });
    const elsewhere = await QdrantServer.start();
    try {
      const location = `${elsewhere.url}/collections`;
      server.failNext(1, { kind: "status", status: 307, location }, POINTS_ROUTE);
      expect(await failureOf(index.upsert([point(1)]))).toMatchObject({ code: "index_failed" });
      expect(elsewhere.requests).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });
});
