import { describe, expect, it, test } from "vitest";
import { nextInSeries, Stride } from "./stride.js";

test.each([
  ["what did I do in May?", "what did I do in June?", "what did I do in July?"],
  ["what happened in May?", "and in June?", "and in July?"],
  ["DEC", "JAN", "FEB"],
  ["On Saturday we met.", "On Sunday we met.", "On Monday we met."],
  ["the budget of 2023", "the budget of 2024", "the budget of 2025"],
  ["chapter 08", "chapter 09", "chapter 10"],
  ["notes of 2026-11-29", "notes of 2026-11-30", "notes of 2026-12-01"],
  ["week 3 of 12", "week 5 of 12", "week 7 of 12"],
  ["page 3", "page 2", "page 1"],
])("after %j and %j comes %j", (before, last, next) => {
  expect(nextInSeries(before, last)).toBe(next);
});

test.each([
  ["where is she?", "how old is she?"],
  ["in May", "on Monday"],
  ["from 3 to 5", "from 4 to 6"],
  ["page 1", "page 0"],
  ["in May", "in May"],
  ["", ""],
  ["2026-99-99", "2026-99-98"],
  ["the march of time", "the march of time, again"],
])("nothing follows %j and %j", (before, last) => {
  expect(nextInSeries(before, last)).toBeUndefined();
});

describe("a stride", () => {
  const guess = (...options: object[]) =>
    new Stride()
      .guess({ space: "", said: [], asked: options.map((one) => ({ text: "tea", options: one })) })
      .map(({ confidence: _, ...guessed }) => guessed);

  it("turns to the next page, once two followed each other", () => {
    expect(guess({})).toEqual([]);
    expect(guess({}, { offset: 10 })).toEqual([{ text: "tea", options: { offset: 20 } }]);
    expect(guess({ topK: 5, offset: 5 }, { topK: 5, offset: 10 })).toEqual([
      { text: "tea", options: { topK: 5, offset: 15 } },
    ]);
    expect(guess({ offset: 10 }, { offset: 13 })).toEqual([]);
  });

  it("goes to the next session of a series", () => {
    expect(guess({ session: "day-1" }, { session: "day-2" })).toEqual([{ text: "tea", options: { session: "day-3" } }]);
    expect(guess({ session: "ada" }, { session: "bob" })).toEqual([]);
  });
});
