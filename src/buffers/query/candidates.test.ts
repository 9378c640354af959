import { describe, expect, it } from "vitest";
import type { Estimates } from "../../stores/estimates.js";
import type { Scored } from "../../stores/store.js";
import { candidatesOf } from "./candidates.js";

const found = (key: number, score: number, version = 1): Scored => ({
  ...{ space: { user: "ada" }, key, id: `item ${key}`, version, score, occurredAt: 0 },
});
const known = (scores: { readonly [key: number]: number }, more: Partial<Estimates> = {}): Estimates => ({
  keys: Float64Array.from(Object.keys(scores), Number),
  most: Float64Array.from(Object.values(scores)),
  slack: 0,
  isWhole: false,
  ...more,
});

describe("candidates", () => {
  it("have the words' scores that are known by the way, and nothing where all others score nothing", () => {
    const near = { hits: [found(1, 0.9), found(2, 0.8), found(3, 0.7)], asOf: 7 };
    const words = [found(1, 5)];
    const scores = (estimates: Estimates, asOf = 7) =>
      candidatesOf(Object.assign([...words], { estimates, asOf }), near).map((candidate) => candidate.words);
    expect(scores(known({ 1: 99, 2: 3, 7: 4 }))).toEqual([5, 3, undefined]);
    expect(scores(known({ 2: 3 }, { isWhole: true }))).toEqual([5, 3, 0]);
    expect(candidatesOf(words, near).map((candidate) => candidate.words)).toEqual([5, undefined, undefined]);
    const later = scores(known({ 2: 3 }, { isWhole: true }), 8);
    expect(later, "not of another time: it may have been edited since").toEqual([5, undefined, undefined]);
  });

  it("have bounds where their cosine is not known", () => {
    const words = Object.assign([found(1, 5), found(2, 4), found(3, 3)], { asOf: 7 });
    const estimates = known({ 1: 0.99, 2: 0.5, 9: 0.4 }, { slack: 0.02 });
    const bounds = (asOf: number) =>
      candidatesOf(words, { hits: [found(1, 0.9)], estimates, asOf }).map(({ meaning, meaningLeast, meaningMost }) => [
        meaning,
        meaningLeast,
        meaningMost,
      ]);
    const unknown = [undefined, undefined, undefined];
    expect(bounds(7)).toEqual([[0.9, undefined, undefined], [undefined, 0.48, 0.5], unknown]);
    expect(bounds(8)).toEqual([[0.9, undefined, undefined], unknown, unknown]);
  });

  it("are far if meaning alone has found them beyond the nearest", () => {
    const hits = Array.from({ length: 33 }, (_, at) => found(at + 1, 1 - at / 100));
    const far = (words: readonly Scored[]) =>
      candidatesOf(words, { hits }).flatMap(({ key, isFar }) => (isFar ? key : []));
    expect(far([])).toEqual([33]);
    expect(far([found(33, 1)])).toEqual([]);
  });
});
