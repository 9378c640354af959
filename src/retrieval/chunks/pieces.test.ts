import { expect, test } from "vitest";
import { pieces } from "./pieces.js";

const split = (content: string): string[] => [...pieces(content)].map(({ start, end }) => content.slice(start, end));
const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(" ");

test("a short message is split into its sentences", () => {
  expect(split("I moved to Lisbon in May. My sister still lives in Ghent!  Where do you live?")).toEqual([
    "I moved to Lisbon in May.",
    "My sister still lives in Ghent!",
    "Where do you live?",
  ]);
});

test("a plain line is one piece, trimmed", () => {
  expect(split("  \t the cat is on the roof\n")).toEqual(["the cat is on the roof"]);
  expect(split("Is the cat on the roof?! ")).toEqual(["Is the cat on the roof?!"]);
});

test("white space alone has no pieces", () => {
  for (const content of ["", " ", "\n\n\r\n", "\u3000\u00A0\uFEFF", " ".repeat(10_000)])
    expect(split(content)).toEqual([]);
});

test.each([
  ["Yes.", ["Yes."]],
  ["Ok! I will bring the red tent tomorrow.", ["Ok! I will bring the red tent tomorrow."]],
  ["I will bring the red tent tomorrow. Ok!", ["I will bring the red tent tomorrow. Ok!"]],
  ["Yes. No. Ok! Hm.", ["Yes. No. Ok! Hm."]],
  ["1. Buy a tent for two.\n2. Call Ada about it.", ["1. Buy a tent for two.", "2. Call Ada about it."]],
])("what means nothing alone goes with its neighbour: %j", (content, expected) => {
  expect(split(content)).toEqual(expected);
});

test.each([
  ["Chinese", "我去年搬到了里斯本。我妹妹还住在根特!你住在哪里?", 3],
  ["Japanese", "去年リスボンに引っ越しました。妹はまだヘントに住んでいます。どこに住んでいますか?", 3],
  ["Thai", "ปีที่แล้วฉันย้ายไปลิสบอน\nน้องสาวยังอยู่ที่เกนต์", 2],
  ["Arabic", "انتقلت إلى لشبونة العام الماضي. ما زالت أختي تعيش في غنت. أين تسكن؟", 3],
  ["Hindi", "मैं पिछले साल लिस्बन चला गया। मेरी बहन अब भी गेन्ट में रहती है। तुम कहाँ रहते हो?", 3],
  ["Greek", "Πέρυσι μετακόμισα στη Λισαβόνα. Η αδελφή μου μένει στη Γάνδη.", 2],
  ["emoji", "We won the cup today 🎉🎉! The whole family was there 👨‍👩‍👧‍👦.", 2],
])("%s is split into its sentences", (_language, content, count) => {
  expect(split(content)).toHaveLength(count);
});

test("abbreviations do not break sentences", () => {
  const content = "Dr. Smith met Mr. Jones at 5 p.m. They talked about e.g. the U.S. economy, etc. and left.";
  expect(split(content).join(" ")).toBe(content);
});

test("a message is short up to 600 units; beyond that, sentences are combined", () => {
  const content = (count: number): string => Array(count).fill("This sentence has thirty-nine units....").join(" ");
  expect(content(15)).toHaveLength(599);
  expect(split(content(15))).toHaveLength(15);
  expect(split(content(16)).map(({ length }) => length)).toEqual([279, 279, 79]);
});

test("a long message is split into whole sentences, combined up to 300 units", () => {
  const sentences = Array.from({ length: 200 }, (_, at) => `Sentence number ${at} says ${words(1 + (at % 9))}.`);
  const found = split(sentences.join(" "));
  expect(found.join(" ")).toBe(sentences.join(" "));
  for (const piece of found) {
    expect(piece.length).toBeLessThanOrEqual(300);
    expect(piece).toMatch(/^Sentence .*\.$/);
  }
  for (const piece of found.slice(0, -1)) expect(piece.length).toBeGreaterThan(200);
});

test("an endless sentence is cut between words", () => {
  const found = split(words(3000));
  expect(found.join(" ")).toBe(words(3000));
  for (const piece of found) expect(piece.length).toBeLessThanOrEqual(450);
});

test.each([
  ["Chinese", "我们去年夏天从布鲁塞尔搬到了里斯本"],
  ["Thai", "ฉันย้ายไปลิสบอนเมื่อปีที่แล้ว"],
])("%s without end is cut between words, too", (_language, phrase) => {
  const content = phrase.repeat(200);
  const found = split(content);
  expect(found.join("")).toBe(content);
  const starts = new Set(
    [...new Intl.Segmenter("en", { granularity: "word" }).segment(content)].map(({ index }) => index),
  );
  let at = 0;
  for (const piece of found) {
    expect(starts.has(at)).toBe(true);
    expect(piece.length).toBeLessThanOrEqual(450);
    at += piece.length;
  }
});

test("a word of 100,000 letters is cut, and nothing is lost", () => {
  const found = split("a".repeat(100_000));
  expect(found.join("")).toHaveLength(100_000);
  for (const piece of found) expect(piece.length).toBeLessThanOrEqual(450);
});

test.each([
  ["code", "```ts\nfor (const a of b) {\n  if (a.c?.d) return;\n}\n```\n".repeat(40)],
  ["a table", "| name | city |\n|---|---|\n| Ada | Lisbon |\n".repeat(40)],
  ["URLs", "https://example.com/a/b?c=d&e=f#g.h!i ".repeat(40)],
])("%s is kept whole, apart from white space", (_what, content) => {
  const bare = (text: string): string => text.replace(/\s/g, "");
  const found = split(content);
  expect(bare(found.join(""))).toBe(bare(content));
  for (const piece of found) expect(piece.length).toBeLessThanOrEqual(450);
});

test("a fact at the end of 20,000 words has a piece of its own", () => {
  const fact = "The key to the boat house lies under the blue pot.";
  const found = split(`${words(20_000)}. ${fact}`);
  const last = found.at(-1) ?? "";
  expect(last.endsWith(fact)).toBe(true);
  expect(last.length).toBeLessThanOrEqual(300);
});
