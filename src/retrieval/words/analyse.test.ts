import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { heapUsed } from "../../testing/heap-used.js";
import { ANALYSIS_VERSION, analyse } from "./analyse.js";
import { TERM_UNITS_MAX } from "./terms.js";

const terms = (text: string) => [...analyse(text).keys()];
const sorted = (words: ReadonlyMap<string, number>) => [...words].sort(([one], [two]) => (one < two ? -1 : 1));

test("the version is part of every stored index", () => {
  expect(ANALYSIS_VERSION).toBe(5);
});

test("a message becomes its stems, with their counts", () => {
  expect([...analyse("The dogs walked, and the DOG walks.")]).toEqual([
    ["the", 2],
    ["dog", 2],
    ["walk", 2],
    ["and", 1],
  ]);
});

test.each([
  "",
  " \t\n",
  "...!!! -- '' \"\" * ?",
  "+++ ### @@@ //// ~~~",
  "\u0000\u0007\u001B",
  "\u0301\u093F",
  "\uFFFD",
])("%j has no terms", (text) => expect(terms(text)).toEqual([]));

test.each([
  "walk",
  "Walk",
  "WALK",
  "Straße",
  "Köln",
  "Ελλάδα",
  "мир",
  "हिन्दी",
  "שלום",
  "سلام",
  "tiếng",
  "word\u00ADbreak",
])("the plain word %s is one term", (word) => expect(terms(word)).toHaveLength(1));

describe("a question finds the message in", () => {
  test.each([
    ["German", "strasse müller", "Frau MULLER wohnt in der Hauptstraße 5, Straße links"],
    ["Turkish", "ISTANBUL ışık", "İstanbul'da IŞIK var"],
    ["Greek", "οδος ΑΘΗΝΑ", "Η οδός στην Αθήνα"],
    ["Russian", "елка ПРИВЕТ", "Привет! Вот ёлка."],
    ["Ukrainian", "п’ять", "у мене п'ять яблук"],
    ["Arabic", "كتاب احمد", "هذا كِتَابُ أحمد"],
    ["Persian", "میخواهم", "من می\u200Cخواهم"],
    ["Hebrew", "שלום", "שָׁלוֹם לכולם"],
    ["Hindi", "हिन्दी", "मुझे हिन्दी आती है।"],
    ["Thai", "ทำงาน", "ฉันทำงานที่กรุงเทพ"],
    ["Chinese", "北京", "我昨天在北京"],
    ["Japanese", "東京", "昨日は東京に行きました"],
    ["Korean", "학교", "나는 학교에서 공부한다"],
    ["Vietnamese", "ha noi", "Tôi sống ở Hà Nội"],
    ["French", "ecole avion", "L’avion passe sur l'École"],
    ["Hawaiian", "Hawaii", "Aloha from Hawaiʻi"],
    ["emoji", "👍", "great 👍🏿!"],
    ["English", "Where did she go, and what did her children buy?", "She did: her child went and bought it"],
  ])("%s", (_, question, text) => {
    const found = analyse(text);
    const missing = terms(question).filter((term) => !found.has(term));
    expect(missing.filter((term) => !["where", "what"].includes(term))).toEqual([]);
  });
});

describe("a term", () => {
  test("is cut at 64 units, and its parts are still found", () => {
    const long = Array.from({ length: 30 }, (_, index) => `part${String.fromCharCode(97 + (index % 26))}`).join("_");
    expect(terms(long)[0]).toBe(long.slice(0, 64));
    expect(analyse(long).has("partz")).toBe(true);
    expect(terms("x".repeat(100))).toEqual(["x".repeat(64)]);
  });

  test("is cut between code points", () => {
    const deseret = "𐐨".repeat(40);
    expect(terms(`a${deseret}`)).toEqual([`a${"𐐨".repeat(31)}`]);
  });

  test("does not retain the text it comes from", () => {
    terms("warm-up");
    const before = heapUsed();
    const kept = Array.from({ length: 100 }, (_, index) => {
      const name = `unforgettable${String.fromCharCode(97 + (index % 26))}words`;
      return terms(`${name}_${name} ${name} ${" ".repeat(70_000)}${index}`);
    });
    const keptMegabytes = (heapUsed() - before) / 2 ** 20;
    expect(kept).toHaveLength(100);
    expect(keptMegabytes).toBeLessThan(3);
  });
});

/** Hostile text: words and identifiers of all scripts, mixed with any Unicode. */
const PIECES = [
  ..."aZ9 '’\"*.,-_/\\:@&+#~\n\t\u0000ßİıςΣéøæ",
  ..."\u0301\u0316\u0345\u064B\u0640\u05B8\u093F\u0E48\u0E38\u3099\u200B\u200C\u200D\u00AD\uFE0F\u20E3\u2060",
  ..."漢字かカﾞ가각각กำລຳខ្မမြ𠮷𐐀𐐨𑄀٣३",
  ..."😂👨👩❤🏽🇩🇪🏴\u{E0067}\u{E007F}©½ﷺŉǅΐ↮≠ÅK\uFFFD",
  "'s",
  "don't",
  "getUserName",
  "1,000",
  "ada@example.com",
  "👨\u200D👩",
  "1\uFE0F\u20E3",
];
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const runs = { numRuns: 3000 };

describe("for any text", () => {
  const brokenText = fc.oneof(
    text,
    fc.array(fc.oneof(piece, fc.constantFrom("\uD83D", "\uDE02", "\uDC00\uD800"))).map((pieces) => pieces.join("")),
  );

  test("the guarantees for terms hold, even if it is not well-formed", () => {
    fc.assert(
      fc.property(brokenText, (any) => {
        for (const [term, count] of analyse(any)) {
          expect(term.length).toBeGreaterThan(0);
          expect(term.length).toBeLessThanOrEqual(TERM_UNITS_MAX);
          expect(term).toMatch(/^[^\s"*\p{Cc}\p{Cf}\p{Cs}]+$/u);
          expect(term).toMatch(/^[^!$%()*,;<=>?[\\\]^`{|}'"A-Z]+$/);
          expect(term).toMatch(/[\p{L}\p{N}]|\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u);
          expect(Number.isInteger(count) && count > 0).toBe(true);
        }
      }),
      runs,
    );
  });

  test("all normalisation forms have the same terms", () => {
    fc.assert(
      fc.property(text, (any) => {
        const expected = sorted(analyse(any));
        expect(sorted(analyse(any.normalize("NFC")))).toEqual(expected);
        expect(sorted(analyse(any.normalize("NFD")))).toEqual(expected);
      }),
      runs,
    );
  });

  test("two texts joined by a space have the terms of both", () => {
    fc.assert(
      fc.property(text, text, (one, two) => {
        const both = new Map(analyse(one));
        for (const [term, count] of analyse(two)) both.set(term, (both.get(term) ?? 0) + count);
        expect(sorted(analyse(`${one} ${two}`))).toEqual(sorted(both));
      }),
      runs,
    );
  });
});

test("a word in capitals is the same word", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzäéßжщйύςσø"), minLength: 1 });
  fc.assert(
    fc.property(word, (any) => {
      expect(terms(any.toUpperCase())).toEqual(terms(any));
    }),
  );
});

test("words evicted from the cache have the same terms again", () => {
  const before = [...analyse("The children went swimming in Zürich")];
  const letters = (number: number) => [...String(number)].map((digit) => "bcdfghjklm"[Number(digit)]).join("");
  for (let word = 0; word < 120_000; word++) analyse(letters(word));
  expect([...analyse("The children went swimming in Zürich")]).toEqual(before);
});
