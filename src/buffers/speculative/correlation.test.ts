import { expect, it } from "vitest";
import { Correlation } from "./correlation.js";

const trace = (...texts: string[]) => ({ space: "ada", said: [], asked: texts.map((text) => ({ text, options: {} })) });

it("long questions push out what was learned before, and are not learned beyond the limit of a space", () => {
  const correlation = new Correlation();
  const learn = (before: string, next: string) => correlation.learn(trace(before, next));
  const next = (text: string) => correlation.guess(trace(text)).map((guess) => guess.text);
  learn("cat", "dog");
  expect(next("cat")).toEqual(["dog"]);
  learn("horse", "x".repeat(40_000));
  expect([next("horse"), next("cat")]).toEqual([[], ["dog"]]);
  for (const before of ["bird", "fish", "snail"]) learn(before, before.repeat(4_000));
  expect([next("cat"), next("snail")]).toEqual([[], ["snail".repeat(4_000)]]);
  learn("", "dog");
  expect(next("")).toEqual(["dog"]);
});
