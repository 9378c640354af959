/**
 * Golden vectors for each runtime: detects an upgrade that changes the results.
 *
 * The model is int8: where a value lies between two steps, the smallest difference in rounding, such as between two
 * processors, changes a vector a little (cosine 0.99). So vectors are compared by cosine: that much is tolerated, but
 * not another pooling, tokenizer or model.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";
import { MiniLmEmbedder } from "./product.js";

/** `vector` is base64 of 16-bit integers, little-endian, in units of 1 / 32767. */
const GOLDEN = JSON.parse(readFileSync(join(root, "test/embedding/golden.json"), "utf8")) as readonly {
  readonly text: string;
  readonly vector: string;
}[];
const TEXTS = GOLDEN.map(({ text }) => text);
const VECTORS = GOLDEN.map(({ vector }) => {
  const bytes = Buffer.from(vector, "base64");
  return Float32Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2) / 32_767);
});

function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return one?.reduce((sum, value, at) => sum + value * (other?.[at] ?? Number.NaN), 0) ?? Number.NaN;
}

describe.each(["node", "web"] as const)("MiniLM on onnxruntime-%s", (runtime) => {
  const embedder = new MiniLmEmbedder({ runtime });
  afterAll(() => embedder.close());

  it("gives the golden vectors", async () => {
    const given = await embedder.embed(TEXTS);
    const cosines = VECTORS.map((vector, at) => cosine(vector, given[at]));
    expect(cosines).toHaveLength(8);
    expect(Math.min(...cosines)).toBeGreaterThan(0.98);
    expect(cosines.reduce((sum, value) => sum + value, 0) / cosines.length).toBeGreaterThan(0.995);
  });

  it("reports its runtime; the vectors of both are of one space", async () => {
    expect(await embedder.describe()).toMatchObject({ loaded: runtime, space: { runtime: "onnx-int8" } });
  });

  it("puts a question nearer to its answer than to anything else", async () => {
    const [question, answer, ...others] = await embedder.embed([
      "where does she live?",
      "I moved to Lisbon in May.",
      "The recipe needs butter, flour and two eggs.",
      "My laptop does not start any more.",
      "We won the match by two goals.",
      "The invoice is due at the end of the month.",
    ]);
    const nearest = Math.max(...others.map((other) => cosine(question, other)));
    expect(cosine(question, answer)).toBeGreaterThan(nearest + 0.05);
  });
});
