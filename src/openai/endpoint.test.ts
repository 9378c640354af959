import { describe, expect, it } from "vitest";
import { type Caller, endpointOf } from "./endpoint.js";

const EMBEDDER: Caller = { path: "/embeddings", name: "embedder", failed: "embedder_failed" };

const KEY = "sk-secret";

describe("the endpoint of an embedding server", () => {
  it.each([
    ["https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"],
    ["https://api.openai.com/v1/", "https://api.openai.com/v1/embeddings"],
    ["http://127.0.0.1:11434/v1//", "http://127.0.0.1:11434/v1/embeddings"],
    ["https://example.org", "https://example.org/embeddings"],
    ["https://example.org/x?api-version=2#y", "https://example.org/x/embeddings?api-version=2"],
  ])("of %s is %s", (baseUrl, url) => {
    expect(endpointOf(baseUrl, undefined, EMBEDDER).url).toBe(url);
  });

  it("shows its URL without the query, where some servers want their key", () => {
    expect(endpointOf("https://example.org/v1?key=secret", undefined, EMBEDDER).shown).toBe(
      "https://example.org/v1/embeddings",
    );
  });

  it("has the key in its headers, if there is one", () => {
    expect(endpointOf("https://example.org", KEY, EMBEDDER).headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(endpointOf("https://example.org", undefined, EMBEDDER).headers).not.toHaveProperty("authorization");
  });

  it.each(["http://localhost:1/v1", "http://127.0.0.1", "http://127.8.9.1", "http://[::1]:8080", "http://0x7f.1"])(
    "takes a key for %s, which is this computer",
    (baseUrl) => {
      expect(endpointOf(baseUrl, KEY, EMBEDDER).headers["authorization"]).toBe(`Bearer ${KEY}`);
    },
  );

  it.each([
    ["http://example.org/v1", KEY],
    ["http://192.168.0.7:11434/v1", KEY],
    ["http://127.0.0.1.example.org", KEY],
    ["http://localhost.example.org", KEY],
    ["http://[::2]", KEY],
    ["https://user:sk-secret@example.org/v1", undefined],
    ["https://sk-secret@example.org/v1", undefined],
    ["https://example.org", ""],
    ["https://example.org", `${KEY}\n`],
    ["https://example.org", `${KEY} ü`],
    ["ftp://example.org", undefined],
    ["api.openai.com/v1", undefined],
    ["", undefined],
  ])("refuses %s with the key %j, without repeating the key", (baseUrl, key) => {
    expect(() => endpointOf(baseUrl, key, EMBEDDER)).toThrow(expect.objectContaining({ code: "config" }));
    expect(() => endpointOf(baseUrl, key, EMBEDDER)).not.toThrow(/secret/);
  });

  it("allows plain http to other computers without a key", () => {
    expect(endpointOf("http://192.168.0.7:11434/v1", undefined, EMBEDDER).url).toBe(
      "http://192.168.0.7:11434/v1/embeddings",
    );
  });
});
