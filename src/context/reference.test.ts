import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SpaceRef } from "../types.js";
import { itemKind, parseRef, refOf, sameSpace } from "./reference.js";

describe("a reference", () => {
  it("names kind, space and id, and can be parsed", () => {
    const kind = fc.constantFrom(
      "message" as const,
      "knowledge" as const,
      "fact" as const,
      "overflow" as const,
      "past" as const,
    );
    const space = fc
      .tuple(fc.constantFrom("user", "agent", "team"), fc.string())
      .map(([spaceKind, name]) => ({ [spaceKind]: name }) as SpaceRef);
    fc.assert(
      fc.property(fc.record({ kind, space, id: fc.string() }), (reference) => {
        expect(parseRef(refOf(reference))).toEqual(reference);
      }),
    );
  });

  it.each([
    "",
    "m1",
    "{}",
    "[]",
    '["message"]',
    '["block","user","a","b"]',
    '["fact","user","a","b","c"]',
    "null",
    '["fact","user",1,"b"]',
  ])("that another program wrote is left alone: %s", (ref) => {
    expect(parseRef(ref)).toBeUndefined();
  });

  it("distinguishes spaces of the same name", () => {
    expect(sameSpace({ user: "a" }, { team: "a" })).toBe(false);
    expect(sameSpace({ user: "a" }, { user: "a" })).toBe(true);
  });

  it("of a past fact has the kind of a fact", () => {
    expect(itemKind("past")).toBe("fact");
    expect(itemKind("message")).toBe("message");
  });
});
