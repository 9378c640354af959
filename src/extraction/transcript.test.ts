import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExtractionMessage } from "./extractor.js";
import {
  fenced,
  KNOWN_UNITS_MAX,
  knownLine,
  knownOf,
  MESSAGE_UNITS_MAX,
  messageLine,
  PAGE_UNITS_MAX,
  pageOf,
} from "./transcript.js";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("<", ">", "/", "messages", "\n", "\r", '"', "\\", "\u2028", "\u0085", "}"), {
      maxLength: 20,
    })
    .map((pieces) => pieces.join("")),
);

const said = (content: string, id = "id"): ExtractionMessage => ({ id, role: "user", content, occurredAt: 0 });
const textIn = (line: string): unknown => (JSON.parse(line) as { readonly text: unknown }).text;
const unitsOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

describe("a line of the transcript", () => {
  it("cannot be escaped by any text, and contains exactly that text", () => {
    fc.assert(
      fc.property(anyText, anyText, (content, name) => {
        const lines = [messageLine({ ...said(content), name }), knownLine({ id: "f", category: name, content })];
        for (const line of lines) {
          expect(line).not.toMatch(/[<\n\r\u0085\u2028\u2029]/);
          expect(textIn(line)).toBe(content.toWellFormed());
        }
        const whole = fenced("messages", lines);
        expect(whole.split("</messages>")).toHaveLength(2);
        expect(whole.split("\n")).toEqual(["<messages>", ...lines, "</messages>"]);
      }),
    );
  });

  it("cuts a long text between code points, and says by how much", () => {
    const line = messageLine(said(`${"x".repeat(MESSAGE_UNITS_MAX - 1)}😀${"y".repeat(98)}`));
    expect(JSON.parse(line)).toMatchObject({
      text: `${"x".repeat(MESSAGE_UNITS_MAX - 1)} […]`,
      charactersLeftOut: 100,
    });
    const whole = messageLine(said("x".repeat(MESSAGE_UNITS_MAX)));
    expect(JSON.parse(whole)).not.toHaveProperty("charactersLeftOut");
  });
});

describe("a page of messages", () => {
  it("has as many as fit, and the pages contain all of them in order", () => {
    const lengths = fc.array(fc.nat({ max: 9_000 }), { maxLength: 30 });
    fc.assert(
      fc.property(lengths, fc.constantFrom("x", "<", "é"), (units, letter) => {
        const messages = units.map((length, index) => said(letter.repeat(length), `${index}`));
        const pages: (readonly ExtractionMessage[])[] = [];
        for (let rest: readonly ExtractionMessage[] = messages; rest.length > 0; ) {
          const page = pageOf(rest);
          const next = rest[page.length];
          expect(page.length).toBeGreaterThan(0);
          if (page.length > 1) expect(unitsOf(page.map(messageLine))).toBeLessThanOrEqual(PAGE_UNITS_MAX);
          if (next) expect(unitsOf([...page, next].map(messageLine))).toBeGreaterThan(PAGE_UNITS_MAX);
          pages.push(page);
          rest = rest.slice(page.length);
        }
        expect(pages.flat()).toEqual(messages);
      }),
      { numRuns: 30 },
    );
  });

  it("is empty if there are none", () => {
    expect(pageOf([])).toEqual([]);
  });
});

describe("the known facts of a request", () => {
  it("are those that fit, in order; a huge one does not keep the others out", () => {
    const facts = Array.from({ length: 200 }, (_, index) => ({
      id: `${index}`,
      category: "x",
      content: "y".repeat(100),
    }));
    const huge = { id: "huge", category: "x".repeat(KNOWN_UNITS_MAX), content: "z" };
    const shown = knownOf([huge, ...facts]);
    expect(shown).toEqual(facts.slice(0, shown.length));
    expect(shown.length).toBeGreaterThan(40);
    expect(unitsOf(shown.map(knownLine))).toBeLessThanOrEqual(KNOWN_UNITS_MAX);
  });
});
