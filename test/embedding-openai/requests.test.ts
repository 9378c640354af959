/** Requests to the server, and the handling of valid answers. */
import { OpenAiEmbedder } from "holdfast/embedding";
import { describe, expect, it } from "vitest";
import { answering, DIMENSIONS, type Embedding, failing, rightly, stalling } from "../support/embeddings-server.js";
import { API_KEY, open } from "./product.js";

const TEXTS = ["one", "two", "three", "four", "five"];

const lengthOf = (vector: Float32Array | undefined): number => Math.hypot(...(vector ?? []));

describe("a request", () => {
  it("requests floats of the model, with the key", async () => {
    const { server, embedder } = await open();
    await embedder.embed(["one", "two"]);
    expect(server.requests).toMatchObject([
      {
        path: "POST /v1/embeddings",
        headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      },
    ]);
    const [request] = server.requests;
    expect(request?.body).toEqual({ model: "some-model", input: ["one", "two"], encoding_format: "float" });
  });

  it("has no key if none is given, and the dimensions if they are given", async () => {
    const { server } = await open();
    const { embedder } = await open({ baseUrl: `${server.baseUrl}/?version=2`, dimensions: DIMENSIONS });
    await embedder.embed(["one"]);
    expect(server.requests).toMatchObject([
      { path: "POST /v1/embeddings?version=2", body: { dimensions: DIMENSIONS } },
    ]);
    const keyless = new OpenAiEmbedder({ baseUrl: server.baseUrl, model: "m" });
    await keyless.embed(["one"]);
    expect(server.requests[1]?.headers.authorization).toBeUndefined();
  });

  it("has limited numbers of texts and bytes; the vectors are still in order", async () => {
    const { server, embedder } = await open({ batchSize: 2 });
    const vectors = await embedder.embed(TEXTS);
    expect(server.requests.map(({ body }) => body.input)).toEqual([["one", "two"], ["three", "four"], ["five"]]);
    for (const [index, text] of TEXTS.entries()) expect(await embedder.embed([text])).toEqual([vectors[index]]);

    const { server: other, embedder: bytewise } = await open({ batchBytes: 7 });
    await bytewise.embed(["äää", "b", "c", "d".repeat(20), "e"]);
    expect(other.requests.map(({ body }) => body.input.length)).toEqual([2, 1, 1, 1]);
  });

  it("has no lone surrogates", async () => {
    const { server, embedder } = await open();
    await embedder.embed(["a\ud800b"]);
    expect(server.requests[0]?.body.input).toEqual(["a\ufffdb"]);
  });
});

describe("an answer", () => {
  it("may be in any order: the index counts", async () => {
    const { server, embedder } = await open();
    const vectors = await embedder.embed(TEXTS);
    server.next(answering((embeddings) => embeddings.reverse()));
    expect(await embedder.embed(TEXTS)).toEqual(vectors);
  });

  it("may be in base64", async () => {
    const { server, embedder } = await open();
    const vectors = await embedder.embed(TEXTS);
    const encode = ({ index, embedding }: Embedding): Embedding => {
      const floats = Float32Array.from(embedding as number[]);
      return { index, embedding: Buffer.from(floats.buffer).toString("base64") };
    };
    server.next(answering((embeddings) => embeddings.map(encode)));
    const decoded = await embedder.embed(TEXTS);
    for (const [at, vector] of decoded.entries()) {
      for (const [component, value] of vector.entries()) expect(value).toBeCloseTo(vectors[at]?.[component] ?? 2, 6);
    }
  });

  it("is normalised to unit length", async () => {
    const { server, embedder } = await open();
    for (const factor of [1e-30, 1, 1e100]) {
      const scale = ({ index, embedding }: Embedding): Embedding => ({
        index,
        embedding: (embedding as number[]).map((value) => value * factor),
      });
      server.next(answering((embeddings) => embeddings.map(scale)));
      for (const vector of await embedder.embed(TEXTS)) expect(lengthOf(vector)).toBeCloseTo(1, 6);
    }
  });
});

describe("the description", () => {
  it("has the dimensions of the server's answer, and is requested once for concurrent callers", async () => {
    const { server, embedder } = await open();
    const [description] = await Promise.all([embedder.describe(), embedder.describe(), embedder.describe()]);
    expect(description).toEqual({
      space: { model: "some-model", runtime: "openai-compatible", dimensions: DIMENSIONS },
      tokensMax: 512,
    });
    await embedder.describe();
    expect(server.requests).toHaveLength(1);
  });

  it("is requested again after a failure", async () => {
    const { server, embedder } = await open();
    server.next(failing(500), rightly);
    await expect(embedder.describe()).rejects.toMatchObject({ code: "embedder_failed" });
    expect(await embedder.describe()).toMatchObject({ space: { dimensions: DIMENSIONS } });
  });

  it("blames the model when the server refuses the probe", async () => {
    const { server, embedder } = await open();
    server.next(failing(400));
    await expect(embedder.describe()).rejects.toMatchObject({ code: "embedder_failed", details: { status: 400 } });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a text that is too long", () => {
  it("is refused before any request, by an upper bound for an unknown model", async () => {
    const { server, embedder } = await open({ tokensMax: 20 });
    expect(await embedder.countTokens(["", "abc", "äé", "ﷺ"])).toEqual([3, 6, 9, 36]);
    await embedder.embed(["x".repeat(17)]);
    const tooLong = embedder.embed(["short", "x".repeat(18), "x".repeat(30)]);
    await expect(tooLong).rejects.toMatchObject({ code: "text_refused", details: { index: 1 } });
    expect(server.requests).toHaveLength(1);
  });

  it("is detected by OpenAI's own count for OpenAI's models", async () => {
    const { server, embedder } = await open({ model: "text-embedding-3-small" });
    expect(await embedder.describe()).toMatchObject({ tokensMax: 8_191 });
    expect(await embedder.countTokens(["two words", "<|endoftext|>"])).toEqual([2, 7]);
    const fits = `a${" river".repeat(8_190)}`;
    expect(await embedder.embed([fits])).toHaveLength(1);
    const tooLong = embedder.embed(["short", `${fits} river`]);
    await expect(tooLong).rejects.toMatchObject({ code: "text_refused", details: { index: 1, tokensMax: 8_191 } });
    expect(server.requests).toHaveLength(2);
  });
});

describe("a call", () => {
  it("ends when its signal is aborted, and others continue", async () => {
    const { server, embedder } = await open();
    const controller = new AbortController();
    server.next(stalling);
    const aborted = embedder.embed(["one"], { signal: controller.signal });
    await server.received(1);
    const other = embedder.embed(["two"]);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(await other).toHaveLength(1);
    await expect(embedder.embed(["three"], { signal: controller.signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(2);
  });

  it("is ended by close, and none is accepted afterwards", async () => {
    const { clock, server, embedder } = await open();
    server.usually = stalling;
    const calls = [embedder.embed(["one", "two"]), embedder.describe()];
    await server.received(2);
    await embedder.close();
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "closed" });
    for (const call of [embedder.embed([]), embedder.describe(), embedder.countTokens(["x"])]) {
      await expect(call).rejects.toMatchObject({ code: "closed" });
    }
    expect(clock.pending).toBe(0);
  });
});
