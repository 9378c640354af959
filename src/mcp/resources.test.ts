import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockNameOf, hasUri, uriOfBlock } from "./resources.js";

/** Valid names of blocks: anything but NUL and lone surrogates. */
const name = fc
  .oneof(fc.string({ unit: "grapheme", minLength: 1 }), fc.string({ unit: "binary", minLength: 1 }))
  .filter((one) => one.isWellFormed() && !one.includes("\0"));

describe("the address of a block", () => {
  it("gives its name back, also after a reader of addresses had it in its hands", () => {
    fc.assert(
      fc.property(name, (one) => {
        fc.pre(hasUri({ name: one }));
        expect(blockNameOf(uriOfBlock(one))).toBe(one);
        expect(blockNameOf(new URL(uriOfBlock(one)).href)).toBe(one);
      }),
      { examples: [["a/b"], ["..."], ["../x"], ["%2e%2e"], ["a?b#c"], ["naïve café"], ["'()*!~"], [" "], ["\\"]] },
    );
  });

  it("is one per name", () => {
    fc.assert(fc.property(name, name, (a, b) => (uriOfBlock(a) === uriOfBlock(b)) === (a === b)));
  });

  it("is not had by names that are folders to others", () => {
    expect([".", "..", "...", "a", ".a"].filter((one) => hasUri({ name: one }))).toEqual(["...", "a", ".a"]);
    for (const one of [".", ".."]) expect(blockNameOf(new URL(uriOfBlock(one)).href)).not.toBe(one);
  });

  it.each(["memory://blocks/%", "memory://blocks/%e4%b8", "memory://blocks/a%2", "memory://other/a", "file:///a", ""])(
    "is not %s",
    (uri) => expect(blockNameOf(uri)).toBeUndefined(),
  );
});
