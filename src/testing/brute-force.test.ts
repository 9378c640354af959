import { describe, expect, it } from "vitest";
import { bruteForceScores } from "./brute-force.js";

/** The formula, written out, with k1 = 0.9 and b = 0.75. */
function bm25(documents: number, containing: number, count: number, length: number, averageLength: number): number {
  const idf = Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));
  return (idf * count * 1.9) / (count + 0.9 * (0.25 + (0.75 * length) / averageLength));
}

describe("bruteForceScores", () => {
  const documents = [
    { id: "a", content: "the lamp, the lamp and a rope" },
    { id: "b", name: "lamp", content: "sea" },
    { id: "c", content: "" },
    { id: "d", content: "sea house tree" },
  ];
  /** Four documents of two terms on average, each with what eight like it would lend. */
  const average = 2 + 2.2 * 2;

  it("counts items, containing items and terms over all documents, names included", () => {
    const scores = bruteForceScores(documents, ["lamp", "sea"]);
    expect([...scores.keys()]).toEqual(["a", "b", "d"]);
    expect(scores.get("a")).toBeCloseTo(bm25(4, 2, 2, 3, average), 9);
    expect(scores.get("b")).toBeCloseTo(2 * bm25(4, 2, 1, 2, average), 9);
    expect(scores.get("d")).toBeCloseTo(bm25(4, 2, 1, 3, average), 9);
  });

  it("lets documents of one session lend words to each other, unless they have expired", () => {
    const inSession = documents.map((document, at) => ({ ...document, session: "s", sequence: at + 1 }));
    const scores = bruteForceScores(inSession, ["lamp"]);
    expect([...scores.keys()]).toEqual(["a", "b", "c", "d"]);
    expect(scores.get("c")).toBeCloseTo(bm25(4, 2, 0.3 * 2, 0.3 * 3 + 0.5 * 2 + 0.5 * 3, average), 9);
    const [first, ...rest] = inSession;
    const later = bruteForceScores([...(first ? [{ ...first, isExpired: true }] : []), ...rest], ["lamp"]);
    expect([...later.keys()], "a name is not lent").toEqual(["a", "b"]);
    expect(later.get("b")).toBeCloseTo(bm25(4, 2, 1, 2 + 0.3 * 3, average), 9);
  });

  it("lends no words from documents of other sessions or outside of sessions", () => {
    const apart = documents.map((document, at) => ({ ...document, session: `s${at}`, sequence: 1 }));
    expect(bruteForceScores(apart, ["lamp"])).toEqual(bruteForceScores(documents, ["lamp"]));
  });

  it("scores nothing without documents, terms or matches", () => {
    expect(bruteForceScores([], ["lamp"]).size).toBe(0);
    expect(bruteForceScores(documents, []).size).toBe(0);
    expect(bruteForceScores(documents, ["unheard"]).size).toBe(0);
  });
});
