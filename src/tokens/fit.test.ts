import fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { countGraphemes } from "../graphemes.js";
import { CHARS4 } from "./chars4.js";
import { type Counter, Counters } from "./counters.js";
import { Encoding } from "./encoding.js";
import { headThatFits, TOKEN_UNITS_MAX } from "./fit.js";

const chars4 = new Counters().of(CHARS4);
const head = async (text: string, maxTokens: number, counter: Counter = chars4): Promise<string> =>
  text.slice(0, await headThatFits(text, maxTokens, counter));

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const endsOf = (text: string): number[] =>
  [...graphemes.segment(text)].map(({ index, segment }) => index + segment.length);

const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "A sentence. ",
        "Ends with a line.\n",
        "\r\n",
        "He said “no.” Then",
        "句子。",
        "「はい。」と",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "क्षत्रिय",
        "internationalisation",
        "      ",
        "............",
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

/** Words shorter than ten are a token each; records how it was called. */
class FakeCounter implements Counter {
  readonly name = "fake";
  readonly calls: (readonly string[])[] = [];
  async count(texts: readonly string[]): Promise<readonly number[]> {
    this.calls.push(texts);
    return texts.map((text) => (text.match(/\S{1,10}/g) ?? []).length);
  }
}

describe("the head that fits, four characters to a token", () => {
  it("has eight characters for two tokens, as in the reference implementation", async () => {
    expect(await head("12345678overflow_part", 2)).toBe("12345678");
  });

  it.each([
    ["all of it, if it fits", "12345678", 2, "12345678"],
    ["all of it, if it is empty", "", 2, ""],
    ["nothing, without a budget", "text", 0, ""],
    ["counted as people count", "👨‍👩‍👧‍👦e\u0301👩🏽‍🚒\r\nx", 1, "👨‍👩‍👧‍👦e\u0301👩🏽‍🚒\r\n"],
    ["cut after a line in its last tenth", `${"x".repeat(37)}\nyyyyy`, 10, `${"x".repeat(37)}\n`],
    ["cut after the last of several lines", `${"x".repeat(36)}\ny\nzzzzz`, 10, `${"x".repeat(36)}\ny\n`],
    [
      "not cut after a line that ends before the last tenth",
      `${"x".repeat(34)}\nyyyyyyy`,
      10,
      `${"x".repeat(34)}\nyyyyy`,
    ],
    ["cut where the line's end comes next", `${"x".repeat(38)}\ny\nzz`, 10, `${"x".repeat(38)}\ny`],
    ["cut after a sentence", `${"x".repeat(36)}. yyyyyyy`, 10, `${"x".repeat(36)}.`],
    ["cut after a sentence's closing quotes", `${"x".repeat(35)}?”) yyyyyyy`, 10, `${"x".repeat(35)}?”)`],
    ["cut after a sentence that ends with it", `${"x".repeat(39)}! yyyyyyy`, 10, `${"x".repeat(39)}!`],
    [
      "cut after a sentence without a space behind it",
      `${"中".repeat(35)}。」文文文文文`,
      10,
      `${"中".repeat(35)}。」`,
    ],
    [
      "cut after a sentence that ends with it rather than an earlier one",
      `${"x".repeat(36)}. y! zzz`,
      10,
      `${"x".repeat(36)}. y!`,
    ],
    ["not cut inside a character", `${"中".repeat(36)}。\uFE01文文文文文`, 10, `${"中".repeat(36)}。\uFE01文文文`],
    ["not cut at a number's point", `${"x".repeat(36)}3.14159`, 10, `${"x".repeat(36)}3.14`],
    ["cut after a line rather than a later sentence", `${"x".repeat(36)}\nA. Bcdefg`, 10, `${"x".repeat(36)}\n`],
  ])("is %s", async (_, text, maxTokens, expected) => {
    expect(await head(text, maxTokens)).toBe(expected);
  });

  it("fits, has whole characters, loses at most a tenth, and is never empty if there is text", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 1, max: 60 }), async (text, maxTokens) => {
        const end = await headThatFits(text, maxTokens, chars4);
        const ends = endsOf(text);
        const longest = ends[maxTokens * 4 - 1] ?? text.length;
        expect(countGraphemes(text.slice(0, end))).toBeLessThanOrEqual(maxTokens * 4);
        expect(end).toBeLessThanOrEqual(longest);
        expect(end).toBeGreaterThanOrEqual(longest === text.length ? text.length : longest * 0.9);
        if (text !== "") expect(ends).toContain(end);
      }),
      { numRuns: 500 },
    );
  });

  it("is found in a megabyte of any text", async () => {
    for (const unit of ["a", ".", "\n", ". ", "👨‍👩‍👧‍👦", "\u0301", "。", "「"]) {
      const text = unit.repeat(1_000_000 / unit.length);
      const end = await headThatFits(text, 4096, chars4);
      expect(end).toBeGreaterThan(0);
      expect(countGraphemes(text.slice(0, end))).toBeLessThanOrEqual(4096 * 4);
    }
  });
});

