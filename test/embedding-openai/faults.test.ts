/** A server that fails, stalls, disconnects, or returns nonsense: always an error that says so, never a vector. */

import { inspect } from "node:util";
import { OpenAiEmbedder } from "holdfast/embedding";
import { describe, expect, it } from "vitest";
import {
  answering,
  type Behaviour,
  breakingOff,
  type Embedding,
  failing,
  flooding,
  refusing,
  resetting,
  rightly,
  saying,
  stalling,
  stallingMidway,
} from "../support/embeddings-server.js";
import { API_KEY, open } from "./product.js";

const SECRET = "Xyzzy";

/** The embeddings with another one in the second place. */
const second = (embedding: unknown): Behaviour =>
  answering((given) => given.map((entry) => (entry.index === 1 ? { ...entry, embedding } : entry)));
const changed = (change: (numbers: number[]) => unknown): Behaviour =>
  answering((given) => given.map((entry) => ({ ...entry, embedding: change(entry.embedding as number[]) })));
const reindexed = (index: (entry: Embedding) => unknown): Behaviour =>
  answering((given) => given.map((entry) => ({ ...entry, index: index(entry) })));

const FAULTS: readonly (readonly [what: string, behaviour: Behaviour, said: RegExp])[] = [
  ["status 500", failing(500), /status 500 \(some_code\)/],
  ["status 503", failing(503), /status 503/],
  ["status 429", failing(429), /status 429/],
  ["status 401", failing(401), /status 401/],
  ["status 403", failing(403), /status 403/],
  ["status 404", failing(404), /status 404/],
  ["a redirect", failing(307, { location: "http://127.0.0.1:9/v1/embeddings" }), /status 307/],
  ["a reset connection", resetting, /cannot be reached, or closed the connection/],
  ["an answer that breaks off", breakingOff, /cannot be reached, or closed the connection/],
  ["JSON that is cut", saying('{"data": [{"index": 0, "embedding": [0.1, '), /not JSON/],
  ["no JSON", saying(`<html>${SECRET}</html>`), /not JSON/],
  ["an answer without end", flooding, /more than \d+ bytes/],
  ["JSON of another form", saying('{"vectors": []}'), /without a list/],
  ["null", saying("null"), /without a list/],
  ["too few embeddings", answering((given) => given.slice(1)), /wrong number of embeddings: expected 3, got 2/],
  ["too many embeddings", answering((given) => [...given, ...given]), /expected 3, got 6/],
  ["an index twice", reindexed(() => 0), /without the index of their text/],
  ["an index out of range", reindexed(({ index }) => index + 1), /without the index of their text/],
  ["no index", reindexed(() => undefined), /without the index of their text/],
  ["entries that are null", answering((given) => given.map(() => null)), /without the index of their text/],
  ["other dimensions in one answer", second([1, 2, 3]), /wrong dimensions: expected 64, got 3/],
  ["null for a number", changed(([, ...rest]) => [null, ...rest]), /not finite numbers/],
  ["text for a number", changed(([, ...rest]) => ["1", ...rest]), /not finite numbers/],
  ["NaN in base64", second(Buffer.from(new Float32Array(64).fill(Number.NaN).buffer).toString("base64")), /finite/],
  ["base64 that is cut", second("AAAAA"), /not a list of numbers/],
  ["no base64", second("{}"), /not a list of numbers/],
  ["no numbers", second([]), /not a list of numbers/],
  ["a vector of zeros", second(new Array(64).fill(0)), /zero/],
  ["numbers beyond all bounds", second(new Array(64).fill(1e300)), /length zero or infinity/],
];

