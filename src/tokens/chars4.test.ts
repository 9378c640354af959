import { describe, expect, it } from "vitest";
import { countChars4 } from "./chars4.js";

describe("chars4", () => {
  it.each([
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["12345678", 2],
    ["12345678o", 3],
    ["👨‍👩‍👧‍👦".repeat(4), 1],
    ["e\u0301".repeat(5), 2],
    ["\r\n".repeat(8), 2],
    ["中文字数量", 2],
  ])("counts %j as %i, by characters as people see them", (text, tokens) => {
    expect(countChars4(text)).toBe(tokens);
  });
});
