import fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { tokensAtMost } from "./bound.js";
import { Encoding, WORD_MAX } from "./encoding.js";

const PLAIN = { disallowedSpecial: new Set<string>() };
const SAMPLES = [
  "",
  "I moved to Lisbon in May, and I don't miss the rain!",
  "Größe, naïve façade, Łódź, İstanbul, ﬁnance",
  "Съешь же ещё этих мягких французских булок, да выпей чаю.",
  "我五月搬到了里斯本，天气很好。你呢？今天我们去海边散步，然后吃了烤沙丁鱼。",
  "吾輩は猫である。名前はまだ無い。",
  "아침에 커피를 두 잔 마셨어요.",
  "मैं मई में लिस्बन चला गया।",
  "انتقلت إلى لشبونة في مايو",
  "🧑🏽‍🚀👩‍👩‍👧‍👦 🇵🇹 e\u0301\u0301\u0301",
  "const f = (x: number[]) => x.map((y) => y ** 2); // ∑\n\n\n\t\t  return;\r\n",
  "https://example.org/a/b/c?d=e&f=%20#g 1234567890 3.14159",
  "lone \ud800 surrogate \udc00 and \u0000 and \ufeff",
  `a${" ".repeat(300)}b${"\n".repeat(300)}c \t \r\n`,
  `${"x".repeat(WORD_MAX - 1)} ${"漢".repeat(WORD_MAX)}。${"ab, ".repeat(200)}`,
];

describe.each([["o200k_base", o200k] as const, ["cl100k_base", cl100k] as const])("counting in %s", (name, library) => {
  const exact = (text: string): number => library.countTokens(text, PLAIN);

  it("is exact for samples in many languages and scripts", async () => {
    const encoding = await Encoding.load(name);
    expect(encoding.count(SAMPLES)).toEqual(SAMPLES.map(exact));
  });

  it("is exact for any text without long words, even if it has to search for them, and within the bound", async () => {
    const encoding = await Encoding.load(name);
    const part = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(" ", "\n", " \n ", "\t", "'s", "'LL", "/", "Ab", "漢字", "e\u0301", "12", "😀", "\ud83d"),
    );
    // A long run of non-blanks whose words are short.
    const run = fc.constantFrom("", "a,".repeat(WORD_MAX), "Ab1".repeat(WORD_MAX));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), run, fc.array(part, { maxLength: 30 }), (head, middle, tail) => {
        const text = head.join("") + middle + tail.join("");
        const [count = Number.NaN] = encoding.count([text]);
        expect(count).toBe(exact(text));
        expect(count).toBeLessThanOrEqual(tokensAtMost(text));
      }),
      { numRuns: 300 },
    );
  });

  it("counts special tokens as text", async () => {
    const encoding = await Encoding.load(name);
    const [whole = 0, word = 0] = encoding.count(["<|endoftext|>", "endoftext"]);
    expect(whole).toBeGreaterThan(word);
    expect(encoding.count(["<|im_start|>system<|im_end|><|fim_prefix|>"])[0]).toBeGreaterThan(4);
  });

  it("is off by at most two tokens per cut for words that are cut", async () => {
    const encoding = await Encoding.load(name);
    for (const unit of ["a", "ab", "漢字", "नमस्ते", "😀", "=", "xQ", "é", "😀漢", "thequickbrownfox"]) {
      const word = unit.repeat(Math.ceil((3 * WORD_MAX + 100) / unit.length));
      const [count = Number.NaN] = encoding.count([word]);
      expect(Math.abs(count - exact(word))).toBeLessThanOrEqual(2 * 3);
    }
  });

  it("splits no character", async () => {
    const encoding = await Encoding.load(name);
    // No two of these ever form one token, so cuts between them change nothing.
    for (const head of ["", "."]) {
      const word = head + "😀".repeat(WORD_MAX);
      expect(encoding.count([word])).toEqual([exact(word)]);
    }
  });

  it("counts 200,000 characters without a blank, which would take minutes in quadratic time", async () => {
    const encoding = await Encoding.load(name);
    const [count = Number.NaN] = encoding.count(["漢字仮名".repeat(50_000)]);
    expect(count).toBeGreaterThan(100_000);
    expect(count).toBeLessThanOrEqual(600_000);
  });
});
