import { describe, expect, it } from "vitest";
import { normaliseQuestion } from "./query.js";

describe("a question's text", () => {
  it.each([
    ["  where   does she\n\tlive? ", "where does she live?"],
    ["where\u00a0does\u2003she\u3000live?", "where does she live?"],
    ["caf\u0065\u0301", "caf\u00e9"],
    ["\u1112\u1161\u11ab", "\ud55c"],
    [" \n ", ""],
  ])("%j is asked as %j", (text, asked) => {
    expect(normaliseQuestion(text)).toBe(asked);
    expect(normaliseQuestion(asked)).toBe(asked);
  });

  it.each([
    ["Rose", "rose"],
    ["US", "us"],
    ["C++", "C"],
    ["she lives there.", "she lives there?"],
    ["2²", "22"], // compatibility forms are other characters
    ["ﬁx", "fix"],
  ])("%j is not %j", (text, other) => {
    expect(normaliseQuestion(text)).not.toBe(normaliseQuestion(other));
  });
});
