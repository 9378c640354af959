import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { wrapped } from "./wrap.js";

describe("text that is wrapped", () => {
  it("breaks between words, keeps its own lines and indentation, and splits only words that are too long", () => {
    expect(wrapped("the quick brown fox", 10, stringWidth)).toBe("the quick\nbrown fox");
    expect(wrapped("one\n\n  two three", 8, stringWidth)).toBe("one\n\n  two\nthree");
    expect(wrapped("a bookkeeper", 6, stringWidth)).toBe("a\nbookke\neper");
    expect(wrapped("日本語です", 4, stringWidth)).toBe("日本\n語で\nす");
    expect(wrapped("fits", 4, stringWidth)).toBe("fits");
  });

  it("never is too wide, and loses only the spaces at which it breaks", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", " ", "語", "e\u0301"), maxLength: 60 }),
        fc.integer({ min: 2, max: 20 }),
        (text, width) => {
          const shown = wrapped(text, width, stringWidth);
          for (const line of shown.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(width);
          expect(shown.replace(/[\n ]/g, "")).toBe(text.replaceAll(" ", ""));
        },
      ),
    );
  });
});
