import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, contenders, fuse, type Wish } from "./fusion.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 15);
const WISH: Wish = { refersBack: false, dates: [], recency: 0, askedAt: NOW };

const one = (key: number, fields: Partial<Candidate> = {}): Candidate => ({ key, occurredAt: NOW, ...fields });
const ranked = (candidates: readonly Candidate[], wish: Partial<Wish> = {}) => fuse(candidates, { ...WISH, ...wish });
const keys = (candidates: readonly Candidate[], wish: Partial<Wish> = {}) =>
  ranked(candidates, wish).map(({ candidate }) => candidate.key);

describe("fused", () => {
  it("hits of one arm keep their order", () => {
    expect(keys([one(1, { meaning: 0.9 }), one(2, { meaning: 0.5 }), one(3, { meaning: 0.1 })])).toEqual([1, 2, 3]);
    expect(keys([one(1, { words: 9 }), one(2, { words: 5 })])).toEqual([1, 2]);
  });

  it("words alone have the whole share, and so has meaning where no word was found", () => {
    expect(ranked([one(1, { words: 9 })])[0]?.why.words).toEqual({ score: 9, share: 1 });
    expect(ranked([one(1, { words: 0, meaning: 0.5 })])[0]?.why.meaning).toEqual({ score: 0.5, share: 1 });
  });

  it("an item that both arms found is one hit, and better than one that is as good in one of them", () => {
    const hits = ranked([
      one(1, { words: 8, meaning: 0.7 }),
      one(2, { words: 8, meaning: 0 }),
      one(3, { meaning: 0.7 }),
    ]);
    expect(hits.map(({ candidate }) => candidate.key)).toEqual([1, 3, 2]);
    const shares = hits.map(({ why }) => (why.words?.share ?? 0) + (why.meaning?.share ?? 0));
    expect(shares.map((share) => Math.round(share * 100))).toEqual([100, 60, 40]);
  });

  it("what has no vector yet is judged by its words alone: a word that is nowhere else finds it at once", () => {
    const noise = [one(1, { words: 0, meaning: 0.05 }), one(2, { words: 0.2, meaning: 0.04 })];
    const hits = ranked([...noise, one(3, { words: 5 })]);
    expect(hits[0]?.candidate.key).toBe(3);
    expect(hits[0]?.why.words).toEqual({ score: 5, share: 1 });
  });

  it("scores count by how much better they are than the rest, not by rank", () => {
    expect(
      keys([one(1, { words: 10, meaning: 0.2 }), one(2, { words: 9.9, meaning: 0.8 }), one(3, { words: 0 })])[0],
    ).toBe(2);
  });

  it("a score does not depend on how many others there are", () => {
    const best = [one(1, { words: 8, meaning: 0.7 }), one(2, { words: 4, meaning: 0.6 })];
    const more = [...best, one(3, { words: 1, meaning: -0.2 }), one(4, { words: 0, meaning: 0.1 })];
    expect(ranked(more).slice(0, 2)).toEqual(ranked(best));
  });

  it("a vector that points away counts for nothing, not against", () => {
    expect(ranked([one(1, { words: 1, meaning: -0.5 }), one(2, { meaning: 0.5 })])[1]?.why.meaning?.share).toBe(0);
  });

  it("what the user said comes first, and what the assistant said if the question refers back to it", () => {
    const same = { words: 1, meaning: 0.5 };
    const said = [
      one(1, { ...same, role: "user" }),
      one(2, { ...same, role: "assistant" }),
      one(3, { ...same, role: "tool" }),
    ];
    expect(keys(said)[0]).toBe(1);
    expect(keys(said, { refersBack: true })).toEqual([3, 2, 1]);
    expect(keys([one(1, same), one(2, { ...same, role: "assistant" })])[0]).toBe(1); // knowledge has no role
  });

  it("what was said at the time named comes first, or up to two days before it and ten after it", () => {
    const dates = [{ from: NOW - 30 * DAY, to: NOW - 29 * DAY }];
    const at = (days: number) => ({ words: 1, occurredAt: NOW - days * DAY });
    expect(keys([one(1, at(32)), one(2, at(33))], { dates })).toEqual([1, 2]);
    expect(keys([one(1, at(19.5)), one(2, at(18.5))], { dates })).toEqual([1, 2]);
    expect(keys([one(1, at(32)), one(2, at(33))])).toEqual([2, 1]);
  });

  it("a conversation with a good hit lifts the others in it", () => {
    const hits = [
      one(1, { words: 2, sessionId: "a" }),
      one(2, { words: 10, sessionId: "b" }),
      one(3, { words: 2, sessionId: "b" }),
      one(4, { words: 2 }),
    ];
    expect(keys(hits)).toEqual([2, 3, 4, 1]);
  });

  it("being new counts if it is asked for, half as much after thirty days, and the future no more than now", () => {
    const at = (days: number) => ({ words: 1, occurredAt: NOW - days * DAY });
    const hits = ranked([one(1, at(0)), one(2, at(30)), one(3, at(-5))], { recency: 0.4 });
    const shares = new Map(hits.map(({ candidate, why }) => [candidate.key, why.recency]));
    expect([shares.get(1), shares.get(2), shares.get(3)]).toEqual([0.4, 0.2, 0.4]);
    expect(ranked([one(1, at(0))])[0]?.why.recency).toBe(0);
  });

  it("the shares add up to the score", () => {
    const wish = { recency: 0.3, dates: [{ from: NOW - DAY, to: NOW + DAY }] };
    for (const { score, why } of ranked(
      [one(1, { words: 3, meaning: 0.4, sessionId: "a" }), one(2, { meaning: 0.3 })],
      wish,
    )) {
      const sum = (why.words?.share ?? 0) + (why.meaning?.share ?? 0) + why.role + why.date + why.session + why.recency;
      expect(score).toBeCloseTo(sum, 9);
    }
  });

  it("of equals the newest comes first", () => {
    expect(keys([one(1, { meaning: 0.5 }), one(2, { meaning: 0.5 })])).toEqual([2, 1]);
  });

  it("nothing is nothing", () => {
    expect(ranked([])).toEqual([]);
  });
});

