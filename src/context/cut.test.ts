import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { graphemeStart } from "../graphemes.js";
import { countChars4 } from "../tokens/chars4.js";
import { type Counter, Counters } from "../tokens/counters.js";
import { cutToFit, firstToCut, leastOf } from "./cut.js";
import { CUT, heading, quoted } from "./fence.js";
import { Measure } from "./measure.js";
import type { Piece } from "./piece.js";

const chars4 = new Counters().of("chars4");
/** Tokens that are not additive: a run of letters or digits is one token, everything else one per unit. */
const words: Counter = {
  name: "words",
  count: async (texts) => texts.map((text) => [...text.matchAll(/[\p{L}\p{N}]+|./gsu)].length),
};

function piece(content: string): Piece {
  const space = { user: "ada" };
  const fixed = {
    part: "recall",
    kind: "message",
    id: "m1",
    space,
    version: 1,
    ref: "m1",
    state: 1,
    keys: [],
  } as const;
  return { ...fixed, head: heading("message m1"), body: quoted(content) };
}

const whole = (_: Piece, shown: string): string => `before\n${shown}`;

describe("cutting", () => {
  it.each([chars4, words])(
    "shows whole graphemes from the start, within the budget of $name, if one fits",
    async (counter) => {
      const text = fc
        .array(
          fc.oneof(
            fc.string({ unit: "grapheme" }),
            fc.constantFrom("👩‍👩‍👧‍👦", "e\u0301\u0302", "\n", "\n\n\u0301", "🇵🇹🇵🇹", "word "),
          ),
          {
            minLength: 1,
            maxLength: 30,
          },
        )
        .map((parts) => parts.join("").toWellFormed())
        .filter((drawn) => drawn.trim() !== "");
      await fc.assert(
        fc.asyncProperty(text, fc.integer({ min: 1, max: 60 }), async (content, max) => {
          const measure = new Measure(counter, max);
          const cut = piece(content);
          const shown = await cutToFit(cut, max, whole, measure);
          const count = async (part: string): Promise<number> =>
            (await counter.count([whole(cut, part)]))[0] ?? Infinity;
          if (shown === undefined) {
            expect(await count(leastOf(cut))).toBeGreaterThan(max);
            return;
          }
          expect(await count(shown)).toBeLessThanOrEqual(max);
          expect(shown.startsWith(cut.head)).toBe(true);
          if (shown === cut.head + cut.body) return;
          expect(shown.endsWith(CUT)).toBe(true);
          const body = shown.slice(cut.head.length, -CUT.length);
          expect(body.length).toBeGreaterThan(0);
          expect(cut.body.startsWith(body)).toBe(true);
          expect(graphemeStart(cut.body, 0, body.length)).toBe(body.length);
        }),
        { numRuns: 300 },
      );
    },
  );

  it("keeps the whole text if it fits, even if a cut would fit too", async () => {
    const text = piece("short");
    const max = countChars4(whole(text, text.head + text.body));
    expect(await cutToFit(text, max, whole, new Measure(chars4, max))).toBe(text.head + text.body);
    expect(await cutToFit(text, max - 1, whole, new Measure(chars4, max))).not.toBe(text.head + text.body);
  });

  it("uses the available room", async () => {
    const text = piece("a".repeat(1000));
    const shown = await cutToFit(text, 100, whole, new Measure(chars4, 100));
    expect(countChars4(whole(text, shown ?? ""))).toBeGreaterThanOrEqual(99);
  });

  it("finds the first piece of which anything fits", async () => {
    const wide = { ...piece("x"), head: `[${"wide".repeat(50)}]\n> ` };
    const narrow = piece("y");
    const measure = new Measure(chars4, 20);
    expect((await firstToCut([wide, narrow], 20, whole, measure))?.piece).toBe(narrow);
    expect(await firstToCut([wide], 20, whole, measure)).toBeUndefined();
  });
});

describe("a measure", () => {
  it("counts a text once, and not at all if it certainly has too many tokens", async () => {
    const counted: string[] = [];
    const counter: Counter = {
      name: "noting",
      count: async (texts) => {
        counted.push(...texts);
        return texts.map(() => 1);
      },
    };
    const measure = new Measure(counter, 2);
    expect(await measure.each(["a", "b", "a"])).toEqual([1, 1, 1]);
    expect(await measure.of("a")).toBe(1);
    expect(await measure.of("")).toBe(0);
    expect(await measure.of("x".repeat(1025))).toBe(Infinity);
    expect(counted).toEqual(["a", "b"]);
  });

  it("continues with an upper bound if the counter fails, even for texts already counted", async () => {
    let isBroken = false;
    const counter: Counter = {
      name: "breaking",
      count: async (texts) => {
        if (isBroken) throw new Error("the thread is gone");
        return texts.map(() => 1);
      },
    };
    const measure = new Measure(counter, 100);
    expect(await measure.of("né")).toBe(1);
    isBroken = true;
    expect(await measure.each(["né", "abc"])).toEqual([3, 3]);
    expect(measure.failed).toBe(true);
  });
});
