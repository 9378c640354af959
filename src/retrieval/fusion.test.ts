import { describe, expect, it } from "vitest";
import { type Candidate, fuse, type RankingHints } from "./fusion.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 15);
const HINTS: RankingHints = { refersBack: false, dates: [], recency: 0, askedAt: NOW };

const one = (key: number, fields: Partial<Candidate> = {}): Candidate => ({ key, occurredAt: NOW, ...fields });
const ranked = (candidates: readonly Candidate[], hints: Partial<RankingHints> = {}) =>
  fuse(candidates, { ...HINTS, ...hints });
const keys = (candidates: readonly Candidate[], hints: Partial<RankingHints> = {}) =>
  ranked(candidates, hints).map(({ candidate }) => candidate.key);

describe("fused", () => {
  it("hits of one arm keep their order", () => {
    expect(keys([one(1, { meaning: 0.9 }), one(2, { meaning: 0.5 }), one(3, { meaning: 0.1 })])).toEqual([1, 2, 3]);
    expect(keys([one(1, { words: 9 }), one(2, { words: 5 })])).toEqual([1, 2]);
  });

  it("words alone have all the weight, and so has meaning if no word was found", () => {
    expect(ranked([one(1, { words: 9 })])[0]?.why.words).toEqual({ score: 9, share: 1 });
    expect(ranked([one(1, { words: 0, meaning: 0.5 })])[0]?.why.meaning).toEqual({ score: 0.5, share: 1 });
  });

  it("an item found by both arms is one hit, and beats one that is equally good in one of them", () => {
    const hits = ranked([
      one(1, { words: 8, meaning: 0.7 }),
      one(2, { words: 8, meaning: 0 }),
      one(3, { meaning: 0.7 }),
    ]);
    expect(hits.map(({ candidate }) => candidate.key)).toEqual([1, 3, 2]);
    const shares = hits.map(({ why }) => (why.words?.share ?? 0) + (why.meaning?.share ?? 0));
    expect(shares.map((share) => Math.round(share * 100))).toEqual([100, 60, 40]);
  });

  it("an item without a vector is scored by its words alone, so a rare word finds it at once", () => {
    const noise = [one(1, { words: 0, meaning: 0.05 }), one(2, { words: 0.2, meaning: 0.04 })];
    const hits = ranked([...noise, one(3, { words: 5 })]);
    expect(hits[0]?.candidate.key).toBe(3);
    expect(hits[0]?.why.words).toEqual({ score: 5, share: 1 });
  });

  it("scores count by how much better they are, not by rank", () => {
    expect(
      keys([one(1, { words: 10, meaning: 0.2 }), one(2, { words: 9.9, meaning: 0.8 }), one(3, { words: 0 })])[0],
    ).toBe(2);
  });

  it("a score does not depend on the number of candidates", () => {
    const best = [one(1, { words: 8, meaning: 0.7 }), one(2, { words: 4, meaning: 0.6 })];
    const more = [...best, one(3, { words: 1, meaning: -0.2 }), one(4, { words: 0, meaning: 0.1 })];
    expect(ranked(more).slice(0, 2)).toEqual(ranked(best));
  });

  it("a negative cosine counts as zero", () => {
    expect(ranked([one(1, { words: 1, meaning: -0.5 }), one(2, { meaning: 0.5 })])[1]?.why.meaning?.share).toBe(0);
  });

  it("what the user said ranks first, or what the assistant said if the question refers back to it", () => {
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

  it("messages from the named time rank first, from two days before to ten days after", () => {
    const dates = [{ from: NOW - 30 * DAY, to: NOW - 29 * DAY }];
    const at = (days: number) => ({ words: 1, occurredAt: NOW - days * DAY });
    expect(keys([one(1, at(32)), one(2, at(33))], { dates })).toEqual([1, 2]);
    expect(keys([one(1, at(19.5)), one(2, at(18.5))], { dates })).toEqual([1, 2]);
    expect(keys([one(1, at(32)), one(2, at(33))])).toEqual([2, 1]);
  });

  it("a good hit lifts the other messages of its session", () => {
    const hits = [
      one(1, { words: 2, sessionId: "a" }),
      one(2, { words: 10, sessionId: "b" }),
      one(3, { words: 2, sessionId: "b" }),
      one(4, { words: 2 }),
    ];
    expect(keys(hits)).toEqual([2, 3, 4, 1]);
  });

  it("a hit with the best words and the best meaning came second because the role bonus outweighed it", () => {
    const asked = { words: 9, meaning: 0.62, role: "assistant", exact: 1 } as const;
    const alike = { words: 5, meaning: 0.61, role: "user" } as const;
    expect(keys([one(1, { ...asked, exact: undefined }), one(2, alike)]), "nothing says that it is exact").toEqual([
      2, 1,
    ]);
    expect(keys([one(1, asked), one(2, alike)])).toEqual([1, 2]);
  });

  it("nothing ranks above an exact match, regardless of bonuses", () => {
    const hints = { recency: 1, dates: [{ from: NOW - DAY, to: NOW + DAY }] };
    const exact = one(1, { exact: 1, words: 0, meaning: -0.1, role: "assistant", occurredAt: 0, sessionId: "a" });
    const alike = one(2, { words: 9, meaning: 0.9, role: "user", sessionId: "b" });
    const both = one(3, { exact: 2, words: 1, role: "assistant", occurredAt: 0 });
    expect(keys([exact, alike, both], hints)).toEqual([3, 1, 2]);
  });

  it("an exact match does not change the order of the others", () => {
    const others = [
      one(1, { words: 2, sessionId: "a" }),
      one(2, { words: 5, role: "assistant", sessionId: "b" }),
      one(3, { words: 4, sessionId: "b" }),
      one(4, { words: 3, sessionId: "c" }),
    ];
    const marked = others.map((other) => (other.key === 4 ? { ...other, exact: 1 } : other));
    expect(keys(marked)).toEqual([4, ...keys(others).filter((key) => key !== 4)]);
  });

  it("recency counts on request, half after thirty days; the future counts like now", () => {
    const at = (days: number) => ({ words: 1, occurredAt: NOW - days * DAY });
    const hits = ranked([one(1, at(0)), one(2, at(30)), one(3, at(-5))], { recency: 0.4 });
    const shares = new Map(hits.map(({ candidate, why }) => [candidate.key, why.recency]));
    expect([shares.get(1), shares.get(2), shares.get(3)]).toEqual([0.4, 0.2, 0.4]);
    expect(ranked([one(1, at(0))])[0]?.why.recency).toBe(0);
  });

  it("the shares add up to the score", () => {
    const hints = { recency: 0.3, dates: [{ from: NOW - DAY, to: NOW + DAY }] };
    for (const { score, why } of ranked(
      [one(1, { words: 3, meaning: 0.4, sessionId: "a" }), one(2, { meaning: 0.3, exact: 1 })],
      hints,
    )) {
      const shares = (why.words?.share ?? 0) + (why.meaning?.share ?? 0);
      const sum = shares + why.exact + why.role + why.date + why.session + why.recency;
      expect(score).toBeCloseTo(sum, 9);
    }
  });

  it("far candidates come last, regardless of their bonuses, and lift no session", () => {
    const said = { meaning: 0.3, sessionId: "a", occurredAt: NOW } as const;
    const dates = [{ from: NOW, to: NOW }];
    const far = one(3, { ...said, meaning: 0.5, role: "user", isFar: true });
    const near = [
      one(1, { ...said, role: "assistant", occurredAt: 0 }),
      one(2, { ...said, role: "assistant", occurredAt: 0, meaning: 0.2 }),
    ];
    const hits = ranked([far, ...near], { dates, recency: 1 });
    expect(hits.map(({ candidate }) => candidate.key)).toEqual([1, 2, 3]);
    expect(hits[2]?.score).toBe(hits[1]?.score);
    expect(hits[0]?.why.session).toBe(ranked(near, { dates, recency: 1 })[0]?.why.session);
  });

  it("a limited number of hits is the start of all hits", () => {
    const many = Array.from({ length: 20 }, (_, key) => one(key, { words: key % 7, isFar: key % 5 === 0 }));
    for (const count of [0, 1, 7, 18, 20]) expect(fuse(many, HINTS, count)).toEqual(fuse(many, HINTS).slice(0, count));
  });

  it("ties are broken by the newest", () => {
    expect(keys([one(1, { meaning: 0.5 }), one(2, { meaning: 0.5 })])).toEqual([2, 1]);
  });

  it("no candidates give no hits", () => {
    expect(ranked([])).toEqual([]);
  });
});
