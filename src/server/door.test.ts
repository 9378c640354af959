import { expect, test } from "vitest";
import { Door } from "./door.js";
import { asksForKeys, Guard } from "./guard.js";
import { KeyRing } from "./key-ring.js";

const MIB = 1024 * 1024;

function doorFor(maxRequests: number): Door {
  const guard = new Guard({ host: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  const keys = new KeyRing({ verify: async () => undefined }, false);
  return new Door({ guard, keys, maxRequests, ratePerSecond: 0 });
}

test("takes on so many requests at once, and as many again when they have left", () => {
  const door = doorFor(2);
  door.enter(0);
  door.enter(0);
  expect(() => door.enter(0)).toThrow(expect.objectContaining({ code: "overloaded" }));
  door.leave(0);
  door.enter(0);
  expect([door.inside, door.turnedAway]).toEqual([2, 1]);
});

test("takes on so many bytes of bodies at once; one alone may be larger", () => {
  const door = doorFor(100);
  door.enter(1024 * MIB);
  expect(() => door.enter(1)).toThrow(expect.objectContaining({ code: "overloaded" }));
  door.leave(1024 * MIB);
  for (let count = 0; count < 16; count++) door.enter(16 * MIB);
  expect(() => door.enter(16 * MIB)).toThrow(expect.objectContaining({ code: "overloaded" }));
  door.enter(0);
  door.leave(16 * MIB);
  door.enter(16 * MIB);
});

test("has as many open streams as it takes on requests, and counts each once", () => {
  const door = doorFor(2);
  const leave = door.listen();
  door.listen();
  expect(() => door.listen()).toThrow(expect.objectContaining({ code: "overloaded" }));
  leave();
  leave();
  door.listen();
  expect(() => door.listen()).toThrow(expect.objectContaining({ code: "overloaded" }));
});

test("keys are asked for wherever others than this machine may come in", () => {
  const at = (host: string, allowedHosts?: string, requireKey = false) =>
    asksForKeys({ host, allowedHosts, requireKey });
  expect(at("127.0.0.1")).toBe(false);
  expect(at("localhost")).toBe(false);
  expect(at("::1")).toBe(false);
  expect(at("127.0.0.1", undefined, true)).toBe(true);
  expect(at("127.0.0.1", "memory.example.com")).toBe(true);
  expect(at("0.0.0.0")).toBe(true);
  expect(at("192.168.1.2")).toBe(true);
});
