/** The cache of question vectors: what is kept, what is shared, and what is neither. */
import { describe, expect, it } from "vitest";
import type { QuestionVector } from "./question.js";
import { EmbeddingCache } from "./question-cache.js";

const ADA = [{ user: "ada" }];
const SPACE = { model: "m", runtime: "r", dimensions: 2 };
const vectorOf = (x: number, length = 2): QuestionVector => ({ vector: new Float32Array(length).fill(x), cut: false });

/** Counts how often it embeds. */
function embedder(vector: QuestionVector | undefined = vectorOf(1)) {
  const embed = async () => {
    embed.calls++;
    return vector;
  };
  embed.calls = 0;
  return embed;
}

const cacheOf = (max = 10, maxBytes = 1_000_000) => new EmbeddingCache({ max, maxBytes });

describe("a question's vector", () => {
  it("is computed once", async () => {
    const cache = cacheOf();
    const embed = embedder();
    const first = await cache.get(SPACE, ADA, "a", embed);
    expect(await cache.get(SPACE, ADA, "a", embed)).toBe(first);
    expect(embed.calls).toBe(1);
    expect(cache.stats).toMatchObject({ hits: 1, shared: 0, misses: 1, entries: 1 });
  });

  it("is another one for another text, model, runtime or number of dimensions", async () => {
    const cache = cacheOf();
    const embed = embedder();
    await cache.get(SPACE, ADA, "a", embed);
    await cache.get(SPACE, ADA, "b", embed);
    await cache.get({ ...SPACE, model: "n" }, ADA, "a", embed);
    await cache.get({ ...SPACE, runtime: "s" }, ADA, "a", embed);
    await cache.get({ ...SPACE, dimensions: 3 }, ADA, "a", embed);
    expect(embed.calls).toBe(5);
  });

  it("is computed once for all who want it at the same time", async () => {
    const cache = cacheOf();
    const embed = embedder();
    const [first, second] = await Promise.all([cache.get(SPACE, ADA, "a", embed), cache.get(SPACE, ADA, "a", embed)]);
    expect(second).toBe(first);
    expect(embed.calls).toBe(1);
    expect(cache.stats).toMatchObject({ hits: 0, shared: 1, misses: 1 });
  });

  it("goes when there are too many, the least recently used first", async () => {
    const cache = cacheOf(2);
    const embed = embedder();
    for (const text of ["a", "b", "a", "c", "a"]) await cache.get(SPACE, ADA, text, embed);
    expect(embed.calls).toBe(3);
    await cache.get(SPACE, ADA, "b", embed);
    expect(embed.calls).toBe(4);
  });

  it("goes when they weigh too much, and is not kept if it weighs too much alone", async () => {
    const cache = cacheOf(100, 4_000);
    const heavy = embedder(vectorOf(1, 250));
    for (let at = 0; at < 10; at++) {
      await cache.get(SPACE, ADA, String(at), heavy);
      expect(cache.stats.bytes).toBeLessThanOrEqual(4_000);
    }
    expect(cache.stats.entries).toBe(3);
    await cache.get(SPACE, ADA, "huge", embedder(vectorOf(1, 5_000)));
    expect(cache.stats.entries).toBe(3);
  });

  it("is not kept of a text that has none, nor if nothing may be kept, nor after `clear`", async () => {
    const cache = cacheOf();
    const empty = async () => undefined;
    expect(await cache.get(SPACE, ADA, "", empty)).toBeUndefined();
    expect(cache.stats.entries).toBe(0);
    const none = cacheOf(0);
    const embed = embedder();
    await none.get(SPACE, ADA, "a", embed);
    await none.get(SPACE, ADA, "a", embed);
    expect(embed.calls).toBe(2);
    await cache.get(SPACE, ADA, "a", embed);
    cache.forget();
    expect(cache.stats).toMatchObject({ entries: 0, bytes: 0 });
  });
});

describe("what is forgotten", () => {
  it("is every question that named the space, and those being embedded", async () => {
    const cache = cacheOf();
    const [bob, team] = [{ user: "bob" }, { team: "crew" }];
    await cache.get(SPACE, ADA, "a", embedder());
    await cache.get(SPACE, [...ADA, team], "b", embedder());
    await cache.get(SPACE, [bob], "c", embedder());
    let answer = (_vector: QuestionVector): void => undefined;
    const late = cache.get(SPACE, ADA, "d", () => new Promise((resolve) => (answer = resolve)));
    cache.forget(ADA[0]);
    answer(vectorOf(1));
    expect(await late).toEqual(vectorOf(1));
    expect(cache.stats.entries).toBe(1);
    const again = embedder();
    await cache.get(SPACE, [bob], "c", again);
    expect(again.calls).toBe(0);
  });
});

describe("an embedding that fails", () => {
  it("fails for all who share it, is not kept, and the next one tries again", async () => {
    const cache = cacheOf();
    let calls = 0;
    const failing = async (): Promise<QuestionVector> => {
      calls++;
      throw new Error("down");
    };
    const results = await Promise.allSettled([
      cache.get(SPACE, ADA, "a", failing),
      cache.get(SPACE, ADA, "a", failing),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(calls).toBe(1);
    expect(await cache.get(SPACE, ADA, "a", embedder())).toEqual(vectorOf(1));
  });

  it("because its caller gave up is started again, once, by the other callers", async () => {
    const cache = cacheOf();
    const abort = new AbortController();
    const givenUp = () =>
      new Promise<QuestionVector>((_, reject) => {
        abort.signal.addEventListener("abort", () => reject(abort.signal.reason));
      });
    const embed = embedder();
    const first = cache.get(SPACE, ADA, "a", givenUp, abort.signal);
    const others = [cache.get(SPACE, ADA, "a", embed), cache.get(SPACE, ADA, "a", embed)];
    abort.abort(new Error("too late"));
    await expect(first).rejects.toThrow("too late");
    expect(await Promise.all(others)).toEqual([vectorOf(1), vectorOf(1)]);
    expect(embed.calls).toBe(1);
  });

  it("because its caller gave up also fails for other callers that gave up", async () => {
    const cache = cacheOf();
    const abort = new AbortController();
    const givenUp = () =>
      new Promise<QuestionVector>((_, reject) => {
        abort.signal.addEventListener("abort", () => reject(abort.signal.reason));
      });
    const embed = embedder();
    const asked = [cache.get(SPACE, ADA, "a", givenUp, abort.signal), cache.get(SPACE, ADA, "a", embed, abort.signal)];
    abort.abort(new Error("too late"));
    const results = await Promise.allSettled(asked);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(embed.calls).toBe(0);
  });
});
