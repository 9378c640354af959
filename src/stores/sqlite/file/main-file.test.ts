import { expect, it } from "vitest";
import { belongTogether } from "./main-file.js";

const mark = (announced: number, begun: number, id = "a") => ({ id, announced, begun });

it("a log that another process begins between two looks is not taken for another file's", () => {
  // Announced and begun by others after the file was looked at.
  expect(belongTogether(mark(1, 1), mark(1, 1), mark(2, 2))).toBe(true);
  // Announced, checkpointed and begun between the first look at the view and the look at the file.
  expect(belongTogether(mark(1, 1), mark(2, 1), mark(2, 2))).toBe(true);
});

it("the log of another file, or of a later state of it, does not fit", () => {
  expect(belongTogether(mark(2, 2), mark(2, 2, "b"), mark(2, 2)), "another file").toBe(false);
  expect(belongTogether(mark(3, 3), mark(2, 2), mark(3, 3)), "an older copy").toBe(false);
  expect(belongTogether(mark(2, 2), mark(3, 3), mark(2, 2)), "an older log").toBe(false);
});
