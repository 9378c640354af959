import { describe, expect, test } from "vitest";
import { analyse } from "./analyse.js";
import { exactTerms } from "./exact.js";
import { exactMatches, lookupsIn } from "./lookups.js";

/** The match of each message, as a store would find it. */
function matches(question: string, ...messages: readonly string[]): readonly number[] {
  const lookups = lookupsIn(question);
  const found = messages.map((message) => {
    const terms = new Set([...analyse(message).keys(), ...exactTerms(message)]);
    return { score: lookups.reduce((bits, { term }) => bits * 2 + Number(terms.has(term)), 0) };
  });
  const matched = exactMatches(lookups, found);
  return found.map((one) => matched.get(one) ?? 0);
}

describe("a question that names an identifier", () => {
  test.each([
    ["A-1043-77", "the order A 1043 77 is here"],
    ["What is the status of order A-1043-77?", "A1043-77 was shipped"],
    ["status of order #4711", "about order 4711"],
    ["whose number is 0171/2345678", "call +49 171 2345678"],
    ["is ada.k@example.com hers?", "Write to <Ada.K@example.com>"],
    ["what changed in v1.2.3?", "1.2.3 is out"],
    ["does Python 3.9 work", "we use 3.9"],
    ["who owns M-AB 1234", "MAB1234 is mine"],
    ["who has proj 1234", "PROJ-1234 is hers"],
    ["the meeting at 14:30", "14:30 it is"],
    ["where is budget.xlsx", "see docs/budget.xlsx"],
    ["where is docs/budget.xlsx", "see budget.xlsx"],
    ["https://www.example.com/about", "example.com/about says so"],
    ["is it harbour-lights.example", "see www.harbour-lights.example"],
    ["the gate is A12?", "gate A12"],
    ["what is #abcdef", "the colour #ABCDEF"],
    ["42", "it is 42"],
    ["What about 2023?", "in 2023"],
    ["Kowalski", "Mr Kowalski called"],
    ["52.5200, 13.4050", "at 52.5200,13.4050"],
  ])("%s: %s", (question, message) => expect(matches(question, message)[0]).toBeGreaterThan(0));

  test.each([
    ["phone numbers", "0171 2345678", "+49 171 2345678", "0171 2345679"],
    ["e-mails", "is it ada.k7@example.com?", "ADA.K7@example.com", "adak.7@example.com"],
    ["versions", "what is in 1.12.345", "v1.12.345", "v11.2.345"],
    ["plates", "who owns ML 617 SU", "ML617SU", "GL 617 SU"],
    ["coordinates", "who was at 52.5200, 13.4050", "52.5200,13.4050", "52.5200, 13.4051"],
    ["tickets", "who has proj 1234", "PROJ-1234", "PRJ-1234"],
    ["countries", "+49 171 2345678", "0171 2345678", "+43 171 2345678"],
  ])("%s: the right one matches more than its look-alike", (_, question, right, alike) => {
    const [one = 0, other = 0] = matches(question, right, alike);
    expect(one).toBeGreaterThan(other);
  });

  test("finds it with and without other words beside it", () => {
    expect(
      matches("the status of order A-1043-77", "your order A-1043-77", "A-1043-77 came back", "order A-1043-78"),
    ).toEqual([4, 2, 0]);
  });

  test("counts each identifier that it names", () => {
    const messages = ["A-1043-77", "B-2044-11", "A-1043-77 and B-2044-11", "A-1043-78"];
    expect(matches("compare A-1043-77 and B-2044-11", ...messages)).toEqual([2, 2, 4, 0]);
    expect(matches("compare A-1043-77, B-2044-11", ...messages)).toEqual([2, 2, 4, 0]);
  });

  test("ranks the strictest form first, and other spellings before mere similarity", () => {
    const spellings = ["+49 171 2345678", "0171 2345678", "0171 2345679"];
    expect(matches("whose is 0171 2345678", ...spellings)).toEqual([1, 2, 0]);
    expect(matches("is it 10.1.23.4", "10.1.23.4", "10.12.3.4")).toEqual([2, 1]);
    expect(matches("is it 10.1.23.4", "10.12.3.4")).toEqual([2]);
  });
});

test.each([
  "Where did she move 4 years ago?",
  "What happened in May 2023?",
  "What did we paint on October 13, 2023?",
  "Who won on 7 July, 2023 and why?",
  "How many fish are in my 30-gallon tank?",
  "How many pre-1920 coins do I have?",
  "the 5K charity run",
  "the 7th of the 100 jobs in the 1990s",
  "a $5 coupon and a 5-day trip",
  "my Fitbit Charge 3",
  "e-mail, and/or a U.S. check-in",
  "where does she live?",
  "lamp",
  "",
])("%s names none", (question) => expect(lookupsIn(question)).toEqual([]));

test("never looks up more terms than a number has bits", () => {
  const many = Array.from({ length: 200 }, (_, at) => `A-${1000 + at}-77`).join(" or ");
  expect(lookupsIn(many).length).toBeLessThanOrEqual(53);
  expect(lookupsIn("1 ".repeat(100_000)).length).toBeLessThanOrEqual(53);
});