describe("a failing server", () => {
  it.each(FAULTS)("that returns %s makes the call fail, and the next one may succeed", async (_, behaviour, said) => {
    const { clock, server, embedder } = await open();
    server.next(behaviour);
    const error: unknown = await embedder.embed(["one", SECRET, "three"]).catch((error: unknown) => error);
    expect(error).toMatchObject({
      code: "embedder_failed",
      message: expect.stringMatching(said),
      hint: expect.stringMatching(/./),
      retryable: true,
    });
    const everything = inspect(error, { depth: 20, showHidden: true });
    expect(everything).not.toContain(API_KEY);
    expect(everything).not.toContain(SECRET);
    expect(clock.pending).toBe(0);
    expect(await embedder.embed(["one", "two", "three"])).toHaveLength(3);
  });

  it("gives hints for what the caller can fix", async () => {
    const { server, embedder } = await open();
    server.next(failing(401), failing(404));
    await expect(embedder.embed(["x"])).rejects.toMatchObject({ hint: expect.stringContaining("key") });
    await expect(embedder.embed(["x"])).rejects.toMatchObject({ hint: expect.stringMatching(/model.*base URL/) });
  });

  it("reports how long to wait, in seconds or by a date", async () => {
    const { clock, server, embedder } = await open();
    const date = new Date(clock.now() + 90_000).toUTCString();
    server.next(
      failing(429, { "retry-after": "7" }),
      failing(503, { "retry-after": date }),
      failing(503, { "retry-after": "soon" }),
      failing(503),
    );
    await expect(embedder.embed(["x"])).rejects.toMatchObject({ details: { status: 429, retryAfterMs: 7_000 } });
    await expect(embedder.embed(["x"])).rejects.toMatchObject({ details: { status: 503, retryAfterMs: 90_000 } });
    for (const _ of ["soon", "nothing said"]) {
      const error = await embedder.embed(["x"]).catch((error: unknown) => error);
      expect(error).toMatchObject({ details: { status: 503 } });
      expect(error).not.toHaveProperty("details.retryAfterMs");
    }
  });

  it("is not awaited beyond the timeout, before its answer and in the middle of it", async () => {
    for (const behaviour of [stalling, stallingMidway]) {
      const { clock, server, embedder } = await open({ timeoutMs: 5_000 });
      server.next(behaviour);
      const call = embedder.embed(["one"]);
      await server.received(1);
      clock.advance(5_000);
      await expect(call).rejects.toMatchObject({
        code: "embedder_failed",
        message: expect.stringContaining("5000 ms"),
      });
      expect(await embedder.embed(["one"])).toHaveLength(1);
    }
  });

  it("is not awaited beyond the timeout by the system's clock either", async () => {
    const { server } = await open();
    const embedder = new OpenAiEmbedder({ baseUrl: server.baseUrl, model: "m", timeoutMs: 20 });
    server.next(stalling);
    await expect(embedder.embed(["one"])).rejects.toMatchObject({ message: expect.stringContaining("20 ms") });
  });

  it("that does not exist is an error like others", async () => {
    const { server, embedder } = await open();
    await server.close();
    const call = embedder.embed(["one"]);
    await expect(call).rejects.toMatchObject({ code: "embedder_failed", details: { reason: "ECONNREFUSED" } });
  });

  it("that changes its dimensions gets no vector accepted, in any later call", async () => {
    const { server, embedder } = await open();
    await embedder.embed(["one"]);
    server.usually = changed((numbers) => [...numbers, 1]);
    for (let call = 0; call < 2; call++) {
      await expect(embedder.embed(["two"])).rejects.toMatchObject({
        code: "embedder_failed",
        message: expect.stringContaining("wrong dimensions: expected 64, got 65"),
      });
    }
    server.usually = rightly;
    expect(await embedder.embed(["two"])).toHaveLength(1);
  });

  it("that ignores the requested dimensions gets no vector accepted", async () => {
    const { embedder } = await open({ dimensions: 32 });
    await expect(embedder.describe()).rejects.toMatchObject({
      message: expect.stringContaining("expected 32, got 64"),
    });
  });
});

describe("a server that refuses texts", () => {
  it.each([400, 413, 422])("with %i is asked in halves until the first offending text is found", async (status) => {
    const { server, embedder } = await open({ batchSize: 8 });
    server.usually = refusing(status, (text) => text.includes(SECRET));
    const texts = Array.from({ length: 16 }, (_, index) => (index === 13 || index === 15 ? SECRET : `text ${index}`));
    const error: unknown = await embedder.embed(texts).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "text_refused", details: { index: 13, status } });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET);
    // 8 texts · 8 · 4 · 4 · 2 · 1 · 1 and the probe.
    expect(server.requests.map(({ body }) => body.input.length)).toEqual([8, 8, 4, 4, 2, 1, 1, 1]);
  });

  it("only for their number gets fewer at a time", async () => {
    const { server, embedder } = await open();
    const texts = ["one", "two", "three", "four", "five"];
    const vectors = await embedder.embed(texts);
    server.usually = (request, response) => (request.body.input.length > 2 ? failing(400) : rightly)(request, response);
    expect(await embedder.embed(texts)).toEqual(vectors);
  });

  it("all of them is at fault itself", async () => {
    const { server, embedder } = await open();
    server.usually = failing(422);
    await expect(embedder.embed(["one", "two"])).rejects.toMatchObject({
      code: "embedder_failed",
      message: expect.stringContaining("refuses every text"),
    });
  });
});
