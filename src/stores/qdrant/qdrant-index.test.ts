/** What QdrantIndex refuses before anything is sent. The rest is tested on a server, in test/qdrant. */
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { QdrantIndex } from "./qdrant-index.js";

const KEY = "a-very-secret-key";

function refusalOf(options: ConstructorParameters<typeof QdrantIndex>[0]): unknown {
  try {
    new QdrantIndex(options);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the URL of the server", () => {
  it("must be one, without a password", () => {
    for (const url of ["", "qdrant", "127.0.0.1:6333", "ftp://a", "grpc://a:6334", "http://a?b", "http://a#b"]) {
      expect(refusalOf({ url }), url).toMatchObject({ code: "config", hint: expect.any(String) });
    }
    const error = refusalOf({ url: `https://user:${KEY}@qdrant.example` });
    expect(error).toMatchObject({ code: "config" });
    expect(inspect(error)).not.toContain(KEY);
  });

  it("means Qdrant's port if it names none, and is the index's name", () => {
    const name = (url: string) => new QdrantIndex({ url }).name;
    expect(name("https://qdrant.example")).toBe("qdrant https://qdrant.example:6333 holdfast");
    expect(name("https://qdrant.example:443/")).toBe("qdrant https://qdrant.example:443 holdfast");
    expect(name("http://qdrant.example:80")).toBe("qdrant http://qdrant.example:80 holdfast");
    expect(name("http://[::1]:7000/a/b/")).toBe("qdrant http://[::1]:7000/a/b holdfast");
    expect(new QdrantIndex({ url: "http://q", collection: "other" }).name).toBe("qdrant http://q:6333 other");
  });
});

describe("the API key", () => {
  it("does not travel in the clear", () => {
    for (const url of ["http://qdrant.example", "http://10.0.0.1:6333", "http://127.0.0.1.example", "http://0.0.0.0"]) {
      const error = refusalOf({ url, apiKey: KEY });
      expect(error, url).toMatchObject({ code: "config", hint: expect.stringMatching(/https/) });
      expect(inspect(error)).not.toContain(KEY);
    }
    for (const url of [
      "https://qdrant.example",
      "http://127.0.0.1",
      "http://127.8.8.8",
      "http://localhost",
      "http://[::1]",
    ]) {
      expect(refusalOf({ url, apiKey: KEY }), url).toBeUndefined();
      expect(new QdrantIndex({ url, apiKey: KEY }).name).not.toContain(KEY);
      expect(inspect(new QdrantIndex({ url, apiKey: KEY }), { depth: 9, showHidden: true })).not.toContain(KEY);
    }
  });

  it("is one, or is left out", () => {
    for (const apiKey of ["", " ", `${KEY}\n`, "schlüssel"]) {
      const error = refusalOf({ url: "https://q", apiKey });
      expect(error).toMatchObject({ code: "config" });
      expect(inspect(error)).not.toContain(KEY);
    }
  });
});

describe("the other options", () => {
  it("have their bounds", () => {
    const url = "http://127.0.0.1";
    for (const collection of ["", "a/b", "a b", "x".repeat(65)]) {
      expect(refusalOf({ url, collection })).toMatchObject({ code: "config" });
    }
    for (const number of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusalOf({ url, timeoutMs: number })).toMatchObject({ code: "config" });
      expect(refusalOf({ url, batchSize: number })).toMatchObject({ code: "config" });
    }
    expect(refusalOf({ url, timeoutMs: 2 ** 31 })).toMatchObject({ code: "config" });
  });
});

describe("the client", () => {
  afterEach(() => vi.doUnmock("@qdrant/js-client-rest"));

  it("is asked for by name if it is not installed", async () => {
    vi.doMock("@qdrant/js-client-rest", () => {
      throw new Error("Cannot find package");
    });
    const index = new QdrantIndex({ url: "http://127.0.0.1:1" });
    await expect(index.prepare({ model: "m", runtime: "r", dimensions: 2 })).rejects.toMatchObject({
      code: "config",
      hint: "npm install @qdrant/js-client-rest",
    });
  });
});
