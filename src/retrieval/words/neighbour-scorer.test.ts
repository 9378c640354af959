import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoreAmong, type Text } from "../../testing/neighbour-score.js";
import { NeighbourScorer } from "./neighbour-scorer.js";
import { REACH } from "./neighbours.js";

interface Said extends Text {
  readonly session: number | null;
}

const TERMS = 3;

/** Messages ordered by session and sequence, with gaps; some outside any session, some with their speaker's name. */
const sessions = fc
  .array(
    fc.record({
      session: fc.option(fc.integer({ min: 0, max: 2 })),
      gap: fc.integer({ min: 1, max: 6 }),
      length: fc.integer({ min: 0, max: 40 }),
      lent: fc.option(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: TERMS, maxLength: TERMS })),
      named: fc.option(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: TERMS, maxLength: TERMS })),
    }),
    { maxLength: 40 },
  )
  .map((drawn) => {
    let sequence = 0;
    return drawn
      .toSorted((a, b) => (a.session ?? -1) - (b.session ?? -1))
      .map(({ session, gap, length, lent, named }): Said & { readonly named: readonly number[] | null } => {
        sequence += gap;
        const counts = lent?.map((count, term) => count + (named?.[term] ?? 0)) ?? [];
        const place = session === null ? undefined : sequence;
        return { session, sequence: place, length, counts, lent: lent ?? [], named };
      });
  });

function scorerOf(said: readonly (Said & { readonly named: readonly number[] | null })[]): NeighbourScorer {
  const scorer = new NeighbourScorer(said.length, TERMS);
  for (const [at, { session, sequence, length, counts, named }] of said.entries()) {
    scorer.place(at, session, sequence ?? null, length);
    if (counts.length > 0) scorer.count(at, counts, named ?? undefined);
  }
  return scorer;
}

describe("a scorer", () => {
  test("gives each message the same score as scoreAmong", () => {
    const rarities = [1.7, 0.4, 3];
    fc.assert(
      fc.property(sessions, fc.double({ min: 0, max: 50, noNaN: true }), (said, average) => {
        const alone = said.map((text) => {
          const around = said.filter((other) => other.session === text.session);
          return scoreAmong(text, around, rarities, average);
        });
        expect([...scorerOf(said).scores(rarities, average)]).toEqual(alone);
      }),
    );
  });

  test("finds messages nearby, and the minimum of a number around each", () => {
    fc.assert(
      fc.property(
        sessions,
        fc.infiniteStream(fc.boolean()),
        fc.integer({ min: 0, max: REACH }),
        (said, drawn, reach) => {
          const areNear = (one: Said, other: Said, distance: number): boolean =>
            one === other ||
            (one.session !== null &&
              one.session === other.session &&
              Math.abs(Number(one.sequence) - Number(other.sequence)) <= distance);
          const hits = Uint8Array.from(said, () => (drawn.next().value ? 1 : 0));
          const near = said.map((one) =>
            said.some((other, at) => hits[at] === 1 && areNear(one, other, reach)) ? 1 : 0,
          );
          expect([...scorerOf(said).reachedFrom(hits, reach)]).toEqual(near);

          const numbers = Float64Array.from(said, ({ length }, at) => (length + at) % 7);
          const least = said.map((one) =>
            Math.min(...said.flatMap((other, at) => (areNear(one, other, REACH) ? Number(numbers[at]) : []))),
          );
          expect([...scorerOf(said).leastAround(numbers)]).toEqual(least);
        },
      ),
    );
  });
});
