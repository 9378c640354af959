import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packagedModel } from "./choice.js";
import { Model } from "./model.js";
import { NativeGate } from "./native-gate.js";

describe("the model", () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.load({ folder: packagedModel(), runtime: "node" }, new NativeGate());
  });
  afterAll(() => model.release());

  it("finds its dimensions by running", () => {
    expect(model.dimensions).toBe(384);
  });

  it("makes the word pieces that it was trained with", () => {
    expect(model.tokensOf("I moved to Lisbon in May.")).toEqual([101, 1045, 2333, 2000, 11929, 1999, 2089, 1012, 102]);
    expect(model.tokensOf("")).toEqual([101, 102]);
    expect(model.tokensOf("Zoë's café"), "lower case, without accents").toEqual(model.tokensOf("zoe's cafe"));
    expect(model.tokensOf("東京"), "Chinese characters one by one").toHaveLength(4);
    expect(model.tokensOf("สวัสดี"), "what it has no pieces for is unknown").toEqual([101, 100, 102]);
  });

  it("neither truncates nor pads, regardless of its tokenizer file", () => {
    expect(model.tokensOf("river")).toHaveLength(3);
    expect(model.tokensOf("river ".repeat(200))).toHaveLength(202);
    expect(model.tokensOf("river ".repeat(20_000))).toHaveLength(20_002);
  });

  it("accepts 256 tokens and refuses 257, without quoting them", () => {
    expect(model.acceptedTokensOf(["one", "river ".repeat(254)])[1]).toHaveLength(256);
    expect(() => model.acceptedTokensOf(["one", "river ".repeat(255)])).toThrow(
      expect.objectContaining({
        code: "text_refused",
        message: expect.not.stringContaining("river"),
        details: { index: 1, tokens: 257, tokensMax: 256 },
      }),
    );
  });

  it("returns unit vectors that depend on every token", async () => {
    const vector = await model.vectorOf([101, 1045, 2333, 102]);
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
    expect(await model.vectorOf([101, 1045, 2333, 2000, 102])).not.toEqual(vector);
  });
});
