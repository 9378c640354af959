import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { cut, padEnd, padStart } from "./cut.js";

describe("text that is cut to a width", () => {
  it("is left alone if it fits", () => {
    expect(cut("Lisbon", 6)).toBe("Lisbon");
    expect(cut("", 0)).toBe("");
  });

  it("ends with an ellipsis if it does not", () => {
    expect(cut("Lisbon in May", 8)).toBe("Lisbon…");
    expect(cut("Lisbon", 1)).toBe("…");
    expect(cut("Lisbon", 0)).toBe("");
  });

  it("counts columns, not characters", () => {
    expect(cut("日本語です", 6)).toBe("日本…");
    expect(cut("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3)).toBe("👩‍👩‍👧‍👦…");
  });

  it("never cuts a grapheme and never is too wide", () => {
    const segments = (text: string) => [...new Intl.Segmenter("en").segment(text)].map(({ segment }) => segment);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-composite", maxLength: 60 }), fc.nat(40), (text, width) => {
        const shown = cut(text, width);
        expect(stringWidth(shown)).toBeLessThanOrEqual(Math.max(width, 0));
        if (shown === text || shown === "") return;
        const kept = shown.slice(0, -1);
        expect(text.startsWith(kept)).toBe(true);
        expect(segments(text).slice(0, segments(kept).length).join("")).toBe(kept);
      }),
    );
  });

  it("ends after a word, where it ended in the middle of one, unless that would lose half of it", () => {
    expect(cut("the quick brown fox", 12)).toBe("the quick…");
    expect(cut("a bookkeeper", 8)).toBe("a bookk…");
    expect(cut("the quick brown fox", 10)).toBe("the quick…");
  });

  it("cuts a text of 8 MB", () => {
    expect(cut("x".repeat(8_000_000), 20)).toBe(`${"x".repeat(19)}…`);
  });

  it("is padded by columns", () => {
    expect(padEnd("日本", 6)).toBe("日本  ");
    expect(padStart("日本", 6)).toBe("  日本");
    expect(padEnd("too long", 3)).toBe("too long");
  });
});
