import { describe, expect, it } from "vitest";
import { Cursors } from "./cursors.js";

const cursors = new Cursors();
const LIST = ["items", "k", 7] as const;
const refused = expect.objectContaining({ code: "invalid_input", hint: expect.any(String) });

describe("a cursor", () => {
  it("leads back to its place, in every process with the same secret", () => {
    const secret = new Uint8Array(32).fill(5);
    for (const place of [[1], [-5, 3], [Number.MAX_SAFE_INTEGER, 0.5]] as const) {
      const [first, second = 0] = place;
      expect(new Cursors(secret).open(LIST, new Cursors(secret).seal(LIST, place))).toEqual([first, second]);
    }
  });

  it("reveals nothing of its position, not even by its length or by repetition", () => {
    const sealed = [[1], [1], [2], [9e15, 9e15]].map((place) => cursors.seal(LIST, place as [number]));
    expect(new Set(sealed).size).toBe(4);
    expect(new Set(sealed.map(({ length }) => length)).size).toBe(1);
  });

  it("is refused by every other list, after any change, and if it is none", () => {
    const sealed = cursors.seal(LIST, [12]);
    for (const other of [
      ["items", "k", 8],
      ["items", "t", 7],
      ["facts", "k", 7],
      ["items", "k"],
    ] as const) {
      expect(() => cursors.open(other, sealed)).toThrow(refused);
    }
    expect(() => new Cursors().open(LIST, sealed)).toThrow(refused);
    const bytes = Buffer.from(sealed, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => cursors.open(LIST, changed.toString("base64url"))).toThrow(refused);
    }
    for (const none of ["", "k12", "12", "x".repeat(59), 5, null, {}, "\u0000"]) {
      expect(() => cursors.open(LIST, none as string)).toThrow(refused);
    }
  });
});
