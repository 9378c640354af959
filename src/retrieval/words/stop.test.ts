import { expect, test } from "vitest";
import { analyse } from "./analyse.js";
import { contentLength, contentTerms } from "./stop.js";

const terms = (text: string) => [...analyse(text).keys()];

test("the length of a text is the number of its terms, repetitions included", () => {
  expect(contentLength(analyse("lamp after lamp, rope"))).toBe(4);
  expect(contentLength(analyse(""))).toBe(0);
});

test("stop words do not count towards the length", () => {
  expect(contentLength(analyse("What did you do with the lamp that was there?"))).toBe(1);
  expect(contentLength(analyse("to be or not to be"))).toBe(1);
  expect(contentLength(analyse("who are you"))).toBe(0);
});

test("a question has its terms without stop words, and all terms if it has only stop words", () => {
  expect(contentTerms(terms("Where did we put the lamps?"))).toEqual(["put", "lamp"]);
  expect(contentTerms(terms("Who are you?"))).toEqual(["who", "be", "you"]);
});
