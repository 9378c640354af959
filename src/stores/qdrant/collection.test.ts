/** Names of collections: safe for Qdrant, the same over restarts, and never shared by two vector spaces. */
import { describe, expect, it } from "vitest";
import type { VectorSpace } from "../../types.js";
import { collectionName } from "./collection.js";

const MINILM: VectorSpace = { model: "Xenova/all-MiniLM-L6-v2", runtime: "onnx", dimensions: 384 };

describe("the name of a collection", () => {
  it("can be read, and says what is in it", () => {
    expect(collectionName("holdfast", { model: "all-minilm-l6-v2", runtime: "onnx", dimensions: 384 })).toBe(
      "holdfast_all-minilm-l6-v2_onnx_384",
    );
    expect(collectionName("holdfast", MINILM)).toMatch(/^holdfast_xenova-all-minilm-l6-v2_onnx_384_[0-9a-f]{12}$/);
    expect(collectionName("holdfast", MINILM)).toBe(collectionName("holdfast", { ...MINILM }));
  });

  it("is never that of another vector space", () => {
    const spaces: VectorSpace[] = [
      MINILM,
      { ...MINILM, dimensions: 385 },
      { ...MINILM, runtime: "wasm" },
      { ...MINILM, model: "xenova/all-MiniLM-L6-v2" },
      { ...MINILM, model: "Xenova-all-MiniLM-L6-v2" },
      { ...MINILM, model: "xenova-all-minilm-l6-v2" },
      { model: "a_b", runtime: "c", dimensions: 1 },
      { model: "a", runtime: "b_c", dimensions: 1 },
      { model: "a", runtime: "b", dimensions: 1 },
      { model: "ä", runtime: "b", dimensions: 1 },
      { model: "ö", runtime: "b", dimensions: 1 },
      { model: "", runtime: "b", dimensions: 1 },
      { model: `${"x".repeat(300)}1`, runtime: "b", dimensions: 1 },
      { model: `${"x".repeat(300)}2`, runtime: "b", dimensions: 1 },
    ];
    const names = spaces.map((space) => collectionName("p", space));
    expect(new Set(names).size).toBe(spaces.length);
    for (const name of names) expect(name).toMatch(/^[\w.-]{1,140}$/);
  });
});
