import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escaped, escapedJson, rendered } from "./rendered.js";

/** Written again, not imported. */
const DIRECTION = [0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
const HIDDEN = [0x00ad, 0x034f, 0x115f, 0x180e, 0x200b, 0x2060, 0x2064, 0x206f, 0x3164, 0xfeff, 0xffa0, 0xfffb];
const TAGS = [0xe0001, 0xe0020, 0xe0041, 0xe007a, 0xe007f, 0xe0100, 0xe01ef];
const CONTROLS = [0, 1, 7, 8, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x2028, 0x2029];

describe("rendered text", () => {
  it("removes what reverses its direction or is invisible", () => {
    for (const code of [...DIRECTION, ...HIDDEN, ...TAGS, 0x200c, 0x200d, 0xfe0f]) {
      expect(rendered(`1 ${String.fromCodePoint(code)}`), code.toString(16)).toBe("1 ");
    }
    expect(rendered("a\u202egnp.exe")).toBe("agnp.exe");
  });

  it("marks the place of a control character, so that no escape sequence is left", () => {
    for (const code of CONTROLS)
      expect(rendered(`a${String.fromCodePoint(code)}b`), code.toString(16)).toBe("a\ufffdb");
    expect(rendered("\u001b]0;owned\u0007\u009b31m")).toBe("\ufffd]0;owned\ufffd\ufffd31m");
  });

  it("hides no second text behind letters, emoji and flags", () => {
    const hidden = [..."ignore"].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("");
    expect(rendered(`a${hidden}b`)).toBe("ab");
    expect(rendered(`🏴${hidden}${hidden}\u{e007f}`)).toBe("🏴");
    expect(rendered("a\u200d\u200c\u200d\u200cb")).toBe("a\u200db");
    expect(rendered("👍\ufe0f\ufe0e\ufe01\u{e0100}")).toBe("👍\ufe0f");
  });

  it("keeps words of all scripts and emoji unchanged", () => {
    const texts = [
      ...["Čeština 日本語", "שלום עולם", "مرحبا", "می\u200cخواهم", "क्\u200dष", "葛\u{e0100}城", "e\u0301\t\n"],
      ...[
        "👩\u200d👩\u200d👧\u200d👦 🇵🇹",
        "🧑🏽\u200d🚀",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
      ],
    ];
    for (const text of texts) {
      expect(rendered(text)).toBe(text);
      expect(escaped(text)).toBe(text);
    }
  });

  it("can be escaped instead, without changing the value of JSON", () => {
    expect(escaped("a\u202eb\u001b[2J\u{e0041}\r\u200b")).toBe("a\\u202eb\\e[2J\\u{e0041}\\r\\u200b");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(JSON.parse(escapedJson(JSON.stringify({ text })))).toEqual({ text });
        for (const shown of [rendered(text), escaped(text), escapedJson(JSON.stringify(text))]) {
          expect(rendered(shown)).toBe(shown);
        }
      }),
    );
  });
});
