import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { factId } from "./fact-id.js";

const anyText = fc.string({ unit: "binary", maxLength: 40 });

describe("the id of a fact", () => {
  it("is the same in every version of the library, for files outlive it", () => {
    expect(factId("preference", "Likes tea")).toBe("fact-_sk3tGHDEmDOaRm_8EBnV7anea3bMvP33B6X7ekVoOk");
  });

  it.each([
    ["case", "LIKES Green Tea"],
    ["white space", "  likes\tgreen \n  tea "],
    ["a full stop", "Likes green tea."],
    ["several marks", "Likes green tea ?!.."],
    ["an ellipsis", "Likes green tea…"],
    ["full-width marks", "Likes green tea！？。"],
    ["full-width letters", "Ｌｉｋｅｓ green tea"],
    ["an ideographic blank", "Likes\u3000green\u00a0tea"],
  ])("does not depend on %s", (_, spelling) => {
    expect(factId("preference", spelling)).toBe(factId("preference", "Likes green tea"));
  });

  it("does not depend on how letters are composed, nor on the case of any alphabet", () => {
    expect(factId("Ort", "Wohnt in Ko\u0308ln")).toBe(factId("ort", "wohnt in K\u00f6ln"));
    expect(factId("город", "Живёт в МОСКВЕ")).toBe(factId("Город", "живёт в москве."));
    expect(factId("x", "\u212a")).toBe(factId("x", "k"));
    expect(factId("好み", "猫が好き。")).toBe(factId("好み", "猫が好き"));
  });

  it.each([
    ["other words", "Likes black tea"],
    ["marks inside", "Likes green. tea"],
    ["words that are joined", "Likes greentea"],
    ["marks that do not end a sentence", "Likes green tea+"],
    ["an accent", "Likes greén tea"],
  ])("depends on %s", (_, other) => {
    expect(factId("preference", other)).not.toBe(factId("preference", "Likes green tea"));
  });

  it("does not confuse category and content", () => {
    expect(factId("a", "b c")).not.toBe(factId("a b", "c"));
    expect(factId("a", "b")).not.toBe(factId("b", "a"));
    expect(factId('a","b', "c")).not.toBe(factId("a", 'b","c'));
    expect(factId("", "a")).not.toBe(factId("a", ""));
  });

  it("distinguishes texts of only marks and blanks", () => {
    const ids = ["", " ", "  ", ".", "..", "…", "?!", "。"].map((text) => factId("x", text));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is the same for any text in another case of ASCII letters, with blanks and a full stop around it", () => {
    fc.assert(
      fc.property(anyText, anyText, (category, content) => {
        const id = factId(category, content);
        expect(id).toMatch(/^fact-[\w-]{43}$/);
        if (!/[\p{L}\p{N}]$/u.test(content)) return;
        const ascii = content.replace(/[a-z]/g, (letter) => letter.toUpperCase());
        expect(factId(category, `  ${ascii} . `)).toBe(id);
      }),
    );
  });

  it("takes a moment for a long run of marks", () => {
    // Quadratic time would be minutes.
    expect(factId("x", `${"... ".repeat(200_000)}a`)).toMatch(/^fact-/);
  });
});
