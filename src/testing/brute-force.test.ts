import { describe, expect, it } from "vitest";
import { bruteForceScores } from "./brute-force.js";

/** The formula once more, with k1 = 1.2 and b = 0.75, written out. */
function bm25(documents: number, containing: number, count: number, length: number, averageLength: number): number {
  const idf = Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));
  return (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / averageLength));
}

describe("bruteForceScores", () => {
  const documents = [
    { id: "a", content: "lamp lamp rope" },
    { id: "b", name: "lamp", content: "sea" },
    { id: "c", content: "" },
    { id: "d", content: "sea house tree" },
  ];

  it("counts items, containing items and terms over all documents, names included", () => {
    const scores = bruteForceScores(documents, ["lamp", "sea"]);
    expect([...scores.keys()]).toEqual(["a", "b", "d"]);
    expect(scores.get("a")).toBeCloseTo(bm25(4, 2, 2, 3, 2), 12);
    expect(scores.get("b")).toBeCloseTo(2 * bm25(4, 2, 1, 2, 2), 12);
    expect(scores.get("d")).toBeCloseTo(bm25(4, 2, 1, 3, 2), 12);
  });

  it("scores nothing without documents, terms or matches", () => {
    expect(bruteForceScores([], ["lamp"]).size).toBe(0);
    expect(bruteForceScores(documents, []).size).toBe(0);
    expect(bruteForceScores(documents, ["unheard"]).size).toBe(0);
  });
});
