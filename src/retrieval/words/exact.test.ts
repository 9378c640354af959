import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exactTerms, exactTermsOf } from "./exact.js";
import { spanOf, tokensIn } from "./spans.js";
import { TERM_UNITS_MAX } from "./terms.js";

const terms = (text: string): readonly string[] => [...exactTerms(text)];
/** The first form of the identifier that the message contains; undefined if it contains none. */
const meet = (asked: string, message: string): string | undefined => {
  const found = exactTerms(message);
  return exactTermsOf(spanOf(asked, [...tokensIn(asked)])).find((term) => found.has(term));
};

const PHONES = [
  "+49 171 2345678",
  "0049 171 2345678",
  "0171 2345678",
  "0171/2345678",
  "(0171) 234 56 78",
  "+49 (0)171 2345678",
  "+49-171-234-5678",
  "01712345678",
  "+491712345678",
];
const SAME: readonly (readonly string[])[] = [
  PHONES,
  ["+1 415-555-0132", "(415) 555-0132", "415.555.0132", "1-415-555-0132"],
  ["A-1043-77", "A 1043 77", "a104377", "A1043-77", "A/1043/77", "A–1043–77"],
  ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "de89 3704 0044 0532 0130 00"],
  ["GB24 NWBK 9069 7401 2533 14", "gb24 nwbk 9069 7401 2533 14", "GB24-NWBK-9069-7401-2533-14"],
  ["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"],
  ["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "001A.2B3C.4D5E"],
  ["978-3-16-148410-0", "978 3 16 148410 0", "9783161484100"],
  ["v2.4.1-rc.3", "2.4.1-RC.3", "V2.4.1-rc.3"],
  ["v1.2.3", "1.2.3"],
  ["M-AB 1234", "M AB 1234", "MAB1234", "m-ab 1234"],
  ["SW1A 1AA", "sw1a1aa"],
  ["PROJ-1234", "PROJ 1234", "proj-1234"],
  ["https://www.example.com/a-b?id=17", "example.com/a-b?id=17", "http://example.com/a-b?id=17/"],
  ["www.harbour-lights.example", "https://harbour-lights.example"],
  ["ada.k@example.com", "Ada.K@Example.COM", "mailto:ada.k@example.com"],
  ["52.5200, 13.4050", "52.5200,13.4050"],
  ["1,299.00", "1299.00", "1.299,00"],
  ["2:30 pm", "2:30pm"],
  ["16:13h", "16:13"],
];

describe("one identifier", () => {
  test.each(SAME.map((spellings) => [spellings[0] ?? "", spellings] as const))(
    "%s, however it is written",
    (_, all) => {
      for (const asked of all)
        for (const written of all)
          expect(meet(asked, `They said: ${written}.`), `${asked} for ${written}`).toBeDefined();
    },
  );

  test("is found beside other numbers", () => {
    expect(meet("0171 2345678", "call 0171 2345678 2 times")).toBeDefined();
    expect(meet("A-1043-77", "2 parcels A 1043 77")).toBeDefined();
    expect(meet("10.0.0.1", "at 10.0.0.1:8080")).toBeDefined();
    expect(meet("9f86d081", "sha256:9f86d081")).toBeDefined();
    expect(meet("A-1043-77", "订单号A-1043-77已发货")).toBeDefined();
  });

  test("is the same in any script's digits and widths", () => {
    expect(terms("Ａ－１０４３－７７")).toEqual(terms("A-1043-77"));
    expect(terms("٠١٧١ ٢٣٤٥٦٧٨")).toEqual(terms("0171 2345678"));
  });
});

describe("similar identifiers do not match", () => {
  test.each([
    ["0171 2345678", "0171 2345679"],
    ["+49 171 2345678", "+43 171 2345678"],
    ["A-1043-77", "B-1043-77"],
    ["A-1043-77", "A-1043-7"],
    ["ada.k@example.com", "ada.b@example.com"],
    ["a3f9c2e1b7", "a3f9c2e1b8"],
    ["v1.2.3", "v1.2.4"],
    ["v1.2.3", "v12.3"],
    ["192.168.1.10", "192.168.1.11"],
    ["https://example.com/a?id=17", "https://example.com/a?id=18"],
    ["June 12", "June 12th"],
  ])("%s and %s", (asked, written) => expect(meet(asked, written)).toBeUndefined());

  test.each([
    ["ada.k7@example.com", "adak.7@example.com"],
    ["10.1.23.4", "10.12.3.4"],
    ["1.12.345", "11.2.345"],
  ])("%s and %s meet in a looser form than %s itself", (asked, written) => {
    expect(meet(asked, asked)).not.toBe(meet(asked, written));
    expect(meet(asked, asked)).toBe(exactTermsOf(spanOf(asked, [...tokensIn(asked)]))[0]);
  });

  test("that differ at the end of a long one", () => {
    const long = "https://example.com/".padEnd(300, "abc");
    expect(meet(`${long}1`, `see ${long}1.`)).toBeDefined();
    expect(meet(`${long}1`, `see ${long}2.`)).toBeUndefined();
  });
});

test.each([
  "",
  "no number here",
  "the 5 of us",
  "in May 2023",
  "it's 50% of 12",
  "on the 3rd of June",
  "e-mail, and/or U.S.",
])("%j has hardly any", (text) => expect(terms(text).filter((term) => !/^#(?:~?)may2023$/.test(term))).toEqual([]));

test("a table has only the terms of its cells", () => {
  expect(terms("11 22 33 44 55 66 77 88 99 12 13")).toEqual([]);
  expect(terms("11111 22222 33333 44444 55555 66666 77777 88888 99999")).toHaveLength(9);
});

test("a text has a limited number of terms", () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `${100_000 + at}`).join(" and ");
  expect(terms(text).length).toBeGreaterThan(1_000);
  expect(terms(text).length).toBeLessThan(5_000);
});

test.each([
  ["digits", "1"],
  ["digits with blanks", "1 "],
  ["digits with dashes", "1-"],
  ["URLs", "http://a1?"],
  ["pluses", "+1"],
  ["letters and digits", "a1"],
  ["dots", "a1."],
  ["hosts", "a1.b/"],
  ["long identifiers", `${"1-".repeat(1_000)} and `],
  ["long codes", `${"a1-".repeat(600)} and `],
  ["long words with a digit", `${"a".repeat(1_900)}1 and `],
])("millions of %s are read", (_, unit) => {
  expect(exactTerms(unit.repeat(2_000_000 / unit.length)).size).toBeLessThan(5_000);
});

test("every term keeps the guarantees for terms", () => {
  const piece = fc.oneof(
    fc.constantFrom(..."aZ9 ＋+-–()[]/,.:@#&~_'\"*?=%\\\n٣é漢😂\u0301\u0000", "+49", "www.", "://"),
    fc.string(),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (any) => {
      for (const term of exactTerms(any)) {
        expect(term.length).toBeLessThanOrEqual(TERM_UNITS_MAX);
        expect(term).toMatch(/^#~?[^\s"*\p{Cc}\p{Cs}]+$/u);
        expect(term).toMatch(/^[^!$%()*,;<=>?[\\\]^`{|}'"A-Z]+$/);
      }
    }),
    { numRuns: 3000 },
  );
});
