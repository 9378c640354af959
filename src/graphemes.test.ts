import { expect, test } from "vitest";
import {
  afterSpace,
  GRAPHEME_UNITS_MAX,
  graphemeEnd,
  graphemeStart,
  isSpace,
  isSureStart,
  trimmed,
} from "./graphemes.js";

const whole = new Intl.Segmenter("en", { granularity: "grapheme" });
const startsOf = (text: string): Set<number> =>
  new Set([...whole.segment(text)].map(({ index }) => index).concat(text.length));

test("what is called a sure start is one, after every character there is", () => {
  const wrong: string[] = [];
  for (const next of [
    "a",
    "é",
    "Ж",
    "中",
    "か",
    "。",
    " ",
    "\n",
    "\r",
    "\u0301",
    "\u200D",
    "ำ",
    "क",
    "👩",
    "🇩",
    "ᅡ",
    "्",
  ]) {
    for (let code = 0; code < 0x20000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const before = String.fromCodePoint(code);
      if (!isSureStart(before + next, before.length)) continue;
      if (whole.segment(before + next).containing(before.length)?.index !== before.length) {
        wrong.push(`${code.toString(16)} before ${next}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test("what is called a sure start is one, for every character there is", () => {
  const wrong: number[] = [];
  for (const before of ["a", "\u200D", "👩\u200D", "क्", "🇩", "ᄀ", "\r"]) {
    for (let code = 0; code < 0x10000; code++) {
      const text = before + String.fromCharCode(code);
      if (!isSureStart(text, before.length)) continue;
      if (whole.segment(text).containing(before.length)?.index !== before.length) wrong.push(code);
    }
  }
  expect(wrong).toEqual([]);
});

test.each([
  "plain text",
  "e\u0301e\u0301\r\n\r\n",
  "🇩🇪🇫🇷🇪🇸🇮",
  "👨‍👩‍👧‍👦👩🏽‍🚒❤️",
  "क्षत्रिय नमस्ते",
  "กำลังน้ำ",
  "각각한",
  "\u0600 1\u0600\u0301",
  "\u0D4Eക",
])("every start and end in %j is where the whole text has it", (text) => {
  const starts = startsOf(text);
  for (const known of starts) {
    for (let at = known; at <= text.length; at++) {
      expect(graphemeStart(text, known, at)).toBe(Math.max(...[...starts].filter((start) => start <= at)));
    }
    if (known < text.length) expect(starts.has(graphemeEnd(text, known))).toBe(true);
  }
});

test.each([1, 62, 63, 64, 65, 1000, 16_384, 20_000, 65_000])("a letter with %i marks ends after the last", (marks) => {
  const letter = `a${"\u0301".repeat(marks)}`;
  expect(graphemeEnd(`${letter}b`, 0)).toBe(letter.length);
  expect(graphemeEnd(letter, 0)).toBe(letter.length);
});

test("a letter with a million marks is taken for several, cut between code points", () => {
  const end = graphemeEnd("👩\u200D".repeat(100_000), 0);
  expect(end).toBeLessThan(GRAPHEME_UNITS_MAX);
  expect(end).toBeGreaterThan(GRAPHEME_UNITS_MAX - 3);
  expect("👩\u200D".repeat(100_000).slice(0, end).isWellFormed()).toBe(true);
});

test("white space is what trim takes for it", () => {
  for (let code = 0; code < 0x10000; code++) {
    const unit = String.fromCharCode(code);
    expect(isSpace(unit, 0)).toBe(unit.trim() === "");
  }
});

test("white space that carries a mark, or that a mark holds on to, is not trimmed", () => {
  expect(afterSpace("  \u0301a", 0)).toBe(1);
  expect(trimmed("  \u0301a ", 0, 5)).toEqual({ start: 1, end: 4 });
  expect(trimmed(" a\u0600  ", 0, 5)).toEqual({ start: 1, end: 4 });
  expect(trimmed(" \r\n\u3000", 0, 4)).toBeUndefined();
});
