import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printableJson, printableLine, printableText } from "./printable.js";

/** What a terminal interprets: control characters, direction overrides, line separators. Repeated here, not imported. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const OBEYED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

describe("stored text", () => {
  it("shows escape sequences instead of sending them", () => {
    expect(printableLine("\u001b]0;owned\u0007\u001b[2J")).toBe("\\e]0;owned\\u0007\\e[2J");
    expect(printableLine("\u009b31m")).toBe("\\u009b31m"); // the same in one character
    expect(printableLine("a\u202egnp.exe")).toBe("a\\u202egnp.exe");
  });

  it("keeps a row a row", () => {
    expect(printableLine("one\ttwo\nthree\r\nfour")).toBe("one\\ttwo\\nthree\\r\\nfour");
  });

  it("keeps lines and tabs where lines are wanted, but no carriage return that would overwrite one", () => {
    expect(printableText("one\ttwo\nthree\r\nfour\rfive")).toBe("one\ttwo\nthree\nfour\\rfive");
  });

  it("leaves words of all scripts, joined emoji and right-to-left text as they are", () => {
    for (const text of ["Čeština 日本語", "שלום עולם", "مرحبا", "👩‍👩‍👧‍👦 🇵🇹", "e\u0301"]) {
      expect(printableLine(text)).toBe(text);
      expect(JSON.parse(printableJson(text))).toBe(text);
    }
  });

  it("contains no control sequences, for any input, and JSON keeps its value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printableLine(text)).not.toMatch(/[\n\t]/);
        for (const shown of [printableLine(text), printableText(text), printableJson({ text }, 2)]) {
          expect(shown).not.toMatch(OBEYED);
        }
        expect(JSON.parse(printableJson({ text }))).toEqual({ text });
      }),
    );
  });
});
