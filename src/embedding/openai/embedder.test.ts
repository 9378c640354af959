import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { OpenAiEmbedder, type OpenAiOptions } from "./embedder.js";

const OPTIONS: OpenAiOptions = { baseUrl: "https://example.org/v1", model: "some-model", apiKey: "sk-secret" };

describe("the embedder for OpenAI-compatible servers", () => {
  it.each<Partial<OpenAiOptions>>([
    { model: "" },
    { batchSize: 0 },
    { batchBytes: -1 },
    { timeoutMs: Number.NaN },
    { dimensions: 1.5 },
    { tokensMax: Number.POSITIVE_INFINITY },
    { baseUrl: "http://example.org/v1" },
  ])("refuses %j when it is made", (options) => {
    expect(() => new OpenAiEmbedder({ ...OPTIONS, ...options })).toThrow(expect.objectContaining({ code: "config" }));
  });

  it("reveals its model but never its key", () => {
    const embedder = new OpenAiEmbedder(OPTIONS);
    expect(embedder.model).toBe("some-model");
    expect(inspect(embedder, { depth: 20, showHidden: true }) + JSON.stringify(embedder)).not.toContain("secret");
  });
});
