import { expect, it } from "vitest";
import { type Found, packScored, unpackScored } from "./scored-pack.js";

const ADA = { user: "ada" };

/** With everything that an item can have: a field that is added has to be added here, and must come across. */
const whole: Required<Found> = {
  space: ADA,
  key: 7,
  id: "01JCQ",
  version: 2,
  score: 0.123456789012345,
  role: "assistant",
  occurredAt: 1_794_856_995_236,
  sessionId: "s-1",
  until: 1_794_856_999_999,
  part: 0,
};
const bare: Found = {
  space: { team: "crew \u2028 \u{1f980}" },
  key: 8,
  id: 'a "quoted" one',
  version: 1,
  score: 0,
  occurredAt: 0,
};

it("what was found comes across as it was", () => {
  const found = [whole, bare, { ...whole, key: 9, part: 3 }, { ...bare, key: 10, sessionId: "s-1" }];
  expect(unpackScored(packScored(found))).toStrictEqual(found);
  expect(unpackScored(packScored([]))).toStrictEqual([]);
});

it("a space and a session that many items share are written once", () => {
  const { names } = packScored(Array.from({ length: 50 }, (_, key) => ({ ...whole, key })));
  expect(names.split('"ada"')).toHaveLength(2);
  expect(names.split('"s-1"')).toHaveLength(2);
});
