import { describe, expect, it } from "vitest";
import { checkJsonBounds, parseJson } from "./json-text.js";
import { TEXT_DEPTH_MAX, TEXT_ELEMENTS_MAX } from "./limits.js";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const zeros = (count: number): string => `[${"0,".repeat(count - 1)}0]`;
const keys = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));

describe("JSON text", () => {
  it.each(["1", '"a"', "[]", '{"a":[1,{"b":null}]}', '"\\\\"', '["\\"[", "]\\\\\\\\", "\\u005b"]', ' { "[[[" : 1 } '])(
    "such as %s is parsed",
    (text) => {
      expect(parseJson(text, "it")).toEqual(JSON.parse(text));
    },
  );

  it.each(["", "{", '"', '"\\"', "[1,]", "NaN", "]".repeat(100) + "[".repeat(100)])("such as %j is refused", (text) => {
    const expected = { code: "invalid_input", hint: expect.any(String) };
    expect(() => parseJson(text, "it")).toThrow(expect.objectContaining(expected));
  });

  it("may be so deep, and no deeper, wherever the depth is", () => {
    expect(parseJson(nested(TEXT_DEPTH_MAX), "it")).toBeDefined();
    for (const text of [nested(TEXT_DEPTH_MAX + 1), `{"a":"}","b":${'{"c":'.repeat(TEXT_DEPTH_MAX)}`]) {
      expect(() => parseJson(text, "line 3")).toThrow(
        expect.objectContaining({ code: "invalid_input", message: "line 3 is nested deeper than 64 levels" }),
      );
    }
  });

  it("is limited in its number of elements; brackets and commas in strings do not count", () => {
    expect(() => checkJsonBounds(zeros(TEXT_ELEMENTS_MAX), "it")).not.toThrow();
    expect(() => checkJsonBounds(keys(TEXT_ELEMENTS_MAX), "it")).not.toThrow();
    expect(() => checkJsonBounds(JSON.stringify('[,{"\\'.repeat(TEXT_ELEMENTS_MAX)), "it")).not.toThrow();
    const lists = `[${"[],".repeat(TEXT_ELEMENTS_MAX / 2)}[]]`;
    for (const text of [zeros(TEXT_ELEMENTS_MAX + 1), keys(TEXT_ELEMENTS_MAX + 1), lists]) {
      expect(() => checkJsonBounds(text, "it")).toThrow(
        expect.objectContaining({ code: "too_large", details: { maxElements: TEXT_ELEMENTS_MAX } }),
      );
    }
  });

  it("counts as the parser nests, for texts made at random", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const parts = ["[", "]", "{", "}", '"', "\\", ",", ":", "a", "[[", '\\"', "\\\\"];
    const value = (depth: number): unknown => {
      if (depth === 0) return Array.from({ length: random(6) }, () => parts[random(parts.length)]).join("");
      return random(2) === 0 ? [value(depth - 1)] : { [String(value(0))]: value(depth - 1) };
    };
    for (let time = 0; time < 300; time++) {
      const depth = TEXT_DEPTH_MAX - 2 + random(5);
      const isRefused = depth > TEXT_DEPTH_MAX;
      const check = () => checkJsonBounds(JSON.stringify(value(depth)), "it");
      if (isRefused) expect(check).toThrow(/nested deeper/);
      else expect(check).not.toThrow();
    }
  });
});
