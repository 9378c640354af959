import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocate, type WeightedPart } from "./allocation.js";
import type { Piece } from "./piece.js";
import { Said } from "./said.js";

const NOTHING = new Said();

function piece(id: string, says = id): Piece {
  const space = { user: "ada" };
  return {
    part: "recall",
    kind: "message",
    id,
    space,
    version: 1,
    ref: id,
    state: 1,
    head: "",
    body: says,
    keys: [`text ${says}`],
  };
}

const part = (weight: number, tokens: readonly number[], name: string, headingTokens = 0): WeightedPart => ({
  weight,
  pieces: tokens.map((count, index) => ({ piece: piece(`${name}${index}`), tokens: count })),
  headingTokens,
});

const chosen = (parts: readonly WeightedPart[], room: number, said = NOTHING): readonly string[] =>
  allocate(parts, room, said).map(({ piece: { id } }) => id);

describe("allocation", () => {
  it("gives each part its share, and the rest to the parts in order", () => {
    expect(chosen([part(1, [10, 10, 10, 10], "a"), part(1, [10, 10, 10, 10], "b")], 40)).toEqual([
      "a0",
      "a1",
      "b0",
      "b1",
    ]);
    expect(chosen([part(1, [10], "a"), part(1, [10, 10, 10, 10], "b")], 40)).toEqual(["a0", "b0", "b1", "b2"]);
    expect(chosen([part(3, [10, 10, 10, 10], "a"), part(1, [10, 10], "b")], 40)).toEqual(["a0", "a1", "a2", "b0"]);
    expect(chosen([part(1, [15, 15], "a"), part(1, [15, 15], "b")], 45)).toEqual(["a0", "b0", "a1"]);
  });

  it("skips what does not fit in favour of what does", () => {
    expect(chosen([part(1, [50, 10, 31, 20], "a")], 30)).toEqual(["a1", "a3"]);
  });

  it("never lets a lesser piece displace a better one that fits into the rest", () => {
    expect(chosen([part(1, [20, 20, 5, 5], "a"), part(1, [10], "b")], 60)).toEqual(["a0", "b0", "a1", "a2", "a3"]);
    expect(chosen([part(1, [25, 10, 10, 10], "a"), part(1, [10, 10], "b")], 45)).toEqual(["a1", "a2", "b0", "b1"]);
  });

  it("reserves no share for a part with nothing new", () => {
    const said = new Said();
    said.add(piece("b0"));
    expect(chosen([part(1, [20, 10, 5], "a"), part(1, [5], "b")], 30, said)).toEqual(["a0", "a1"]);
  });

  it("gives nothing to a part without weight", () => {
    expect(chosen([part(0, [1], "a"), part(1, [1], "b")], 10)).toEqual(["b0"]);
    expect(chosen([part(0, [1], "a")], 10)).toEqual([]);
  });

  it("counts a part's heading once, with its first piece", () => {
    expect(chosen([part(1, [4, 4, 4], "a", 2)], 10)).toEqual(["a0", "a1"]);
    expect(chosen([part(1, [4], "a", 2)], 5)).toEqual([]);
  });

  it("takes one of several pieces with the same text: the first that fits", () => {
    const twins: WeightedPart = {
      weight: 1,
      headingTokens: 0,
      pieces: [
        { piece: piece("big", "same"), tokens: 100 },
        { piece: piece("small", "same"), tokens: 5 },
        { piece: piece("other"), tokens: 5 },
      ],
    };
    expect(chosen([twins], 50)).toEqual(["small", "other"]);
    const said = new Said();
    said.add(piece("before", "same"));
    expect(chosen([twins], 500, said)).toEqual(["other"]);
    expect(said.by(piece("x", "same"))).toBe("before");
  });

  it("never exceeds the room, and leaves out nothing that would still fit", () => {
    const anyLot = fc.record({
      weight: fc.nat(5),
      tokens: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(anyLot, { maxLength: 4 }), fc.nat(100), (drawn, room) => {
        const parts = drawn.map(({ weight, tokens }, index) => part(weight, tokens, "abcd".charAt(index)));
        const taken = allocate(parts, room, NOTHING);
        const left = room - taken.reduce((sum, { tokens }) => sum + tokens, 0);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(new Set(taken).size).toBe(taken.length);
        const out = parts
          .flatMap(({ weight, pieces }) => (weight > 0 ? pieces : []))
          .filter((one) => !taken.includes(one));
        expect(out.filter(({ tokens }) => tokens <= left)).toEqual([]);
      }),
    );
  });
});
