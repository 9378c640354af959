/** The options that name other services, and parts of the caller's own: each value changes something. */
import { existsSync } from "node:fs";
import { type Clock, type Memory, systemClock } from "holdfast";
import type { VectorIndex } from "holdfast/stores";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { afterEach, describe, expect, it } from "vitest";
import { startChatServer } from "../support/chat-server.js";
import { DIMENSIONS, EmbeddingsServer, stalling } from "../support/embeddings-server.js";
import { newPath, open } from "../support/opened.js";
import { QdrantServer } from "../support/qdrant-server.js";
import { until } from "../support/until.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Closes a memory whose close waits for something that this clock must bring. */
async function closed(memory: Memory, clock: FakeClock): Promise<void> {
  let isOver = false;
  const closing = memory.close().finally(() => {
    isOver = true;
  });
  await until(() => {
    clock.advance(100);
    return isOver;
  });
  await closing;
}

type Embedding = NonNullable<Parameters<typeof open>[0]["embedding"]>;

async function served(embedding: Embedding = {}, clock: Clock = systemClock) {
  const server = await EmbeddingsServer.start();
  servers.push(server);
  const memory = await open({
    path: ":memory:",
    clock,
    buffer: { roundBuffer: { eager: false }, hybridBuffer: { embeddingModel: "remote-model" } },
    embedding: { baseUrl: server.baseUrl, ...embedding },
  });
  return { server, memory, session: memory.session(ADA) };
}

