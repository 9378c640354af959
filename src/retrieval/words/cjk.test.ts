import fc from "fast-check";
import { expect, test } from "vitest";
import { analyse } from "./analyse.js";

const terms = (text: string) => [...analyse(text).keys()];
const finds = (question: string, text: string) => terms(question).every((term) => analyse(text).has(term));

test("Chinese is indexed by characters and pairs", () => {
  expect(terms("我爱北京")).toEqual(["我", "爱", "我爱", "北", "爱北", "京", "北京"]);
});

test.each([
  ["Chinese, two characters", "北京", "我昨天在北京吃了烤鸭"],
  ["Chinese, one character", "鸭", "我昨天在北京吃了烤鸭"],
  ["Chinese beside Latin", "语言", "C语言很难"],
  ["Chinese beside digits", "第3章", "请看第3章。"],
  ["Japanese kanji inside kana", "東京", "昨日は東京に行きました"],
  ["Japanese katakana", "ラーメン", "美味しいラーメンを食べた"],
  ["half-width katakana", "ﾗｰﾒﾝ", "美味しいラーメンを食べた"],
  ["katakana with voicing marks apart", "ガラス".normalize("NFD"), "ガラスの靴"],
  ["full-width Latin in Japanese", "ABC", "ＡＢＣを学ぶ"],
  ["a character beyond the first plane", "𠮷野家", "昨日𠮷野家で食べた"],
  ["one character beyond the first plane", "𠮷", "昨日𠮷野家で食べた"],
  ["Korean noun before a particle", "학교", "나는 학교에서 공부한다"],
  ["Korean, one character", "집", "집에 가고 싶다"],
  ["Korean word", "학교에서", "나는 학교에서 공부한다"],
  ["Korean with its letters apart", "학교".normalize("NFD"), "나는 학교에서 공부한다"],
])("%s: %s", (_, question, text) => expect(finds(question, text)).toBe(true));

test("a pair does not match characters that are apart", () => {
  expect(finds("京北", "北京")).toBe(false);
  expect(analyse("北。京").has("北京")).toBe(false);
});

test("a Korean word of two characters is counted once", () => {
  expect([...analyse("학교")]).toEqual([
    ["학", 1],
    ["교", 1],
    ["학교", 1],
  ]);
});

test("a longer Korean word is also a term; a Chinese run is not", () => {
  expect(analyse("학교에서").has("학교에서")).toBe(true);
  expect(analyse("我爱北京").has("我爱北京")).toBe(false);
});

test("any one or two characters of a run find it", () => {
  const run = fc.string({ unit: fc.constantFrom(..."北京上海東大阪カナ가나𠮷々ー"), minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(run, fc.nat(), fc.integer({ min: 1, max: 2 }), (text, seed, size) => {
      const characters = [...text];
      const start = seed % characters.length;
      expect(finds(characters.slice(start, start + size).join(""), text)).toBe(true);
    }),
  );
});