describe("contenders", () => {
  const score = fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined });
  const drawn = fc.array(fc.record({ words: score, meaning: score, user: fc.boolean(), session: fc.nat(3) }), {
    minLength: 1,
    maxLength: 30,
  });

  it("leave out nobody who is among the best once all is scored, whatever the missing scores turn out to be", () => {
    fc.assert(
      fc.property(
        drawn,
        fc.integer({ min: 1, max: 5 }),
        fc.nat(10),
        fc.nat(10),
        fc.boolean(),
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (rows, count, unseenWords, unseenMeaning, isEstimated, luck) => {
          // Each arm has told of its best, and nothing that it has not told of is better than what it has left untold.
          const told = [
            one(100, { words: 10, meaning: 10 }),
            ...rows.map(({ words, meaning, user, session }, at) => {
              // Of some it is known between what and what their cosine lies.
              const most = isEstimated && luck.next().value < 0.7 ? luck.next().value * unseenMeaning : undefined;
              const bounds = most === undefined ? {} : { meaningLeast: most - 0.5, meaningMost: most };
              const role = user ? ("user" as const) : ("assistant" as const);
              return one(at, { words, meaning, role, sessionId: `${session}`, ...(meaning === undefined && bounds) });
            }),
          ];
          const unseen = { words: unseenWords, meaning: unseenMeaning };
          const left = contenders(told, WISH, count, unseen);
          const cosineOf = ({ meaningLeast, meaningMost }: Candidate): number | undefined => {
            if (meaningLeast !== undefined)
              return meaningLeast + luck.next().value * (Number(meaningMost) - meaningLeast);
            return luck.next().value < 0.3 ? undefined : luck.next().value * unseenMeaning; // it may have no vector at all
          };
          const complete = (candidate: Candidate): Candidate => ({
            ...candidate,
            words: candidate.words ?? luck.next().value * unseenWords,
            meaning: candidate.meaning ?? cosineOf(candidate),
          });
          const scored = new Map(told.map((candidate) => [candidate.key, complete(candidate)]));
          const best = fuse([...scored.values()], WISH).slice(0, count);
          const ofLeft = fuse(
            left.map(({ candidate }) => scored.get(candidate.key) as Candidate),
            WISH,
          ).slice(0, count);
          expect(ofLeft).toEqual(best);
          const reaching = left.flatMap(({ candidate, floor }) => {
            const { meaning } = scored.get(candidate.key) ?? {};
            const isBelow = candidate.meaning === undefined && meaning !== undefined && meaning < floor;
            return isBelow ? [] : (scored.get(candidate.key) as Candidate);
          });
          expect(fuse(reaching, WISH).slice(0, count), "without those below their floor").toEqual(best);
        },
      ),
    );
  });

  it("are few where the arms have told of far better ones", () => {
    const told = Array.from({ length: 50 }, (_, key) => one(key, key < 5 ? { words: 9, meaning: 0.9 } : { words: 6 }));
    expect(contenders(told, WISH, 5, { words: 1, meaning: 0.1 })).toHaveLength(5);
    expect(contenders(told, WISH, 6, { words: 1, meaning: 0.1 })).toHaveLength(50);
  });

  it("are few where it is known about how near they are", () => {
    const told = (bounds: Partial<Candidate>) =>
      Array.from({ length: 50 }, (_, key) =>
        one(key, key < 5 ? { words: 8, meaning: 0.9 } : { words: 9 - key / 100, ...bounds }),
      );
    const unseen = { words: 1, meaning: 0.9 };
    const few = contenders(told({ meaningLeast: 0.1, meaningMost: 0.12 }), WISH, 5, unseen);
    expect(few.map(({ candidate }) => candidate.key)).toEqual([0, 1, 2, 3, 4, 5]); // the last has the best words
    expect(contenders(told({}), WISH, 5, unseen)).toHaveLength(50);
  });

  it("need so much meaning as takes them to the best, and those that have it anyway need none", () => {
    const told = [one(1, { words: 10, meaning: 0.8 }), one(2, { words: 8, meaning: 0.4 }), one(3, { words: 7 })];
    const [first, second, third] = contenders(told, WISH, 2, { words: 1, meaning: 0.5 });
    expect([first?.floor, second?.candidate.key, third?.candidate.key]).toEqual([-Infinity, 2, 3]);
    expect(third?.floor).toBeGreaterThan(0.4); // it has less words than the second, so it needs more meaning
    expect(third?.floor).toBeLessThan(0.5);
    for (const contender of contenders(told, WISH, 3, { words: 1, meaning: 0.4 }))
      expect(contender.floor).toBe(-Infinity);
  });
});
