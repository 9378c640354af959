import { describe, expect, it } from "vitest";
import { DIMENSIONS_MAX } from "./limits.js";
import { parsePoint, parsePointSearch, parseVector } from "./points.js";

const PLACE = { space: { user: "ada" }, session: "s", agent: "tutor" } as const;
const POINT = { collection: "c", pointId: "p", vector: [1, 2], payload: { a: 1 } };

describe("a vector", () => {
  it("is copied as float32, without a negative zero", () => {
    const given = [0.1, -0, 3e38, -1e-45, -1e-60];
    expect(Array.from(parseVector(given))).toEqual([0.1, 0, 3e38, -1e-45, 0].map(Math.fround));
    const typed = Float32Array.of(1, 2);
    const parsed = parseVector(typed);
    typed.fill(0);
    expect(parsed).toEqual(Float32Array.of(1, 2));
  });

  it.each([
    ["nothing", undefined],
    ["a text", "[1]"],
    ["an object", { length: 1, 0: 1 }],
    ["an empty list", []],
    ["zeros", [0, -0, 0]],
    ["numbers that are zero in 32 bits", [1e-46]],
    ["NaN", [1, Number.NaN]],
    ["an infinity", [Number.POSITIVE_INFINITY]],
    ["a number that is infinite in 32 bits", [3.5e38]],
    ["a text among numbers", [1, "2"]],
    ["holes", new Array(2)],
    ["null", [null]],
    ["a BigInt", [1n]],
    ["a list in a list", [[1]]],
    ["numbers of 64 bits", Float64Array.of(1)],
  ])("is not %s", (_, value) => {
    expect(() => parseVector(value)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("has a limit", () => {
    expect(parseVector(new Float32Array(DIMENSIONS_MAX).fill(1))).toHaveLength(DIMENSIONS_MAX);
    const longer = new Array(DIMENSIONS_MAX + 1).fill(1);
    expect(() => parseVector(longer)).toThrow(expect.objectContaining({ code: "too_large" }));
  });
});

describe("a point", () => {
  it("belongs to the session of its scope, if there is one", () => {
    const vector = Float32Array.of(1, 2);
    const write = { op: "put_point", space: PLACE.space, collection: "c", id: "p", existing: "replace" };
    expect(parsePoint(PLACE, POINT)).toEqual({ ...write, session: "s", vector, payload: { a: 1 } });
    const { payload: _, ...bare } = POINT;
    expect(parsePoint({ space: PLACE.space }, bare)).toEqual({ ...write, vector, payload: null });
  });

  it("keeps names exactly, and repairs texts of its payload", () => {
    const odd = {
      ...POINT,
      collection: " e\u0301\u202e👩‍👩‍👧 ",
      pointId: "__proto__",
      payload: ["\ud800", { "\0": 1 }],
    };
    expect(parsePoint(PLACE, odd)).toMatchObject({
      collection: odd.collection,
      id: "__proto__",
      payload: ["\ufffd", { "\ufffd": 1 }],
    });
  });

  it.each([
    ["an unknown key", { vectors: [1] }, "invalid_input"],
    ["no collection", { collection: undefined }, "invalid_input"],
    ["an empty id", { pointId: "" }, "invalid_input"],
    ["half a character in its id", { pointId: "\udc00" }, "invalid_input"],
    ["a name that is too long", { collection: "c".repeat(513) }, "too_large"],
    ["a payload that is no JSON", { payload: { at: new Date() } }, "invalid_input"],
    ["a payload with a function", { payload: [() => 1] }, "invalid_input"],
    ["a payload over 64 KiB", { payload: "é".repeat(40_000) }, "too_large"],
  ])("does not have %s", (_, more, code) => {
    expect(() => parsePoint(PLACE, { ...POINT, ...more })).toThrow(expect.objectContaining({ code }));
  });
});

it("a search is of the scope's own space, for ten points, unless it says otherwise", () => {
  const own = { spaces: [PLACE.space], collection: "c", vector: Float32Array.of(1), limit: 10 };
  expect(parsePointSearch(PLACE, "c", [1], undefined)).toEqual(own);
  const spaces = [{ team: "crew" }];
  expect(parsePointSearch(PLACE, "c", [1], { topK: 3, spaces })).toEqual({ ...own, spaces, limit: 3 });
  for (const options of [{ topK: 0 }, { topK: 1001 }, { topK: "5" }, { spaces: [] }, { limit: 3 }, 5]) {
    expect(() => parsePointSearch(PLACE, "c", [1], options)).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  }
});
