import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { factId } from "../stores/fact-id.js";
import { CATEGORY_UNITS_MAX, CONTENT_UNITS_MAX, DRAFTS_MAX, parseDrafts } from "./drafts.js";
import type { ExtractionRequest } from "./extractor.js";

const REQUEST: ExtractionRequest = {
  messages: [
    { id: "m", role: "user", content: "I drink tea now", occurredAt: 0 },
    { id: "n", role: "user", content: "really", occurredAt: 0 },
  ],
  known: [
    { id: "k", category: "preference", content: "Likes coffee" },
    { id: factId("place", "Lives in Oslo"), category: "place", content: "Lives in Oslo" },
  ],
};
const GOOD = { category: "preference", content: "Likes tea", confidence: 0.8 };
const SECRET = "Xyzzy";

describe("drafts", () => {
  it("are accepted with and without source and superseded facts", () => {
    const whole = { ...GOOD, source: "m", supersedes: ["k"] };
    const other = { ...GOOD, content: "Has a cat" };
    expect(parseDrafts([whole, other], REQUEST)).toEqual({ drafts: [whole, other], refused: [] });
    const left = { ...GOOD, source: null, supersedes: null };
    expect(parseDrafts([left], REQUEST)).toEqual({ drafts: [GOOD], refused: [] });
    expect(parseDrafts([{ ...GOOD, supersedes: [] }], REQUEST)).toEqual({ drafts: [GOOD], refused: [] });
    expect(parseDrafts([], REQUEST)).toEqual({ drafts: [], refused: [] });
  });

  it("keep only the known fields", () => {
    expect(parseDrafts([{ ...GOOD, pinned: true, force: true, id: "k" }], REQUEST).drafts).toEqual([GOOD]);
  });

  it("are repaired and put on one line", () => {
    const { drafts } = parseDrafts([{ ...GOOD, category: " food\n", content: " a\n\nb\u2028c\ud800\u0000 " }], REQUEST);
    expect(drafts).toEqual([{ ...GOOD, category: "food", content: "a b c\ufffd\ufffd" }]);
  });

  it("name a superseded fact once", () => {
    expect(parseDrafts([{ ...GOOD, supersedes: ["k", "k"] }], REQUEST).drafts).toMatchObject([{ supersedes: ["k"] }]);
  });

  it.each([
    ["null", null, /\[1\] is not an object/],
    ["a text", SECRET, /not an object/],
    ["a list", [SECRET], /not an object/],
    ["no category", { ...GOOD, category: undefined }, /category is not a string/],
    ["an empty category", { ...GOOD, category: " \n" }, /category is blank/],
    ["a long category", { ...GOOD, category: "x".repeat(CATEGORY_UNITS_MAX + 1) }, /category has more than/],
    ["no content", { category: "x", confidence: 1 }, /content is not a string/],
    ["content of another type", { ...GOOD, content: { text: SECRET } }, /content is not a string/],
    ["empty content", { ...GOOD, content: "" }, /content is blank/],
    ["content of marks", { ...GOOD, content: "…!" }, /content is blank/],
    ["huge content", { ...GOOD, content: "x".repeat(CONTENT_UNITS_MAX + 1) }, /content has more than/],
    ["no confidence", { ...GOOD, confidence: undefined }, /confidence is not a number/],
    ["confidence as text", { ...GOOD, confidence: "0.9" }, /confidence is not a number/],
    ["confidence above 1", { ...GOOD, confidence: 1.01 }, /confidence is not a number/],
    ["confidence below 0", { ...GOOD, confidence: -0.01 }, /confidence is not a number/],
    ["confidence that is no number", { ...GOOD, confidence: Number.NaN }, /confidence is not a number/],
    ["an unknown source", { ...GOOD, source: SECRET }, /source is not one of the messages/],
    ["a source of another type", { ...GOOD, source: 1 }, /source is not one/],
    ["a known fact as its source", { ...GOOD, source: "k" }, /source is not one/],
    ["an empty source", { ...GOOD, source: "" }, /source is not one/],
    ["superseded facts as text", { ...GOOD, supersedes: "k" }, /supersedes is not a list/],
    ["an unknown superseded fact", { ...GOOD, supersedes: ["k", SECRET] }, /supersedes names an unknown fact/],
    ["a message as superseded fact", { ...GOOD, supersedes: ["m"] }, /supersedes names an unknown fact/],
    ["a superseded fact of another type", { ...GOOD, supersedes: [["k"]] }, /supersedes names an unknown fact/],
    ["itself as superseded fact", { ...GOOD, content: "LIKES coffee.", supersedes: ["k"] }, /supersedes itself/],
    [
      "itself, by its own id",
      { ...GOOD, category: "place", content: "lives in Oslo", supersedes: [factId("place", "Lives in Oslo")] },
      /supersedes itself/,
    ],
    ["what was said before, in another spelling", { ...GOOD, content: " first FACT." }, /repeats an earlier draft/],
  ])("with %s are refused, with a reason that does not repeat them, and the others stay", (_, bad, why) => {
    const first = { ...GOOD, content: "First fact" };
    const last = { ...GOOD, content: "Last fact" };
    const { drafts, refused } = parseDrafts([first, bad, last], REQUEST);
    expect(drafts).toEqual([first, last]);
    expect(refused).toEqual([{ why: expect.stringMatching(why) }]);
    expect(refused[0]?.why).toMatch(/^drafts\[1\]/);
    expect(refused[0]?.why).not.toContain(SECRET);
  });

  it("that supersede the fact they would be written as are refused, regardless of its text", () => {
    const known = [{ id: factId(GOOD.category, GOOD.content), category: "preference", content: "Something else" }];
    const draft = { ...GOOD, supersedes: known.map(({ id }) => id) };
    expect(parseDrafts([draft], { ...REQUEST, known }).refused).toEqual([{ why: "drafts[0] supersedes itself" }]);
  });

  it("that are refused do not block the same fact in a better form", () => {
    expect(parseDrafts([{ ...GOOD, source: "?" }, GOOD], REQUEST).drafts).toEqual([GOOD]);
  });

  it("at the limits are accepted", () => {
    const atLimits = [
      { category: "x".repeat(CATEGORY_UNITS_MAX), content: "x".repeat(CONTENT_UNITS_MAX), confidence: 0 },
      { ...GOOD, confidence: 1 },
    ];
    expect(parseDrafts(atLimits, REQUEST)).toEqual({ drafts: atLimits, refused: [] });
  });

  it("are read up to a maximal number", () => {
    const many = Array.from({ length: DRAFTS_MAX + 7 }, (_, index) => ({ ...GOOD, content: `Fact ${index}` }));
    const { drafts, refused } = parseDrafts(many, REQUEST);
    expect(drafts).toHaveLength(DRAFTS_MAX);
    expect(refused).toEqual([{ why: expect.stringContaining("7 more than the 50") }]);
  });

  it.each([undefined, null, 7, "text", { 0: GOOD, length: 1 }])(
    "that are not a list are refused as a whole: %j",
    (value) => {
      expect(parseDrafts(value, REQUEST)).toEqual({ drafts: [], refused: [{ why: "drafts is not a list" }] });
    },
  );

  it("are kept or refused, whatever they are, and kept ones can be written", () => {
    const ids = fc.constantFrom("m", "n", "k", "", "x");
    const field = fc.oneof(fc.anything(), fc.string({ unit: "binary" }), fc.double(), ids, fc.array(ids));
    const draft = fc.record(
      { category: field, content: field, confidence: field, source: field, supersedes: field },
      { requiredKeys: [] },
    );
    const nearly = draft.map((fields) => ({ ...GOOD, ...fields }));
    const messages = new Set(REQUEST.messages.map(({ id }) => id));
    const known = new Set(REQUEST.known.map(({ id }) => id));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.anything(), draft, nearly), { maxLength: 20 }), (value) => {
        const { drafts, refused } = parseDrafts(value, REQUEST);
        expect(drafts.length + refused.length).toBe(value.length);
        for (const { category, content, confidence, source = "m", supersedes = [] } of drafts) {
          for (const text of [category, content]) {
            expect(text).toBe(text.toWellFormed().trim());
            expect(text).toMatch(/^[^\n\r\u2028\u2029]+$/);
            expect(text).not.toContain("\u0000");
          }
          expect(confidence).toBeGreaterThanOrEqual(0);
          expect(confidence).toBeLessThanOrEqual(1);
          expect(messages.has(source)).toBe(true);
          expect(supersedes.every((id) => known.has(id))).toBe(true);
        }
        expect(new Set(drafts.map(({ category, content }) => factId(category, content))).size).toBe(drafts.length);
      }),
    );
  });
});
