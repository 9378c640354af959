import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { expect, it } from "vitest";
import { buffersOf, type Found, type PackedFound, packScored, unpackScored } from "./scored-pack.js";

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

it("what is known by the way comes across without a copy", () => {
  const estimates = { keys: Float64Array.of(1, 2), most: Float64Array.of(0.5, 0.25), slack: 0.01, isWhole: true };
  const packed = packScored(Object.assign([bare], { estimates, asOf: 7 }));
  expect(buffersOf(packed)).toEqual([packed.numbers.buffer, estimates.keys.buffer, estimates.most.buffer]);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(packed, buffersOf(packed));
  expect(estimates.keys.byteLength, "handed over").toBe(0);
  const arrived = unpackScored(receiveMessageOnPort(port2)?.message as PackedFound);
  port1.close();
  expect([...arrived]).toStrictEqual([bare]);
  expect(arrived.asOf).toBe(7);
  expect(arrived.estimates).toEqual({
    ...{ keys: Float64Array.of(1, 2), most: Float64Array.of(0.5, 0.25), slack: 0.01, isWhole: true },
  });
});

it("a space and a session that many items share are written once", () => {
  const { names } = packScored(Array.from({ length: 50 }, (_, key) => ({ ...whole, key })));
  expect(names.split('"ada"')).toHaveLength(2);
  expect(names.split('"s-1"')).toHaveLength(2);
});
