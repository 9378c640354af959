import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { encodingOf, isKnownTokenModel } from "./models.js";

describe("the encoding of a model", () => {
  it.each([
    ["gpt-4o-mini", "o200k_base"],
    ["gpt-4o-2024-08-06", "o200k_base"],
    ["chatgpt-4o-latest", "o200k_base"],
    ["gpt-4.1-nano", "o200k_base"],
    ["gpt-5", "o200k_base"],
    ["gpt-5.1-codex", "o200k_base"],
    ["o1", "o200k_base"],
    ["o3-mini", "o200k_base"],
    ["o4-mini", "o200k_base"],
    ["gpt-4", "cl100k_base"],
    ["gpt-4-turbo", "cl100k_base"],
    ["gpt-3.5-turbo", "cl100k_base"],
    ["text-embedding-3-small", "cl100k_base"],
    ["text-embedding-ada-002", "cl100k_base"],
  ])("of %s is %s", (model, encoding) => {
    expect(encodingOf(model)).toBe(encoding);
    expect(isKnownTokenModel(model)).toBe(true);
  });

  it.each([
    "",
    "gpt",
    "gpt-2",
    "gpt-40",
    "o12",
    "claude",
    "text-embedding-3-",
    "text-embedding-nomic-embed-text-v1.5",
    "my-gpt-4o",
    "nomic-embed-text",
  ])("of %j is not guessed", (model) => {
    expect(isKnownTokenModel(model)).toBe(false);
    expect(() => encodingOf(model)).toThrow(HoldfastError);
    expect(() => encodingOf(model)).toThrow(
      expect.objectContaining({ code: "config", hint: expect.stringContaining("gpt-4o") }),
    );
  });
});
