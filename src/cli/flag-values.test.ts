import { describe, expect, it, vi } from "vitest";
import {
  futureMoment,
  gathered,
  jsonObject,
  metadataFilter,
  moment,
  share,
  spanOf,
  spanText,
  wholeArgument,
  wholeNumber,
} from "./flag-values.js";

describe("values of flags", () => {
  it.each(["", "-1", "1.5", "1e3", "0x10", " 5", "many", "9999999999999999"])("%j is no whole number", (text) => {
    expect(() => wholeNumber(text)).toThrow("whole number");
    expect(() => wholeArgument(text, "version")).toThrow("the version must be a whole number");
  });
  it("whole numbers are read", () =>
    expect([wholeNumber("0"), wholeNumber("42"), wholeArgument("7", "x")]).toEqual([0, 42, 7]));

  it.each(["", " ", "2", "-0.1", "half", "NaN"])("%j is no share", (text) =>
    expect(() => share(text)).toThrow("0 to 1"),
  );
  it("shares are read", () => expect([share("0"), share("0.5"), share("1")]).toEqual([0, 0.5, 1]));

  it("a span is counted back from now, or from now on", () => {
    vi.useFakeTimers({ now: 1_000_000_000 });
    try {
      expect(moment("90m")).toBe(1_000_000_000 - 90 * 60_000);
      expect(futureMoment("2d")).toBe(1_000_000_000 + 2 * 86_400_000);
      expect([moment("1s"), moment("1h"), moment("1w"), moment("1y")]).toEqual([
        999_999_000,
        996_400_000,
        395_200_000,
        1_000_000_000 - 31_536_000_000,
      ]);
    } finally {
      vi.useRealTimers();
    }
  });
  it("dates are left to the engine, and what is neither is refused", () => {
    expect(moment("2026-11-15T09:30:00Z")).toBe("2026-11-15T09:30:00Z");
    for (const text of ["yesterday", "5", "5 d", "1794822645299"]) expect(() => moment(text)).toThrow("a date");
  });

  it("a metadata filter matches numbers and the like in both forms, quoted values as text, and gathers", () => {
    const filter = ["year=2026", 'code="2026"', "ok=true", "none=null", "note=a=b", "list=[1]", "year=x"].reduce(
      (before, text) => metadataFilter(text, before),
      {},
    );
    expect(filter).toEqual({
      year: ["2026", 2026, "x"],
      code: ["2026"],
      ok: ["true", true],
      none: ["null", null],
      note: ["a=b"],
      list: ["[1]"],
    });
    for (const text of ["topic", "=x", ""]) expect(() => metadataFilter(text)).toThrow("key=value");
  });

  it("a span is a number and a unit, and is named in its largest whole unit", () => {
    expect(["90m", "12h", "30d", "2w", "1y", "5s"].map(spanOf).map(spanText)).toEqual([
      ...["90 minutes", "12 hours", "30 days", "2 weeks", "1 year", "5 seconds"],
    ]);
    for (const text of ["0d", "30", "d", "1 d", "-1d"]) expect(() => spanOf(text)).toThrow("a number and a unit");
  });

  it("metadata is a JSON object", () => {
    expect(jsonObject('{"a":[1]}')).toEqual({ a: [1] });
    for (const text of ["", "[1]", "null", "5", "{a:1}"]) expect(() => jsonObject(text)).toThrow("a JSON object");
  });

  it("a flag that may be repeated gathers", () => expect(gathered("b", gathered("a", undefined))).toEqual(["a", "b"]));
});
