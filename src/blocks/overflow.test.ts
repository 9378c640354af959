import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countChars4 } from "../tokens/chars4.js";
import { type Counter, Counters } from "../tokens/counters.js";
import { splitOverflow } from "./overflow.js";

const chars4 = new Counters().of("chars4");
const graphemesOf = (text: string): string[] =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);

describe("the overflow of a block", () => {
  it("is as in the reference implementation", async () => {
    expect(await splitOverflow("12345678overflow_part", 2, chars4)).toEqual({
      kept: "12345678",
      overflow: "overflow_part",
    });
    expect(await splitOverflow("short", 1024, chars4)).toBeUndefined();
  });

  it("is empty for an empty block, or one that just fits", async () => {
    expect(await splitOverflow("", 1, chars4)).toBeUndefined();
    expect(await splitOverflow("e\u0301".repeat(4), 1, chars4)).toBeUndefined();
  });

  it("is everything that does not fit, for any text and budget: nothing is lost, and no character is cut", async () => {
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: "grapheme", maxLength: 40 }),
          fc.string({ unit: "binary" }),
          fc.constantFrom("A line.\n", "A sentence. ", "👨‍👩‍👧‍👦", "e\u0301", "\r\n", "句子。"),
        ),
        { maxLength: 20 },
      )
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (content, maxTokens) => {
        const split = await splitOverflow(content, maxTokens, chars4);
        expect(split === undefined).toBe(countChars4(content) <= maxTokens);
        if (!split) return;
        const { kept, overflow } = split;
        expect(kept + overflow).toBe(content);
        expect(kept).not.toBe("");
        expect(overflow).not.toBe("");
        expect(countChars4(kept)).toBeLessThanOrEqual(maxTokens);
        expect([...graphemesOf(kept), ...graphemesOf(overflow)]).toEqual(graphemesOf(content));
      }),
      { numRuns: 500 },
    );
  });

  it("is everything if a model needs more than the budget for the first character", async () => {
    const counter: Counter = { name: "greedy", count: async (texts) => texts.map((text) => text.length * 3) };
    expect(await splitOverflow("👨‍👩‍👧‍👦!", 2, counter)).toEqual({ kept: "", overflow: "👨‍👩‍👧‍👦!" });
  });
});