describe("the option embedding.", () => {
  it("baseUrl and apiKey name the server and the key, embeddingModel the model there", async () => {
    const { server, memory, session } = await served({ apiKey: "sesame" });
    await session.add([said("blue kettle")]);
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    const { path, headers, body } = server.requests.at(-1) ?? {};
    expect([path, headers?.authorization, body?.model]).toEqual([
      "POST /v1/embeddings",
      "Bearer sesame",
      "remote-model",
    ]);
    const { vectorSpace } = (await memory.stats()).store;
    expect(vectorSpace).toMatchObject({ model: "remote-model", dimensions: DIMENSIONS });
    const open = await served();
    await open.session.add([said("blue kettle")]);
    await open.memory.flush();
    expect(open.server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it("batchSize sets how many texts a request has", async () => {
    const largest = async (batchSize: number) => {
      const { server, memory, session } = await served({ batchSize });
      await session.add(Array.from({ length: 10 }, (_, at) => said(`message ${at}`)));
      await memory.flush();
      return Math.max(...server.requests.map(({ body }) => body.input.length));
    };
    expect([await largest(3), await largest(64)]).toEqual([3, 10]);
  });

  it("dimensions is asked of the server", async () => {
    const { server, memory, session } = await served({ dimensions: DIMENSIONS });
    await session.add([said("blue kettle")]);
    await memory.flush();
    expect(server.requests.at(-1)?.body["dimensions"]).toBe(DIMENSIONS);
  });

  it("tokensMax sets how long a text may be before it is cut into pieces", async () => {
    const longest = async (tokensMax: number) => {
      const { server, memory, session } = await served({ tokensMax });
      await session.add([said(Array.from({ length: 40 }, (_, at) => `word${at}`).join(" "))]);
      await memory.flush();
      return Math.max(...server.requests.flatMap(({ body }) => body.input.map((text) => text.length)));
    };
    expect(await longest(20)).toBeLessThan(await longest(400));
  });

  it("timeoutMs ends a request that is not answered", async () => {
    const clock = new FakeClock();
    const { server, session } = await served({ timeoutMs: 50 }, clock);
    await session.query("warm up");
    server.usually = stalling;
    let degraded: string | undefined;
    const asking = session.query("kettle").then((hits) => {
      degraded = hits.degraded;
    });
    await until(() => {
      clock.advance(50);
      return degraded !== undefined;
    });
    await asking;
    expect(degraded).toContain("50 ms");
  });
});

describe("the option extraction.", () => {
  it("baseUrl, model and apiKey name the server, the model there and the key; without them nothing is extracted", async () => {
    const server = await startChatServer();
    servers.push(server);
    const extraction = { baseUrl: server.baseUrl, model: "reader", apiKey: "sesame" };
    const memory = await open({ path: ":memory:", extraction });
    const session = memory.session(ADA);
    await session.add([said("I like tea")]);
    expect(await session.facts.extract()).toMatchObject({ messages: 1, facts: [] });
    const { path, headers, body } = server.requests.at(-1) ?? {};
    expect([path, headers?.authorization, body?.model]).toEqual([
      "POST /v1/chat/completions",
      "Bearer sesame",
      "reader",
    ]);
    const plain = (await open({ path: ":memory:" })).session(ADA);
    await plain.add([said("I like tea")]);
    await expect(plain.facts.extract()).rejects.toMatchObject({ code: "unsupported" });
  });

  it("baseUrl without a model is refused", async () => {
    await expect(open({ path: ":memory:", extraction: { baseUrl: "http://127.0.0.1:1/v1" } })).rejects.toMatchObject({
      code: "config",
    });
  });

  it("timeoutMs ends a request that is not answered", async () => {
    const server = await startChatServer();
    servers.push(server);
    server.usually = stalling;
    const memory = await open({ path: ":memory:", extraction: { baseUrl: server.baseUrl, model: "m", timeoutMs: 50 } });
    const session = memory.session(ADA);
    await session.add([said("I like tea")]);
    await expect(session.facts.extract()).rejects.toMatchObject({ code: "extractor_failed" });
  });
});

describe("the option qdrant.", () => {
  it("url, apiKey and collection name the server that is kept up to date and searched", async () => {
    const server = await QdrantServer.start({ apiKey: "sesame" });
    servers.push(server);
    const qdrant = { url: server.url, apiKey: "sesame", collection: "mine" };
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder(), qdrant });
    const session = memory.session(ADA);
    await session.add([said("blue kettle")]);
    await memory.flush();
    await until(async () => (await memory.stats()).store.unsent === 0);
    expect([...server.collections.keys()]).toEqual([expect.stringMatching(/^mine_/)]);
    expect(server.points()).toHaveLength(1);
    expect((await session.query("kettle"))[0]?.content).toBe("blue kettle");
    expect((await memory.stats()).meaning?.index).toMatchObject({ searches: 1, failures: 0 });
  });

  it("apiKey that is wrong fails the index, not the memory", async () => {
    const server = await QdrantServer.start({ apiKey: "sesame" });
    servers.push(server);
    const qdrant = { url: server.url, apiKey: "wrong" };
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder(), qdrant });
    await memory.session(ADA).add([said("blue kettle")]);
    await memory.flush();
    await until(async () => (await memory.stats()).meaning?.index?.lastError !== undefined);
    expect((await memory.session(ADA).query("kettle"))[0]?.content).toBe("blue kettle");
    expect(JSON.stringify((await memory.stats()).meaning?.index)).not.toContain("wrong");
  });
});

