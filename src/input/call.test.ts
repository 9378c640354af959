import { describe, expect, it } from "vitest";
import { parseIds, parseRounds, parseUpdateOptions, parseWriteOptions } from "./call.js";

const refused = (message: string) =>
  expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) });

describe("the options of calls", () => {
  it("are read", () => {
    expect(parseWriteOptions(undefined)).toBeUndefined();
    expect(parseWriteOptions({ idempotencyKey: "k" })).toBe("k");
    expect(parseUpdateOptions({})).toEqual({});
    expect(parseUpdateOptions({ expectVersion: 3 })).toEqual({ expectVersion: 3 });
  });

  it("are refused when misspelt, so that a retry is never taken for a new add", () => {
    expect(() => parseWriteOptions({ idempotencykey: "k" })).toThrow(refused("idempotencyKey"));
    expect(() => parseWriteOptions({ idempotencyKey: "" })).toThrow(refused("options.idempotencyKey"));
    expect(() => parseUpdateOptions({ version: 1 })).toThrow(refused("version"));
    expect(() => parseUpdateOptions({ expectVersion: 0 })).toThrow(refused("options.expectVersion"));
  });
});

describe("lists of ids and rounds", () => {
  it("are read in order, ids once", () => {
    expect(parseIds(["b", "a", "b"])).toEqual(["b", "a"]);
    expect(parseRounds([[{ role: "user", content: "x" }], []], 0).map(({ rows }) => rows.length)).toEqual([1, 0]);
  });

  it("are refused in another form", () => {
    expect(() => parseIds("a")).toThrow(refused("ids must be a list"));
    expect(() => parseIds(["a", 7])).toThrow(refused("ids[1]"));
    expect(() => parseIds(Array(2))).toThrow(refused("ids[0]"));
    expect(() => parseIds(Array(100_001).fill("a"))).toThrow(expect.objectContaining({ code: "too_large" }));
    expect(() => parseRounds({}, 0)).toThrow(refused("rounds must be a list"));
    expect(() => parseRounds([{ role: "user", content: "x" }], 0)).toThrow(refused("must be a list"));
  });
});
