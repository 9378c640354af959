import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { embedderConformance } from "./embedder-conformance.js";
import { HashEmbedder } from "./hash-embedder.js";

embedderConformance({
  name: "HashEmbedder",
  open: async () => {
    const embedder = new HashEmbedder();
    return {
      embedder,
      isUsed: () => embedder.calls + embedder.descriptions > 0,
      close: () => embedder.close(),
    };
  },
});

function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return one?.reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0) ?? Number.NaN;
}

describe("HashEmbedder", () => {
  it("puts texts near each other that share words, in any case and with any punctuation", async () => {
    const [lisbon, same, shared, other] = await new HashEmbedder().embed([
      "I moved to Lisbon.",
      "lisbon: to I MOVED?",
      "They moved to Porto",
      "the recipe needs butter",
    ]);
    expect(cosine(lisbon, same)).toBeCloseTo(1);
    expect(cosine(lisbon, shared)).toBeGreaterThan(0.4);
    expect(cosine(lisbon, other)).toBeLessThan(0.3);
  });

  it("counts calls and embedded texts", async () => {
    const embedder = new HashEmbedder();
    await embedder.embed(["one", "two"]);
    await embedder.embed([]);
    embedder.failNext(1);
    await expect(embedder.embed(["three"])).rejects.toThrow(HoldfastError);
    expect([embedder.calls, embedder.texts, embedder.descriptions]).toEqual([2, 2, 0]);
    await embedder.describe();
    expect(embedder.descriptions).toBe(1);
  });

  it("fails as often as requested, with the requested error, and then works again", async () => {
    const embedder = new HashEmbedder();
    embedder.failNext(2);
    await expect(embedder.embed(["one"])).rejects.toMatchObject({ code: "embedder_failed" });
    await expect(embedder.embed(["one"])).rejects.toMatchObject({ code: "embedder_failed" });
    expect(await embedder.embed(["one"])).toHaveLength(1);
    const error = new Error("my own");
    embedder.failNext(Number.POSITIVE_INFINITY, error);
    for (let time = 0; time < 3; time++) await expect(embedder.embed(["one"])).rejects.toBe(error);
    embedder.failNext(0);
    expect(await embedder.embed(["one"])).toHaveLength(1);
    embedder.failDescribe(1);
    await expect(embedder.describe()).rejects.toMatchObject({ code: "embedder_failed" });
    expect(await embedder.describe()).toMatchObject({ tokensMax: 256 });
  });

  it("refuses the requested texts, and says which", async () => {
    const embedder = new HashEmbedder();
    embedder.refuse((text) => text.includes("poison"));
    const refused = embedder.embed(["fine", "poison"]);
    await expect(refused).rejects.toMatchObject({ code: "text_refused", details: { index: 1 } });
    expect(embedder.texts).toBe(0);
    embedder.refuse(() => false);
    expect(await embedder.embed(["poison"])).toHaveLength(1);
  });

  it("holds calls until it is released, and then answers urgent ones first", async () => {
    const embedder = new HashEmbedder();
    const release = embedder.stall();
    const alsoRelease = embedder.stall();
    const done: string[] = [];
    const calls = [
      embedder.embed(["one"]).then(() => done.push("one")),
      embedder.embed(["two"]).then(() => done.push("two")),
      embedder.embed(["now"], { urgent: true }).then(() => done.push("now")),
    ];
    const controller = new AbortController();
    const dropped = embedder.embed(["dropped"], { signal: controller.signal });
    expect(embedder.waiting).toBe(4);
    controller.abort();
    await expect(dropped).rejects.toThrow("aborted");
    release();
    release();
    await Promise.resolve();
    expect([embedder.waiting, done.length]).toEqual([3, 0]);
    alsoRelease();
    await Promise.all(calls);
    expect(done).toEqual(["now", "one", "two"]);
    expect(embedder.texts).toBe(3);
  });

  it("refuses the calls that it holds when it is closed", async () => {
    const embedder = new HashEmbedder();
    embedder.stall();
    const held = embedder.embed(["one"]);
    await embedder.close();
    await expect(held).rejects.toMatchObject({ code: "closed" });
  });

  it("changes dimensions from one call to the next on request", async () => {
    const embedder = new HashEmbedder({ dimensions: 8 });
    expect((await embedder.embed(["one"]))[0]).toHaveLength(8);
    embedder.dimensions = 16;
    expect((await embedder.embed(["one"]))[0]).toHaveLength(16);
  });
});
