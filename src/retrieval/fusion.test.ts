import { describe, expect, it } from "vitest";
import { fuse } from "./fusion.js";

const hit = (key: number, score: number) => ({ key, score });
const keys = (hits: readonly { key: number }[]) => hits.map(({ key }) => key);

describe("fused", () => {
  it("hits of one arm keep their order", () => {
    expect(keys(fuse([], [hit(1, 0.9), hit(2, 0.5), hit(3, 0.1)]))).toEqual([1, 2, 3]);
    expect(keys(fuse([hit(1, 9), hit(2, 5)], []))).toEqual([1, 2]);
  });

  it("words alone keep their scores", () => {
    expect(fuse([hit(1, 9), hit(2, 5)], [])).toEqual([hit(1, 9), hit(2, 5)]);
  });

  it("an item that both arms found is one hit, and better than one that is as good in one of them", () => {
    const hits = fuse([hit(1, 8), hit(2, 8), hit(9, 0)], [hit(1, 0.7), hit(3, 0.7), hit(8, 0.1)]);
    expect(keys(hits)).toEqual([1, 3, 2, 9, 8]);
    expect(hits[0]?.score).toBeCloseTo(1);
    expect(hits[1]?.score).toBeCloseTo(0.6);
    expect(hits[2]?.score).toBeCloseTo(0.4);
  });

  it("scores count by how much better they are than the rest, not by rank", () => {
    const words = [hit(1, 10), hit(2, 9.9), hit(3, 0)];
    const meaning = [hit(2, 0.8), hit(1, 0.2), hit(4, 0.1)];
    expect(keys(fuse(words, meaning))[0]).toBe(2);
  });

  it("of equals the newest comes first", () => {
    expect(keys(fuse([], [hit(1, 0.5), hit(2, 0.5)]))).toEqual([2, 1]);
  });

  it("what an arm says of its hit stays with it, meaning before words", () => {
    const words = [{ key: 1, score: 3, from: "words" }];
    const meaning = [{ key: 1, score: 0.3, from: "meaning" }];
    expect(fuse(words, meaning)).toMatchObject([{ key: 1, from: "meaning" }]);
  });

  it("nothing with nothing is nothing", () => {
    expect(fuse([], [])).toEqual([]);
  });
});
