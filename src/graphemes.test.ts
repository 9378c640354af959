import fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterGraphemes,
  afterSpace,
  countGraphemes,
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

test("a sure start is a boundary, after every character", () => {
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

test("a sure start is a boundary, for every character", () => {
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

test("a letter with a million marks is treated as several, cut between code points", () => {
  const end = graphemeEnd("👩\u200D".repeat(100_000), 0);
  expect(end).toBeLessThan(GRAPHEME_UNITS_MAX);
  expect(end).toBeGreaterThan(GRAPHEME_UNITS_MAX - 3);
  expect("👩\u200D".repeat(100_000).slice(0, end).isWellFormed()).toBe(true);
});

test("white space is what trim removes", () => {
  const wrong: number[] = [];
  for (let code = 0; code < 0x10000; code++) {
    const unit = String.fromCharCode(code);
    if (isSpace(unit, 0) !== (unit.trim() === "")) wrong.push(code);
  }
  expect(wrong).toEqual([]);
});

test("white space that carries a mark, or follows a prepended one, is not trimmed", () => {
  expect(afterSpace("  \u0301a", 0)).toBe(1);
  expect(trimmed("  \u0301a ", 0, 5)).toEqual({ start: 1, end: 4 });
  expect(trimmed(" a\u0600  ", 0, 5)).toEqual({ start: 1, end: 4 });
  expect(trimmed(" \r\n\u3000", 0, 4)).toBeUndefined();
});

test("every character, before and after others, counts like the graphemes of the whole text", () => {
  const wrong: string[] = [];
  for (let code = 0; code < 0x20000; code++) {
    const unit = String.fromCodePoint(code);
    const text = `a${unit}\u0301${unit}${unit}b가${unit}中\r${unit}👩\u200D${unit}\n`;
    if (countGraphemes(text) !== startsOf(text).size - 1) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test("graphemes are counted, and skipped, as in the whole text", () => {
  const part = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.constantFrom("\r", "\n", "\r\n", "e\u0301", "\u0600", "👨‍👩‍👧‍👦", "🇩", "क्", "ᄀ", "\ud83d", "plain text, 中文"),
    fc.constantFrom("\u0301".repeat(61), "\u0301".repeat(62), "\u0301".repeat(63), "\u0301".repeat(300)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.nat(400), (parts, count) => {
      const text = parts.join("");
      const starts = [...startsOf(text)];
      expect(countGraphemes(text)).toBe(starts.length - 1);
      expect(afterGraphemes(text, count)).toBe(starts[count] ?? text.length);
    }),
    { numRuns: 500 },
  );
});

test("zero graphemes end at 0, and more than there are end with the text", () => {
  expect(countGraphemes("")).toBe(0);
  expect(afterGraphemes("abc", 0)).toBe(0);
  expect(afterGraphemes("abc", 3)).toBe(3);
  expect(afterGraphemes("e\u0301e\u0301", 1)).toBe(2);
  expect(afterGraphemes("abc", Number.POSITIVE_INFINITY)).toBe(3);
});

test("a megabyte of any text is counted at once, and each head counts as requested", () => {
  for (const [unit, each] of [
    ["a", 1],
    ["\r\n", 1],
    ["a\r", 2],
    ["👨‍👩‍👧‍👦", 1],
    ["🇩🇪", 1],
    ["각中", 2],
    ["ne\u0301", 2],
    [`x${"\u0301".repeat(99)}`, 1],
  ] as const) {
    const times = Math.floor(1_000_000 / unit.length);
    const text = unit.repeat(times);
    expect(countGraphemes(text)).toBe(times * each);
    const half = Math.floor(times / 2);
    expect(afterGraphemes(text, half * each)).toBe(half * unit.length);
  }
});

test("a million marks on one letter are few graphemes, the same in every head", () => {
  const text = `a${"\u0301".repeat(1_000_000)}`;
  const count = countGraphemes(text);
  expect(count).toBe(Math.ceil(text.length / (GRAPHEME_UNITS_MAX - 1)));
  for (let head = 0; head <= count; head++) {
    expect(countGraphemes(text.slice(0, afterGraphemes(text, head)))).toBe(head);
  }
});
