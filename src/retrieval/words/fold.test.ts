import fc from "fast-check";
import { expect, test } from "vitest";
import { foldCase, foldText } from "./fold.js";

const fold = (text: string) => foldCase(foldText(text));

test.each([
  ["French", "Élève", "eleve"],
  ["French ligatures", "Œuvre", "oeuvre"],
  ["German sharp s", "STRAẞE Straße", "strasse strasse"],
  ["German umlauts", "Müller", "muller"],
  ["Turkish dotted capital", "İstanbul", "istanbul"],
  ["Turkish dotless small letter", "ılık", "ilik"],
  ["Polish", "Łódź", "lodz"],
  ["Danish", "Rødgrød Ærø Århus", "rodgrod aero arhus"],
  ["Icelandic", "Þórður", "thordur"],
  ["Vietnamese", "Đà Nẵng, Hà Nội", "da nang, ha noi"],
  ["Greek accents and final sigma", "ὀδός ΟΔΟΣ", "οδοσ οδοσ"],
  ["Russian", "Ёлка", "елка"],
  ["Hebrew points", "שָׁלוֹם", "שלום"],
  ["Hebrew acronyms, typed either way", 'צה״ל צה"ל', "צהל צהל"],
  ["Arabic vowel signs", "كِتَابٌ", "كتاب"],
  ["Arabic tatweel", "كتـــاب", "كتاب"],
  ["Arabic alef and yeh", "أحمد على", "احمد علي"],
  ["Persian letters on an Arabic keyboard", "کتاب", "كتاب"],
  ["Arabic, Persian and Hindi digits", "٣٤ ۳۴ ३४", "34 34 34"],
  ["full width", "ＡＢＣ１２３", "abc123"],
  ["half-width kana", "ｶﾞｷﾞ", "ガギ"],
  ["ligatures and superscripts", "ﬁx² ½", "fix2 1/2"],
  ["apostrophes", "don’t don‘t donʼt don´t don＇t", "don't don't don't don't don't"],
  ["hyphens", "a‐b a‑b a−b", "a-b a-b a-b"],
  ["invisible characters", "in\u00ADvi\u200Cs\u200Di\u2060ble\uFEFF", "invisible"],
])("%s", (_, written, folded) => expect(fold(written)).toBe(folded));

test.each([
  ["Devanagari vowel signs", "कि", "की"],
  ["Devanagari nukta", "क\u093Cा", "का"],
  ["Tamil vowel signs", "கொ", "கா"],
  ["Thai vowels", "ปี", "ปู"],
  ["Thai tone marks", "ไม่", "ไม้"],
  ["kana voicing", "は", "ば"],
  ["kana voicing that has no letter of its own", "あ\u3099", "あ"],
])("%s make another word", (_, one, other) => {
  expect(fold(one)).not.toBe(fold(other));
  expect(fold(one.normalize("NFD"))).toBe(fold(one));
});

test("Thai AM is composed, in the order in which people type it", () => {
  expect(fold("น้ำ")).toBe("น้ำ");
  expect(fold("น\u0E4D\u0E49\u0E32")).toBe("น้ำ");
});

test("every decimal digit of Unicode folds to an ASCII digit", () => {
  const digits: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = code >= 0xd800 && code <= 0xdfff ? "" : String.fromCodePoint(code);
    if (/\p{Nd}/u.test(character)) digits.push(character);
  }
  expect(digits.length).toBeGreaterThan(600);
  expect(foldText(digits.join(""))).toMatch(/^(?:0123456789)+$/);
});

test("ASCII is returned unchanged", () => {
  fc.assert(fc.property(fc.string({ unit: "binary-ascii" }), (text) => foldText(text) === text));
});

test("text between two spaces is folded as if it stood alone", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, text, (one, two) => foldText(`${one} ${two}`) === `${foldText(one)} ${foldText(two)}`));
});

test("a pile of marks that is too high to normalise does not change the text beside it", () => {
  const pile = `a${"\u0301\u0316".repeat(40)}`;
  expect(foldText(`${pile} é\u200Dé 👩‍🚀`)).toBe(`a ${foldText("é\u200Dé 👩‍🚀")}`);
  expect(foldText(`ก${"\u0E48\u0E38".repeat(40)}`).length).toBeLessThan(20);
});
