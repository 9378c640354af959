import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseInstant } from "./instant.js";

test.each([
  [0, 0],
  [-1, -1],
  [8.64e15, 8.64e15],
  [new Date(5), 5],
  [runInNewContext("new Date(5)"), 5],
  ["1970-01-01", 0],
  ["1970-01-01T00:00Z", 0],
  ["1970-01-01T00:00:01Z", 1000],
  ["1970-01-01T00:00:00.0019Z", 1],
  ["1970-01-01T01:30:00+01:30", 0],
  ["1970-01-01T01:30:00+0130", 0],
  ["1969-12-31T24:00:00Z", 0],
  ["2024-02-29", Date.UTC(2024, 1, 29)],
  ["+275760-09-13T00:00:00.000Z", 8.64e15],
])("%o is %d", (value, ms) => expect(parseInstant(value, "at")).toBe(ms));

test("-0 is 0", () => expect(Object.is(parseInstant(-0, "at"), 0)).toBe(true));

test("every date comes back from its ISO string, its number and itself", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      const ms = date.getTime();
      return [date, date.toISOString(), ms].every((form) => parseInstant(form, "at") === ms);
    }),
  );
});

test.each([
  ["yesterday", "a string of another form"],
  ["", "a string of another form"],
  ["2026", "a string of another form"],
  ["1767225600000", "a string of another form"],
  ["May 1, 2026", "a string of another form"],
  ["05/01/2026", "a string of another form"],
  ["2026-05-01 10:00:00Z", "a string of another form"],
  [" 2026-05-01", "a string of another form"],
  ["2026-05-01\n", "a string of another form"],
  ["२०२६-05-01", "a string of another form"],
  [`2026-05-01T10:00:00.${"1".repeat(100_000)}Z`, "a string of another form"],
  ["2026-05-01T10:00", "a time of day without an offset"],
  ["2026-05-01T10:00:00.000", "a time of day without an offset"],
  ["2026-02-30", "not a moment of the calendar"],
  ["2025-02-29T10:00:00Z", "not a moment of the calendar"],
  ["2026-13-01", "not a moment of the calendar"],
  ["2026-01-00", "not a moment of the calendar"],
  ["2026-01-01T25:00Z", "not a moment of the calendar"],
  ["+999999-01-01", "not a moment of the calendar"],
  [new Date(Number.NaN), "invalid Date"],
  [1.5, "whole epoch milliseconds, got 1.5"],
  [Number.NaN, "got NaN"],
  [Number.POSITIVE_INFINITY, "got Infinity"],
  [8.64e15 + 2, "outside the range of dates"],
  [null, "got null"],
  [5n, "got a BigInt"],
  [{}, "got an object"],
])("%o is refused", (value, message) => {
  expect(() => parseInstant(value, "messages[0].occurredAt")).toThrow(
    expect.objectContaining({
      code: "invalid_input",
      message: expect.stringMatching(`^messages\\[0\\]\\.occurredAt .*${message}`),
      hint: expect.anything(),
    }),
  );
});