describe("the head that fits, counted for a model", () => {
  it("needs no count if even its bytes fit the budget", async () => {
    const counter = new FakeCounter();
    expect(await head("short", 5, counter)).toBe("short");
    expect(counter.calls).toEqual([]);
  });

  it("needs few calls, and counts little more than the budget allows", async () => {
    const counter = new FakeCounter();
    const text = "seven m ".repeat(200_000);
    expect(countOf(await head(text, 4096, counter))).toBe(4096);
    expect(counter.calls.length).toBeLessThanOrEqual(8);
    expect(Math.max(...counter.calls.flat().map(({ length }) => length))).toBeLessThanOrEqual(4096 * 16);
  });

  it("is known without a count to be shorter than the text if no token is long enough", async () => {
    const counter = new FakeCounter();
    await head(" ".repeat(10 * TOKEN_UNITS_MAX + 1), 10, counter);
    expect(counter.calls.flat().filter((text) => text.length > 10 * TOKEN_UNITS_MAX)).toEqual([]);
    for (const [{ decode }, tokens] of [[o200k, 199_998] as const, [cl100k, 100_256] as const]) {
      let longest = 0;
      for (let token = 0; token < tokens; token++) longest = Math.max(longest, decode([token]).length);
      expect(longest).toBe(TOKEN_UNITS_MAX);
    }
  });

  it("is the whole text if that fits, even if a shorter head does not", async () => {
    const whole = "internationalisation";
    const counter: Counter = { name: "odd", count: async (texts) => texts.map((text) => (text === whole ? 1 : 2)) };
    expect(await head(whole, 1, counter)).toBe(whole);
  });

  it("is empty without a budget", async () => {
    expect(await head("漢字", 0, new FakeCounter())).toBe("");
    expect(await head("\n漢字", -1, new FakeCounter())).toBe("");
  });

  it("is empty if the first character does not fit", async () => {
    const counter: Counter = { name: "greedy", count: async (texts) => texts.map(({ length }) => length * 3) };
    expect(await headThatFits("漢字", 2, counter)).toBe(0);
    expect(await headThatFits("漢字", 3, counter)).toBe(1);
    expect(await headThatFits("👨‍👩‍👧‍👦", 3, counter)).toBe(0);
  });

  it("stays where it is if the text up to the line end takes more tokens", async () => {
    const counter: Counter = {
      name: "odd",
      count: async (texts) => texts.map((text) => (text.endsWith("\n") ? 1000 : text.length)),
    };
    expect(await head(`${"x".repeat(37)}\nyyyyy`, 40, counter)).toBe(`${"x".repeat(37)}\nyy`);
  });

  it("passes on the counter's failure", async () => {
    const counter: Counter = { name: "broken", count: () => Promise.reject(new Error("gone")) };
    await expect(headThatFits("some text", 1, counter)).rejects.toThrow("gone");
  });

  it.each(["o200k_base", "cl100k_base"] as const)("fits exactly in %s, in whole characters", async (name) => {
    const encoding = await Encoding.load(name);
    const counter: Counter = { name, count: async (texts) => encoding.count(texts) };
    const tokens = (text: string): number => encoding.count([text])[0] ?? Number.NaN;
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 1, max: 60 }), async (text, maxTokens) => {
        const end = await headThatFits(text, maxTokens, counter);
        expect(tokens(text.slice(0, end))).toBeLessThanOrEqual(maxTokens);
        const ends = [0, ...endsOf(text)];
        expect(ends).toContain(end);
        if (end === text.length) return;
        // Within the last tenth, which may be given up for a boundary, some head cannot be longer by one.
        const longest = ends.filter(
          (at, index) =>
            at >= end &&
            end >= at * 0.9 &&
            tokens(text.slice(0, at)) <= maxTokens &&
            tokens(text.slice(0, ends[index + 1])) > maxTokens,
        );
        expect(longest).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

function countOf(text: string): number {
  return (text.match(/\S{1,10}/g) ?? []).length;
}
