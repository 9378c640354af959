import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quoted } from "../context/fence.js";
import { estimateTokens } from "../tokens/estimate.js";
import { AnswerBuilder, costOf, excerpt } from "./answer-builder.js";

/** Text that takes more room in one form than in the other, in any order. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        "\\",
        "\n",
        "\r\n",
        "\u2028",
        "\0",
        "\u001b[2J",
        "\ud800",
        "\udc00",
        "\t",
        "我",
        "한",
        "ש",
        "👨‍👩‍👧‍👦",
      ),
      fc.constantFrom(
        "\n".repeat(300),
        " ".repeat(3_000),
        '"\n'.repeat(100),
        "a\nb\n".repeat(80),
        `z${"\u0301".repeat(500)}`,
      ),
      fc.lorem({ maxCount: 20 }),
      fc.string({ unit: "binary", maxLength: 30 }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

/** The quotes of JSON are counted with what surrounds a text. */
const cost = (piece: string): number => costOf(quoted(piece), piece) - 2;

function pagesOf(whole: string, maxTokens: number): readonly string[] {
  const pages: string[] = [];
  for (let from = 0; ; ) {
    const { text: page, next } = excerpt(whole, maxTokens, from);
    pages.push(page);
    if (next === undefined) return pages;
    expect(next).toBeGreaterThan(from);
    from = next;
  }
}

describe("an excerpt", () => {
  it("fits behind its margin and as JSON, for any text", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 400 }), (whole, maxTokens) => {
        for (const page of pagesOf(whole, maxTokens)) expect(cost(page)).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  it("read repeatedly gives the whole text, without splitting a character", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 400 }), (whole, maxTokens) => {
        const pages = pagesOf(whole, maxTokens);
        expect(pages.join("")).toBe(whole);
        if (whole.isWellFormed()) for (const page of pages) expect(page.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([1, 0, -100])("advances by at least one line with room for %d tokens", (maxTokens) => {
    const whole = 'Ada said: "我住在里斯本"\n'.repeat(20);
    const pages = pagesOf(whole, maxTokens);
    expect(pages.join("")).toBe(whole);
    expect(pages.length).toBeLessThan(whole.length / 5);
  });

  it("cuts a letter with thousands of marks into a few pieces, since it is too long for one", () => {
    const whole = `z${"\u0301".repeat(20_000)}`;
    const pages = pagesOf(whole, 500);
    expect(pages.join("")).toBe(whole);
    expect(pages.length).toBeLessThan(100);
  });

  it("uses most of its room", () => {
    for (const line of ['"quoted" and\nso on ', "word ", "\n", "我", "a\n"]) {
      const { text: page, next } = excerpt(line.repeat(5_000), 1_000);
      expect(next).toBeDefined();
      expect(cost(page)).toBeGreaterThan(900);
    }
  });

  it("is the whole text if it fits, and nothing from beyond its end", () => {
    expect(excerpt("short", 100)).toEqual({ text: "short" });
    expect(excerpt("short", 100, 2)).toEqual({ text: "ort" });
    expect(excerpt("", 100)).toEqual({ text: "" });
    expect(excerpt("short", 100, 99)).toEqual({ text: "" });
  });
});

describe("AnswerBuilder", () => {
  it("keeps both forms within the token budget, for any content", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), fc.integer({ min: 500, max: 4_000 }), (texts, maxTokens) => {
        const answer = new AnswerBuilder<{ readonly content: string }>(maxTokens);
        for (const one of texts) {
          const { text: content } = excerpt(one, 100);
          if (!answer.add(`[heading]\n> ${quoted(content)}`, { content })) break;
        }
        expect(estimateTokens(answer.text("a note of ours"))).toBeLessThanOrEqual(maxTokens);
        expect(estimateTokens(JSON.stringify({ items: answer.shown }))).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  it("always includes the first piece, and no other that is too long", () => {
    const answer = new AnswerBuilder<string>(0);
    expect(answer.isEmpty).toBe(true);
    expect(answer.add("first", "first")).toBe(true);
    expect(answer.isEmpty).toBe(false);
    expect(answer.add("second", "second")).toBe(false);
    expect(answer.shown).toEqual(["first"]);
    expect(answer.text()).toContain("first");
    expect(answer.text()).not.toContain("second");
  });

  it("counts the longer of the two forms", () => {
    const answer = new AnswerBuilder<string>(1_000);
    const before = answer.left;
    answer.add("short", '"'.repeat(100));
    expect(before - answer.left).toBe(202);
    answer.add("word ".repeat(50), "");
    expect(before - answer.left).toBe(202 + estimateTokens("word ".repeat(50)));
  });

  it("does not mention memory if nothing was added", () => {
    expect(new AnswerBuilder(1_000).text("Nothing found.")).toBe("Nothing found.");
  });
});
