import { expect, test } from "vitest";
import { analyse } from "./analyse.js";

const terms = (text: string) => [...analyse(text).keys()];

test.each([
  ["an emoji", "😂", ["😂"]],
  ["each of several without spaces", "😂🎉", ["😂", "🎉"]],
  ["between words", "I❤NY", ["i", "❤", "ny"]],
  ["skin tones", "👍🏽", ["👍"]],
  ["a skin tone alone", "🏽", []],
  ["variation selectors", "❤️", ["❤"]],
  ["the text variant", "☺︎", ["☺"]],
  ["a family", "👨‍👩‍👧", ["👨", "👩", "👧", "👨👩👧"]],
  ["a profession with a skin tone", "👩🏽‍🚀", ["👩", "🚀", "👩🚀"]],
  ["a gender sign", "🏃🏽‍♀️", ["🏃", "♀", "🏃♀"]],
  ["a flag that is a sequence", "🏳️‍🌈", ["🏳", "🌈", "🏳🌈"]],
  ["flags", "🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]],
  ["half a flag", "🇩", ["🇩"]],
  ["the flag of Scotland", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", ["🏴", "🏴gbsct"]],
  ["keycaps", "1️⃣#️⃣*️⃣", ["1", "1⃣", "#⃣", "∗⃣"]],
  ["a keycap on nothing", "\u20E3", []],
  ["signs that are no emoji to anyone", "© ® → ∑ €", []],
])("%s: %s", (_, text, expected) => expect(terms(text)).toEqual(expected));

test("emoji are counted", () => {
  expect(analyse("😂😂 😂").get("😂")).toBe(3);
});

test("hidden text in tag characters adds no blank, quote or asterisk to a term", () => {
  const hidden = [...' "*DROP t1'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  expect(terms(`😀${hidden}`)).toEqual(["😀", "😀t1"]);
});
