import { expect, test } from "vitest";
import { IRREGULAR } from "./irregular.js";
import { stem } from "./stem.js";

test.each([
  ["go", "goes", "going", "went", "gone"],
  ["buy", "buys", "buying", "bought"],
  ["child", "children"],
  ["woman", "women"],
  ["write", "writes", "writing", "wrote", "written"],
  ["swim", "swims", "swimming", "swam", "swum"],
  ["try", "tries", "trying", "tried"],
  ["die", "dies", "dying", "died"],
  ["add", "adds", "adding", "added"],
  ["bus", "buses"],
  ["walk", "walks", "walked", "walking"],
  ["party", "parties"],
  ["evening", "evenings"],
])("%s has one stem in all its forms", (word, ...forms) => {
  for (const form of forms) expect([form, stem(form)]).toEqual([form, stem(word)]);
});

test.each([
  ["news", "new"],
  ["his", "hi"],
  ["evening", "even"],
  ["rose", "rise"],
])("%s and %s stay apart", (one, other) => expect(stem(one)).not.toBe(stem(other)));

test("words with non-English letters are not stemmed", () => {
  for (const word of ["путешествия", "οδοσ", "हिन्दी", "gpt4s", ""]) expect(stem(word)).toBe(word);
});

test("words longer than English words are not stemmed", () => {
  expect(stem(`${"a".repeat(40)}ing`)).toBe(`${"a".repeat(40)}ing`);
});

test("no form belongs to two words, and no form is a word with forms itself", () => {
  const words = new Set(IRREGULAR.values());
  for (const [form, word] of IRREGULAR) if (form !== word) expect([form, words.has(form)]).toEqual([form, false]);
  expect(IRREGULAR.size).toBeGreaterThan(250);
});
