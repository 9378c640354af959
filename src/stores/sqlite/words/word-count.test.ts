import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse } from "../../../retrieval/words/analyse.js";
import { packWords, unpackWords } from "../rows/codec.js";
import { countIn } from "./word-reader.js";

describe("counting a term in stored words", () => {
  it.each([
    ["alone", "lamp", 1],
    ["alone, several times", "lamp*3", 3],
    ["first", "lamp rope", 1],
    ["first, several times", "lamp*12 rope", 12],
    ["between others", "sea lamp rope", 1],
    ["last", "sea lamp", 1],
    ["last, several times", "sea lamp*40", 40],
    ["after words that contain it", "lampshade headlamp lamp*2", 2],
    ["not in what begins with it", "lampshade lamp- lamp.js*2", 0],
    ["not in what ends with it", "headlamp*2 a.lamp", 0],
    ["not in nothing", "", 0],
  ])("finds it %s", (_, packed, count) => expect(countIn(packed, "lamp")).toBe(count));

  it("does not take a count, or a part of one, for a term", () => {
    expect(countIn("lamp*3 sea*31", "3")).toBe(0);
    expect(countIn("lamp*3 3*2 31", "3")).toBe(2);
  });

  it("says what taking the words apart says", () => {
    // Few letters, so that terms begin, end and repeat each other; and whatever analysis makes of any text.
    const term = fc.string({ unit: fc.constantFrom("a", "b", "1", "-", "é", "👍"), minLength: 1, maxLength: 4 });
    const words = fc.array(fc.tuple(term, fc.integer({ min: 1, max: 120 }))).map((pairs) => new Map(pairs));
    const analysed = fc.string({ unit: "binary" }).map((text) => new Map(analyse(text)));
    fc.assert(
      fc.property(fc.oneof(words, analysed), fc.array(term), (counts, others) => {
        const packed = packWords(counts);
        const unpacked = unpackWords(packed);
        for (const one of [...counts.keys(), ...others]) {
          expect(countIn(packed, one), one).toBe(unpacked.get(one) ?? 0);
        }
      }),
    );
  });
});
