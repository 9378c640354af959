import { expect, test } from "vitest";
import type { Chunkable } from "./chunk.js";
import { textOf } from "./draft.js";
import { chunkStrategy } from "./strategy.js";

const ann = (key: number, content: string): Chunkable => ({ key, version: 1, name: "Ann", content });
const bob = (key: number, content: string): Chunkable => ({ key, version: 4, name: "Bob", content });
const message = chunkStrategy("message");
const contextual = chunkStrategy("contextual");
const texts = (drafts: Iterable<Parameters<typeof textOf>[0]>): string[] => [...drafts].map(textOf);

test("with `message`, every piece names its speaker and contains nothing from before", () => {
  const item = ann(2, "I moved to Lisbon in May. My sister stayed in Ghent.");
  expect(texts(message.split(item, [bob(1, "Where do you live?")]))).toEqual([
    "Ann: I moved to Lisbon in May.",
    "Ann: My sister stayed in Ghent.",
  ]);
  expect(message.neighbours).toBe(0);
});

test("a piece has no name if the message has none", () => {
  for (const item of [
    { key: 1, version: 1, content: "hello there" },
    { key: 1, version: 1, name: " ", content: "hello there" },
  ]) {
    expect(texts(message.split(item, []))).toEqual(["hello there"]);
  }
});

test("with `contextual`, every piece contains the two messages before it and the piece before it", () => {
  const earlier = [ann(1, "Long ago."), ann(2, "Where do you live?"), bob(3, "Why do you ask?")];
  const item = ann(4, "I moved to Lisbon in May. It was hard for my sister.");
  expect(texts(contextual.split(item, earlier))).toEqual([
    "Ann: Where do you live?\nBob: Why do you ask?\nAnn: I moved to Lisbon in May.",
    "Ann: Where do you live?\nBob: Why do you ask?\nAnn: I moved to Lisbon in May.\nAnn: It was hard for my sister.",
  ]);
});

test("`contextual` takes the end of a long message before, from the start of a word", () => {
  const words = Array.from({ length: 500 }, (_, at) => `word${at}`).join(" ");
  const [text = ""] = texts(contextual.split(ann(2, "And then?"), [bob(1, `${words}\n\n`)]));
  const [before = "", own] = text.split("\n");
  expect(own).toBe("Ann: And then?");
  expect(before).toMatch(/^Bob: word\d+ .* word499$/);
  expect(before.length).toBeLessThanOrEqual(205);
  expect(before.length).toBeGreaterThan(190);
});

test.each([
  ["Chinese", "我们去年夏天从布鲁塞尔搬到了里斯本"],
  ["Thai", "ฉันย้ายไปลิสบอนเมื่อปีที่แล้ว "],
  ["Hindi", "मैं पिछले साल लिस्बन चला गया "],
  ["families", "👨‍👩‍👧‍👦 "],
  ["letters with marks", "e\u0301\u0302"],
])("of a long message in %s it carries whole graphemes", (_what, unit) => {
  const content = unit.repeat(100).trim();
  const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
  const starts = new Set([...graphemes.segment(content)].map(({ index }) => index));
  const [draft] = contextual.split(ann(2, "And then?"), [bob(1, content)]);
  const carried = draft?.context[0]?.text ?? "";
  expect(carried.length).toBeGreaterThan(100);
  expect(content.endsWith(carried)).toBe(true);
  expect(starts.has(content.length - carried.length)).toBe(true);
});

test("it takes whole words from a long Chinese message", () => {
  for (let length = 300; length < 320; length++) {
    const content = "我们去年夏天从布鲁塞尔搬到了里斯本".repeat(30).slice(0, length);
    const words = new Intl.Segmenter("en", { granularity: "word" });
    const starts = new Set([...words.segment(content)].map(({ index }) => index));
    const [draft] = contextual.split(ann(2, "And then?"), [bob(1, content)]);
    expect(starts.has(content.length - (draft?.context[0]?.text.length ?? 0))).toBe(true);
  }
});

test("nothing is borrowed from an empty message or one that cannot be cut", () => {
  for (const content of ["", "  \n", "🇩".repeat(2000), `a${"\u0301".repeat(5000)}`]) {
    const [draft] = contextual.split(ann(2, "And then?"), [bob(1, content)]);
    expect(draft?.context).toEqual([]);
  }
});

test("drafts are produced on demand", () => {
  const content = "All is well. ".repeat(100_000);
  const started = process.cpuUsage();
  const [first] = contextual.split(ann(2, content), []);
  const oneUs = process.cpuUsage(started).user;
  expect(first?.start).toBe(0);
  const again = process.cpuUsage();
  expect([...contextual.split(ann(2, content), [])].length).toBeGreaterThan(1000);
  expect(process.cpuUsage(again).user).toBeGreaterThan(oneUs * 3);
});
