/**
 * Vectors: one per text, in order, of unit length and the described dimensions, independent of the other texts of the
 * call.
 */
import { expect } from "vitest";
import type { CheckEmbedder } from "../embedder-conformance.js";
import { expectSame, expectVector } from "./vector.js";

const SHORT = "I moved to Lisbon in May.";
const LONG = `${"The tram up the hill was full, so we walked and talked about the house by the river. ".repeat(6)}End.`;
const OTHER = "Butter, flour, two eggs";

export function vectors(check: CheckEmbedder): void {
  check("has the dimensions that were described, and unit length", async ({ embedder }) => {
    const { space } = await embedder.describe();
    expect(Number.isInteger(space.dimensions) && space.dimensions > 0).toBe(true);
    const given = await embedder.embed([SHORT, LONG]);
    expect(given).toHaveLength(2);
    for (const vector of given) expectVector(vector, space.dimensions);
  });

  check("gives one vector per text, in the order of the texts", async ({ embedder }) => {
    const [short, long, other] = await embedder.embed([SHORT, LONG, OTHER]);
    expect(short).not.toEqual(long);
    expect(short).not.toEqual(other);
    const turned = await embedder.embed([OTHER, SHORT, LONG]);
    expect(turned).toHaveLength(3);
    expectSame(turned, [other, short, long]);
  });

  check("gives a text the same vector alone, among others, twice in one call and in an urgent call", async (opened) => {
    const { embedder } = opened;
    const [alone] = await embedder.embed([SHORT]);
    const [, among] = await embedder.embed([LONG, SHORT, OTHER]);
    const [once, twice] = await embedder.embed([SHORT, SHORT]);
    const [urgent] = await embedder.embed([SHORT], { urgent: true });
    expectSame([among, once, twice, urgent], [alone, alone, alone, alone]);
  });

  check("gives the same vectors to concurrent calls", async ({ embedder }) => {
    const [alone] = await embedder.embed([SHORT]);
    const given = await Promise.all([
      embedder.embed([LONG, SHORT]),
      embedder.embed([SHORT], { urgent: true }),
      embedder.embed([SHORT, OTHER]),
    ]);
    expectSame([given[0][1], given[1][0], given[2][0]], [alone, alone, alone]);
  });

  check("returns independent vectors: changing one changes no other", async ({ embedder }) => {
    const [first, second] = await embedder.embed([SHORT, OTHER]);
    const kept = second?.slice();
    first?.fill(0);
    expect(second).toEqual(kept);
    const { space } = await embedder.describe();
    expectVector((await embedder.embed([SHORT]))[0], space.dimensions);
  });

  check("returns nothing for no texts", async ({ embedder }) => {
    expect(await embedder.embed([])).toEqual([]);
    expect(await embedder.countTokens([])).toEqual([]);
  });

  check("does not read the list again after the call was made", async ({ embedder }) => {
    const texts = [SHORT, OTHER];
    const running = embedder.embed(texts);
    texts.reverse();
    texts.pop();
    expectSame(await running, await embedder.embed([SHORT, OTHER]));
  });
}
