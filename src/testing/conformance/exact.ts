/** Compares what a store finds by words with a brute-force count. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import { bruteForceScores } from "../brute-force.js";
import type { Probe } from "./probe.js";

/** Both must find the same, with the same scores, in the same order. Requires that nothing stored has expired. */
export async function expectExact(probe: Probe, space: SpaceRef, query: string): Promise<void> {
  const items = await probe.list(space);
  const scores = bruteForceScores(items, probe.terms(query));
  const expected = items
    .filter(({ id }) => scores.has(id))
    .map(({ id }, arrival) => ({ id, arrival, score: scores.get(id) as number }))
    .sort((a, b) => (Math.abs(b.score - a.score) < 1e-9 ? b.arrival - a.arrival : b.score - a.score));
  const hits = await probe.search(space, query);
  expect(
    hits.map(({ id }) => id),
    query,
  ).toEqual(expected.map(({ id }) => id));
  for (const [at, { score }] of hits.entries()) expect(score, query).toBeCloseTo(expected[at]?.score as number, 9);
}