/** Names that a file cannot keep, or that say nothing. */
const NO_NAMES: readonly (readonly [what: string, name: unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["an empty text", ""],
  ["a number", 5],
  ["a list", ["m"]],
  ["a text with NUL", "a\0b"],
  ["half a surrogate pair", "half \ud800"],
  ["a text that is too long", "x".repeat(201)],
];
const withChange = <T extends object>(whole: T, change: object): T => Object.assign(whole, change);

describe("a part of the caller's own", () => {
  it.each(NO_NAMES)(
    "embedder whose model is %s is refused, and no file is made that cannot be reopened",
    async (_, model) => {
      const path = newPath();
      const embedder = withChange(new HashEmbedder(), { model });
      const refused = { code: "config", message: /embedder must be an Embedder with model/, hint: expect.any(String) };
      await expect(open({ path, embedder })).rejects.toMatchObject(refused);
      expect(existsSync(path)).toBe(false);
    },
  );

  it.each(["describe", "countTokens", "embed", "close"])("embedder without %s is refused", async (method) => {
    const embedder = withChange(new HashEmbedder(), { [method]: undefined });
    await expect(open({ path: ":memory:", embedder })).rejects.toMatchObject({ code: "config" });
  });

  it.each(["org/model:v1 é 🦫", "none", "__proto__", "'; DROP TABLE item"])(
    "embedder with the model %j opens its file again",
    async (model) => {
      const path = newPath();
      for (let times = 1; times <= 2; times++) {
        const memory = await open({ path, embedder: new HashEmbedder({ model }) });
        await memory.session(ADA).add([said("blue kettle")]);
        expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
        expect((await memory.stats()).store).toMatchObject({ embedded: times, vectorSpace: { model } });
        await memory.close();
      }
    },
  );

  it("embedder that describes another model than its own writes no vector, and the file opens again", async () => {
    const path = newPath();
    const [clock, embedder] = [new FakeClock(), new HashEmbedder()];
    const { space, tokensMax } = await embedder.describe();
    embedder.describe = async () => ({ space: { ...space, model: "another" }, tokensMax });
    const memory = await open({ path, clock, embedder });
    await memory.session(ADA).add([said("blue kettle")]);
    const asking = memory.session(ADA).query("kettle");
    let hits: Awaited<typeof asking> | undefined;
    void asking.then((found) => {
      hits = found;
    });
    await until(() => {
      clock.advance(100);
      return hits !== undefined;
    });
    expect([hits?.[0]?.content, hits?.degraded]).toEqual(["blue kettle", expect.any(String)]);
    expect(await memory.stats()).toMatchObject({
      store: { embedded: 0, pending: 1 },
      meaning: { embedder: { lastError: expect.stringContaining("space.model") } },
    });
    await closed(memory, clock);
    const again = await open({ path, embedder: new HashEmbedder() });
    expect(await again.flush()).toEqual({ pending: 0, parked: 0 });
  });

  it.each(NO_NAMES)("embedder whose model is %s is refused for a reindex", async (_, model) => {
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder() });
    await memory.session(ADA).add([said("blue kettle")]);
    const embedder = withChange(new HashEmbedder(), { model });
    await expect(memory.reindex({ embedder })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it.each(NO_NAMES)("vectorIndex and extractor whose name is %s are refused", async (_, name) => {
    const work = async () => [] as never;
    const vectorIndex = { name, prepare: work, upsert: work, delete: work, search: work, close: work } as never;
    await expect(open({ path: ":memory:", vectorIndex })).rejects.toMatchObject({ code: "config" });
    await expect(open({ path: ":memory:", extractor: { name, extract: work } as never })).rejects.toMatchObject({
      code: "config",
    });
  });

  it.each(["a\0b", "half \ud800"])("model named %j is refused in the options too", async (model) => {
    const named = { buffer: { hybridBuffer: { embeddingModel: model } }, embedding: { baseUrl: "http://127.0.0.1:1" } };
    await expect(open({ path: ":memory:", ...named })).rejects.toMatchObject({ code: "config" });
  });

  it("embedder is used, and left open by close", async () => {
    const embedder = new HashEmbedder();
    const memory = await open({ path: ":memory:", embedder, clock: new FakeClock() });
    await memory.session(ADA).add([said("blue kettle")]);
    await memory.flush();
    expect(embedder.texts).toBe(1);
    await memory.close();
    expect(await embedder.embed(["still there"])).toHaveLength(1);
  });

  it("vectorIndex gets every vector, is searched, and is left open by close", async () => {
    const points: string[] = [];
    let searches = 0;
    let closes = 0;
    const vectorIndex: VectorIndex = {
      name: "mine",
      prepare: async () => {},
      upsert: async (some) => void points.push(...some.map(({ id }) => id)),
      delete: async () => {},
      search: async () => {
        searches++;
        return [];
      },
      close: async () => void closes++,
    };
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder(), vectorIndex });
    await memory.session(ADA).add([said("blue kettle")]);
    await memory.flush();
    await until(async () => (await memory.stats()).store.unsent === 0);
    expect(points).toHaveLength(1);
    await memory.session(ADA).query("kettle");
    expect(searches).toBe(1);
    await memory.close();
    expect(closes).toBe(0);
  });
});
